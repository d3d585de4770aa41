//! `/admin/account`: the account page of the signed-in staff member.

use super::{
    field::{self, Field},
    kinds,
    tables::{KeyRow, SessionRow},
};
use crate::panel::{
    form::{FieldErrors, OwnForm},
    nav::ROOT,
    page::{self, PageResult},
    session::Staff,
    times::Time,
};
use actix_session::Session;
use actix_web::http::StatusCode;
use docent_app::{
    accounts::{api_keys, profile, sessions},
    error::Error,
};
use docent_domain::listing::PageRequest;
use docent_http::{
    context::State,
    extract::client::{Client, UserAgent},
};

/// Maximum number of keys and sessions shown.
const OWN: PageRequest = PageRequest { offset: 0, limit: 100 };

pub(super) async fn account(staff: Staff, context: State) -> PageResult {
    show(&staff, &context, StatusCode::OK, &FieldErrors::default()).await
}

async fn show(staff: &Staff, context: &State, status: StatusCode, errors: &FieldErrors) -> PageResult {
    let (app, now) = (&context.app, context.app.now());
    let (user, permissions) = profile::get(app, &staff.actor).await?;
    let keys = api_keys::list_own(app, &staff.actor, OWN).await?;
    let sessions = sessions::list_own(app, &staff.actor, OWN).await?;
    let emails = [(user.id, user.email.clone())].into_iter().collect();
    let mut values = staff.page("account");
    let mut fields = vec![Field::password("present", "Current password", "current-password")];
    fields.extend(field::new_password());
    field::insert(&mut values, fields, Vec::new(), errors);
    values.insert("account", &user.id.to_string());
    values.insert("is_superuser", &user.is_superuser);
    values.insert("created", &Time::of(user.created_at, now));
    values.insert("last_login", &user.last_login_at.map(|at| Time::of(at, now)));
    values.insert("allowed", &kinds::allowed(permissions));
    let rows: Vec<_> = keys.records.iter().map(|key| KeyRow::of(key, &emails, staff, now)).collect();
    values.insert("keys", &rows);
    let rows: Vec<_> = sessions.records.iter().map(|one| SessionRow::of(one, &emails, staff, now)).collect();
    values.insert("sessions", &rows);
    values.insert("has_owner", &false);
    values.insert("back", &format!("{ROOT}/account"));
    page::show_values(context, status, "account.html", &values)
}

pub(super) async fn change_password(
    staff: Staff,
    context: State,
    cookie: Session,
    client: Client,
    agent: UserAgent,
    OwnForm(form): OwnForm,
) -> PageResult {
    let mut errors = FieldErrors::default();
    if let Some(new) = field::chosen_password(&form, &mut errors) {
        let present = form.text("present").to_owned();
        match profile::change_password(&context.app, &staff.actor, present, new).await {
            Ok(()) => {
                staff.restart_session(&context.app, &cookie, client, agent).await?;
                staff.notify("Your password was changed, and your other sessions were ended.")?;
                return Ok(page::see_other(&format!("{ROOT}/account")));
            }
            Err(Error::InvalidCredentials) => errors.add("present", "is incorrect"),
            Err(error) => return Err(error.into()),
        }
    }
    show(&staff, &context, StatusCode::UNPROCESSABLE_ENTITY, &errors).await
}
