//! What the page of an account shows besides its form.

use super::{
    editing::Editing,
    kinds,
    tables::{EntryRow, KeyRow, SessionRow},
    user::{UserForm, is_allowed_no_more},
};
use crate::{
    admin::{ROOT, page::Broken, session::Staff, times::Time},
    api::documents::list::encode_query,
    context::State,
};
use docent_app::{
    accounts::{api_keys, sessions, users::Account},
    audit,
    listing::{ApiKeyFilter, AuditFilter, PageRequest, SessionFilter},
};
use docent_domain::{
    access::{AddVerifications, DeleteSessions, ViewApiKeys, ViewAuditLog, ViewSessions},
    permission::RecordKind,
    user::User,
};

/// Lines of each table beside the form.
const BESIDE: PageRequest = PageRequest { offset: 0, limit: 10 };

/// What it is, and what the actor may do with it.
pub(super) fn insert_account(values: &mut tera::Context, staff: &Staff, context: &State, account: &Account) {
    let (user, actor, now) = (&account.user, &staff.actor, context.app.clock.now());
    values.insert("seen", &UserForm::mark(account));
    values.insert("email", user.email.as_str());
    values.insert("is_superuser", &user.is_superuser);
    values.insert("is_active", &user.is_active);
    values.insert("created", &Time::of(user.created_at, now));
    values.insert("last_login", &user.last_login_at.map(|at| Time::of(at, now)));
    values.insert("verified", &user.email_verified_at.map(|at| Time::of(at, now)));
    values.insert("allowed", &kinds::allowed(account.permissions));
    let has_all = is_allowed_no_more(account, actor);
    let may_link = actor.authorize::<AddVerifications>().is_ok() && user.is_active;
    values.insert("may_set_password", &(has_all && UserForm::may_change(account, actor)));
    values.insert("may_link", &may_link);
    values.insert("may_link_password", &(has_all && may_link));
    values.insert("may_delete", &UserForm::may_delete(account, actor));
    values.insert("may_end_sessions", &actor.authorize_for::<DeleteSessions>(Some(user.id)).is_ok());
}

/// The tables beside the form: of what the actor may see.
pub(super) async fn insert_beside(
    values: &mut tera::Context,
    staff: &Staff,
    context: &State,
    user: &User,
) -> Result<(), Broken> {
    let (app, now, id, email) = (&context.app, context.app.clock.now(), user.id, &user.email);
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
    // An address may hold what means something in a query.
    values.insert("user_query", &encode_query(&[("user", Some(email.as_str()))]));
    values.insert("who_query", &encode_query(&[("who", Some(email.as_str()))]));
    values.insert("has_owner", &false);
    values.insert("back", &format!("{ROOT}/users/{id}"));
    Ok(())
}
