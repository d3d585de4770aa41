//! Tables on the page of an account, next to its form.

use super::tables::{EntryRow, KeyRow, SessionRow};
use crate::panel::{nav::ROOT, page::PageError, session::Staff};
use docent_app::{
    accounts::{api_keys, sessions},
    audit,
};
use docent_domain::{
    access::{ViewApiKeys, ViewAuditLog, ViewSessions},
    listing::{ApiKeyFilter, AuditFilter, PageRequest, SessionFilter},
    permission::RecordKind,
    user::User,
};
use docent_http::{context::State, extract::query::encode_query};

/// Maximum number of rows per table.
const BESIDE: PageRequest = PageRequest { offset: 0, limit: 10 };

/// Adds the tables that the actor can view.
pub(super) async fn insert_beside(
    values: &mut tera::Context,
    staff: &Staff,
    context: &State,
    user: &User,
) -> Result<(), PageError> {
    let (app, now, id, email) = (&context.app, context.app.now(), user.id, &user.email);
    let emails = [(id, email.clone())].into_iter().collect();
    if let Ok(grant) = staff.actor.authorize::<ViewApiKeys>() {
        let filter = ApiKeyFilter { user: Some(id), ..ApiKeyFilter::default() };
        let found = api_keys::list(app, grant, &filter, BESIDE).await?;
        let rows: Vec<_> = found.records.iter().map(|key| KeyRow::of(key, &emails, staff, now)).collect();
        values.insert("keys", &rows);
        values.insert("key_total", &found.total);
    }
    if let Ok(grant) = staff.actor.authorize::<ViewSessions>() {
        let filter = SessionFilter { user: Some(id), valid_at: Some(now), ..SessionFilter::default() };
        let found = sessions::list(app, grant, &filter, BESIDE).await?;
        let rows: Vec<_> = found.records.iter().map(|one| SessionRow::of(one, &emails, staff, now)).collect();
        values.insert("sessions", &rows);
        values.insert("session_total", &found.total);
    }
    if let Ok(grant) = staff.actor.authorize::<ViewAuditLog>() {
        let record = Some(id.to_string());
        let filter = AuditFilter { kind: Some(RecordKind::User), record, ..AuditFilter::default() };
        let found = audit::list(app, grant, &filter, BESIDE).await?;
        values.insert(
            "entries",
            &found.records.iter().map(|one| EntryRow::of(one, staff, now)).collect::<Vec<_>>(),
        );
    }
    for (flag, may) in [
        ("may_view_keys", staff.actor.authorize::<ViewApiKeys>().is_ok()),
        ("may_view_sessions", staff.actor.authorize::<ViewSessions>().is_ok()),
        ("may_view_audit", staff.actor.authorize::<ViewAuditLog>().is_ok()),
    ] {
        values.insert(flag, &may);
    }
    // An email address can contain characters with a meaning in queries.
    values.insert("user_query", &encode_query(&[("user", Some(email.as_str()))]));
    values.insert("who_query", &encode_query(&[("who", Some(email.as_str()))]));
    values.insert("has_owner", &false);
    values.insert("back", &format!("{ROOT}/users/{id}"));
    Ok(())
}
