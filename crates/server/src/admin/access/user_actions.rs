//! `/admin/users/{id}/password`, `/admin/users/{id}/delete` and `/admin/users/{id}/end-sessions`

use super::{
    field::{self, Field},
    user::id_of,
};
use crate::{
    admin::{
        ROOT,
        form::{FieldErrors, OwnForm},
        login,
        page::{self, Broken},
        session::{self, Staff},
    },
    context::State,
    extract::client::{Client, UserAgent},
};
use actix_session::Session;
use actix_web::{HttpResponse, http::StatusCode, web::Path};
use docent_app::{
    accounts::{
        sessions::{self, Origin},
        users::{self, Account},
    },
    error::Error,
};
use docent_domain::{
    access::{ChangeUsers, DeleteUsers, ViewUsers},
    user::Password,
};

/// Refuses what would be refused in the end already on the way there.
fn within_reach(staff: &Staff, account: &Account) -> Result<(), Error> {
    let is_beyond = account.user.is_superuser && !staff.actor.is_superuser();
    if is_beyond || !staff.actor.permissions().contains_all(account.permissions) {
        return Err(Error::Forbidden);
    }
    Ok(())
}

pub(super) async fn password(staff: Staff, context: State, id: Path<String>) -> Result<HttpResponse, Broken> {
    staff.may::<ChangeUsers>()?;
    let account = users::get(&context.app, staff.may::<ViewUsers>()?, id_of(&id)?).await?;
    within_reach(&staff, &account)?;
    show_password(&staff, &context, StatusCode::OK, &account, &FieldErrors::default())
}

fn show_password(
    staff: &Staff,
    context: &State,
    status: StatusCode,
    account: &Account,
    errors: &FieldErrors,
) -> Result<HttpResponse, Broken> {
    let mut values = staff.page("users");
    let fields = vec![
        Field::password("password", "New password", "new-password").help("At least 8 characters."),
        Field::password("again", "New password again", "new-password"),
    ];
    field::insert(&mut values, fields, Vec::new(), errors);
    values.insert("account", &account.user.id.to_string());
    values.insert("email", account.user.email.as_str());
    page::show(context, status, "password.html", &values)
}

pub(super) async fn set_password(
    staff: Staff,
    context: State,
    cookie: Session,
    client: Client,
    agent: UserAgent,
    id: Path<String>,
    OwnForm(form): OwnForm,
) -> Result<HttpResponse, Broken> {
    let (view, grant) = (staff.may::<ViewUsers>()?, staff.may::<ChangeUsers>()?);
    let account = users::get(&context.app, view, id_of(&id)?).await?;
    within_reach(&staff, &account)?;
    let mut errors = FieldErrors::default();
    let password = errors.take("password", Password::chosen(form.text("password").to_owned()));
    if form.text("password") != form.text("again") {
        errors.add("again", "is not the same");
    }
    let (Some(password), true) = (password, errors.is_empty()) else {
        return show_password(&staff, &context, StatusCode::UNPROCESSABLE_ENTITY, &account, &errors);
    };
    let id = account.user.id;
    users::set_password(&context.app, &staff.actor, grant, id, password).await?;
    if id == staff.actor.user() {
        // The present session ended with the others.
        let origin = Origin { address: client.address, agent: agent.0 };
        let fresh = sessions::begin_again(&context.app, &staff.actor, &origin).await?;
        session::start(&context.app, &cookie, fresh)?;
    }
    staff.say("The password was set, and the account's sessions were ended.")?;
    Ok(page::see_other(&format!("{ROOT}/users/{id}")))
}

pub(super) async fn confirm(staff: Staff, context: State, id: Path<String>) -> Result<HttpResponse, Broken> {
    staff.may::<DeleteUsers>()?;
    let account = users::get(&context.app, staff.may::<ViewUsers>()?, id_of(&id)?).await?;
    let user = &account.user;
    if user.id == staff.actor.user() || (user.is_superuser && !staff.actor.is_superuser()) {
        return Err(Error::Forbidden.into());
    }
    let path = format!("{ROOT}/users/{}", user.id);
    let mut values = staff.page("users");
    values.insert("section", "Users");
    values.insert("section_href", &format!("{ROOT}/users"));
    values.insert("name", user.email.as_str());
    values.insert("question", "Delete this account?");
    values.insert(
        "consequences",
        &[
            "Its permissions, API keys, sessions and conversations are removed with it.",
            "Its documents stay, without an owner. So do the usage ledger and the audit log.",
            "This cannot be undone. To keep the account from being used, deactivate it instead.",
        ],
    );
    values.insert("action", &format!("{path}/delete"));
    values.insert("verb", "Delete the account");
    values.insert("cancel", &path);
    page::show(&context, StatusCode::OK, "confirm.html", &values)
}

pub(super) async fn delete(
    staff: Staff,
    context: State,
    id: Path<String>,
    OwnForm(_): OwnForm,
) -> Result<HttpResponse, Broken> {
    staff.may::<ViewUsers>()?;
    users::delete(&context.app, &staff.actor, staff.may::<DeleteUsers>()?, id_of(&id)?).await?;
    staff.say("The account was deleted.")?;
    Ok(page::see_other(&format!("{ROOT}/users")))
}

pub(super) async fn end_sessions(
    staff: Staff,
    context: State,
    cookie: Session,
    id: Path<String>,
    OwnForm(form): OwnForm,
) -> Result<HttpResponse, Broken> {
    let id = id_of(&id)?;
    sessions::revoke_all(&context.app, &staff.actor, id).await?;
    if id == staff.actor.user() {
        cookie.purge();
        return Ok(page::see_other(&format!("{ROOT}/login")));
    }
    staff.say("All sessions of the account were ended.")?;
    Ok(page::see_other(login::onward(form.text("back"))))
}
