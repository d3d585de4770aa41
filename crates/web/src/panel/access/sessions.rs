//! `GET /admin/sessions` and `POST /admin/sessions/{id}/revoke`

use super::{
    api_keys::account_of,
    tables::{Emails, SessionRow},
};
use crate::panel::{
    form::OwnForm,
    listing::{PageNumber, Paging},
    login_link,
    nav::ROOT,
    page::{self, PageResult, id_of},
    session::Staff,
};
use actix_session::Session;
use actix_web::{http::StatusCode, web::Path};
use docent_app::{
    accounts::{sessions as use_case, users},
    error::Error,
};
use docent_domain::{
    access::{DeleteSessions, ViewSessions},
    listing::{Page, SessionFilter},
    permission::RecordKind,
    session::SessionKind,
};
use docent_http::{context::State, extract::query::Query};

pub(super) async fn sessions(staff: Staff, context: State, mut query: Query) -> PageResult {
    let grant = staff.authorize::<ViewSessions>()?;
    let (app, now) = (&context.app, context.app.now());
    let is_good = query.parse("state", "must be good", |text| (text == "good").then_some(()));
    let kind = query.parse("kind", "must be api or panel", SessionKind::parse);
    let number = PageNumber::of(&query);
    let asked = ["user", "kind", "state"].map(|name| (name, query.text(name).map(str::to_owned)));
    query.done()?;
    let filters = asked.each_ref().map(|(name, value)| (*name, value.as_deref()));
    let account = account_of(app, filters[0].1).await?;
    let found = match account {
        Some(None) => Page::default(),
        user => {
            let filter = SessionFilter { user: user.flatten(), kind, valid_at: is_good.map(|()| now) };
            use_case::list(app, grant, &filter, number.page()).await?
        }
    };
    let owners: Vec<_> = found.records.iter().map(|session| session.user).collect();
    let emails: Emails = users::emails(app, &owners).await?;
    let rows: Vec<_> = found.records.iter().map(|one| SessionRow::of(one, &emails, &staff, now)).collect();
    let mut values = staff.page("sessions");
    for (name, value) in filters {
        values.insert(name, value.unwrap_or_default());
    }
    let path = format!("{ROOT}/sessions");
    values.insert("paging", &Paging::of(number, rows.len(), found.total, &path, &filters));
    values.insert("is_filtered", &filters.iter().any(|(_, value)| value.is_some()));
    values.insert("sessions", &rows);
    values.insert("has_owner", &true);
    values.insert("back", &path);
    // The filtered account, whose sessions can be ended together.
    let account =
        account.flatten().filter(|id| staff.actor.authorize_for::<DeleteSessions>(Some(*id)).is_ok());
    values.insert("account", &account.map(|id| id.to_string()));
    page::show_values(&context, StatusCode::OK, "sessions.html", &values)
}

pub(super) async fn revoke(
    staff: Staff,
    context: State,
    cookie: Session,
    id: Path<String>,
    OwnForm(form): OwnForm,
) -> PageResult {
    let id = id_of(RecordKind::Session, &id)?;
    match use_case::revoke(&context.app, &staff.actor, id).await {
        Ok(()) if id == staff.session => {
            cookie.purge();
            return Ok(page::see_other(&format!("{ROOT}/login")));
        }
        Ok(()) => staff.notify("The session was ended.")?,
        // Old sessions can be purged while the list is open.
        Err(Error::NotFound(_)) => staff.warn("The session had already ended.")?,
        Err(error) => return Err(error.into()),
    }
    Ok(page::see_other(login_link::onward(form.text("back"))))
}
