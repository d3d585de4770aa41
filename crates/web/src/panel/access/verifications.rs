//! `GET /admin/verifications`, `POST /admin/verifications/add` and `POST /admin/verifications/{id}/revoke`

use super::{
    api_keys::account_of,
    tables::{Emails, VerificationRow},
};
use crate::panel::{
    form::OwnForm,
    listing::{PageNumber, Paging},
    login_link,
    nav::ROOT,
    page::{self, PageResult, id_of},
    session::Staff,
    times::Time,
};
use actix_web::{http::StatusCode, web::Path};
use docent_app::{
    accounts::{users, verification as use_case},
    error::Error,
};
use docent_domain::{
    access::{AddVerifications, DeleteVerifications, ViewVerifications},
    listing::Page,
    permission::RecordKind,
    verification::VerificationPurpose,
};
use docent_http::{context::State, extract::query::Query};

pub(super) async fn verifications(staff: Staff, context: State, query: Query) -> PageResult {
    let grant = staff.authorize::<ViewVerifications>()?;
    let (app, now) = (&context.app, context.app.now());
    let number = PageNumber::of(&query);
    let asked = query.text("user").map(str::to_owned);
    query.done()?;
    let found = match account_of(app, asked.as_deref()).await? {
        Some(None) => Page::default(),
        user => use_case::list(app, &grant, user.flatten(), number.page()).await?,
    };
    let owners: Vec<_> = found.records.iter().map(|token| token.user).collect();
    let emails: Emails = users::emails(app, &owners).await?;
    let rows: Vec<_> =
        found.records.iter().map(|one| VerificationRow::of(one, &emails, &staff, now)).collect();
    let mut values = staff.page("verifications");
    let (path, filters) = (format!("{ROOT}/verifications"), [("user", asked.as_deref())]);
    values.insert("paging", &Paging::of(number, rows.len(), found.total, &path, &filters));
    values.insert("user", asked.as_deref().unwrap_or_default());
    values.insert("is_filtered", &asked.is_some());
    values.insert("verifications", &rows);
    values.insert("back", &path);
    page::show_values(&context, StatusCode::OK, "verifications.html", &values)
}

/// Creates a link and shows it once, for staff to pass on.
pub(super) async fn add(staff: Staff, context: State, OwnForm(form): OwnForm) -> PageResult {
    let grant = staff.authorize::<AddVerifications>()?;
    let user = id_of(RecordKind::User, form.text("user"))?;
    let purpose =
        VerificationPurpose::parse(form.text("purpose")).ok_or(Error::NotFound(RecordKind::Verification))?;
    let new = match use_case::issue(&context.app, &grant, user, purpose).await {
        Ok(new) => new,
        Err(Error::Invalid(invalid)) => {
            staff.warn(format!("No link was created: the account {}.", invalid.reason))?;
            return Ok(page::see_other(&format!("{ROOT}/users/{user}")));
        }
        Err(error) => return Err(error.into()),
    };
    let emails: Emails = users::emails(&context.app, &[user]).await?;
    let mut values = staff.page("verifications");
    values.insert("email", &emails.get(&user).map(|email| email.as_str()));
    values.insert("account", &user.to_string());
    values.insert("is_reset", &(purpose == VerificationPurpose::ResetPassword));
    values.insert("link", &new.link);
    values.insert("ends", &Time::of(new.record.expires_at, context.app.now()));
    page::show_values(&context, StatusCode::OK, "verification_made.html", &values)
}

pub(super) async fn revoke(
    staff: Staff,
    context: State,
    id: Path<String>,
    OwnForm(form): OwnForm,
) -> PageResult {
    let grant = staff.authorize::<DeleteVerifications>()?;
    let id = id_of(RecordKind::Verification, &id)?;
    match use_case::revoke(&context.app, &grant, id).await {
        Ok(()) => staff.notify("The link was revoked.")?,
        // The link can be used or expire while the list is open.
        Err(Error::NotFound(_)) => staff.warn("The link was already used or had expired.")?,
        Err(error) => return Err(error.into()),
    }
    Ok(page::see_other(login_link::onward(form.text("back"))))
}
