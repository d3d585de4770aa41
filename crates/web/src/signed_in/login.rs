//! `/admin/login` and `/account/login`

use super::area::Area;
use super::form::Form;
use super::page::{self, PageResult};
use super::session::{self, PendingLogin};
use actix_session::Session;
use actix_web::http::{StatusCode, header};
use docent_app::accounts::login;
use docent_app::accounts::sessions::ClientInfo;
use docent_app::error::Error;
use docent_http::extract::query::encode_query;
use docent_http::{ApiError, Client, Query, State, UserAgent};
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct LoginPage<'a> {
    app_name: &'a str,
    /// Who can sign in.
    hint: &'static str,
    /// Path of this page.
    action: String,
    /// Path of the sign-in page for the other pages, and its label.
    other: (String, &'static str),
    form_token: String,
    error: Option<&'a str>,
    /// Submitted email address.
    email: &'a str,
    /// Page to open after signing in.
    next: &'a str,
}

pub(crate) async fn show(area: Area, context: State, session: Session, query: Query) -> PageResult {
    let next = area.page(query.text("next").unwrap_or_default());
    show_form(area, &context, &session, StatusCode::OK, None, "", next)
}

pub(crate) async fn submit(
    area: Area,
    context: State,
    session: Session,
    client: Client,
    agent: UserAgent,
    form: Result<Form, ApiError>,
) -> PageResult {
    let form = form?;
    let (email, next) = (form.text("email"), area.page(form.text("next")));
    let retry =
        |status, message: &str| show_form(area, &context, &session, status, Some(message), email, next);
    if !session::is_own_form(&session, form.text("form_token")) {
        return retry(StatusCode::FORBIDDEN, "The form has expired. Please try again.");
    }
    let password = form.text("password").to_owned();
    let origin = ClientInfo { address: client.address, agent: agent.0 };
    let app = &context.app;
    let entered = match area {
        // Accounts that are not staff get the same response as for a wrong password.
        Area::Panel => login::enter_panel(app, email, password, &origin).await,
        Area::Account => login::enter_account(app, email, password, &origin).await,
    };
    match entered {
        Ok(id) => {
            session::start(app, &session, id)?;
            Ok(page::see_other(next))
        }
        Err(Error::CodeRequired { user }) => {
            PendingLogin::begin(app, &session, user)?;
            let query = encode_query(&[("next", Some(next))]);
            Ok(page::see_other(&format!("{}/code?{query}", area.login())))
        }
        Err(error @ Error::InvalidCredentials) => retry(StatusCode::UNAUTHORIZED, &format!("{error}.")),
        Err(error @ Error::TooManyFailedLogins { .. }) => too_many(error, retry),
        Err(error) => Err(error.into()),
    }
}

/// Shows a form again after too many failed logins.
fn too_many(error: Error, retry: impl FnOnce(StatusCode, &str) -> PageResult) -> PageResult {
    let message = format!("{error}. Please wait before trying again.");
    let pause = ApiError::from(error).retry_after();
    let mut response = retry(StatusCode::TOO_MANY_REQUESTS, &message)?;
    if let Some(seconds) = pause {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    Ok(response)
}

/// Second step of a login, for accounts with a second factor.
#[derive(Serialize)]
pub(crate) struct CodePage<'a> {
    app_name: &'a str,
    /// Path of this page.
    action: String,
    /// Path of the first step.
    login: String,
    form_token: String,
    error: Option<&'a str>,
    /// Page to open after signing in.
    next: &'a str,
}

pub(crate) async fn show_code(area: Area, context: State, session: Session, query: Query) -> PageResult {
    let next = area.page(query.text("next").unwrap_or_default());
    show_code_form(area, &context, &session, StatusCode::OK, None, next)
}

pub(crate) async fn submit_code(
    area: Area,
    context: State,
    session: Session,
    client: Client,
    agent: UserAgent,
    form: Result<Form, ApiError>,
) -> PageResult {
    let (form, app) = (form?, &context.app);
    let next = area.page(form.text("next"));
    let retry = |status, message: &str| show_code_form(area, &context, &session, status, Some(message), next);
    if !session::is_own_form(&session, form.text("form_token")) {
        return retry(StatusCode::FORBIDDEN, "The form has expired. Please try again.");
    }
    let Some((user, checked_at)) = PendingLogin::of(app, &session) else {
        return Ok(page::see_other(&area.login()));
    };
    let origin = ClientInfo { address: client.address, agent: agent.0 };
    match login::enter_with_code(app, user, checked_at, form.text("code"), &origin).await {
        Ok(id) => {
            session::start(app, &session, id)?;
            Ok(page::see_other(next))
        }
        Err(error @ Error::InvalidCode) => retry(StatusCode::UNAUTHORIZED, &format!("{error}.")),
        Err(Error::InvalidCredentials) => Ok(page::see_other(&area.login())),
        Err(error @ Error::TooManyFailedLogins { .. }) => too_many(error, retry),
        Err(error) => Err(error.into()),
    }
}

fn show_code_form(
    area: Area,
    context: &State,
    session: &Session,
    status: StatusCode,
    error: Option<&str>,
    next: &str,
) -> PageResult {
    if PendingLogin::of(&context.app, session).is_none() {
        return Ok(page::see_other(&area.login()));
    }
    let form_token = session::form_token(&context.app, session)?;
    let action = format!("{}/code", area.login());
    let app_name = &context.settings.app_name;
    page::show(status, &CodePage { app_name, action, login: area.login(), form_token, error, next })
}

fn show_form(
    area: Area,
    context: &State,
    session: &Session,
    status: StatusCode,
    error: Option<&str>,
    email: &str,
    next: &str,
) -> PageResult {
    let form_token = session::form_token(&context.app, session)?;
    let (hint, other) = match area {
        Area::Panel => ("Staff sign-in", (Area::Account, "Sign in to your account")),
        Area::Account => ("Sign in to your account", (Area::Panel, "Staff sign-in")),
    };
    let page = LoginPage {
        app_name: &context.settings.app_name,
        hint,
        action: area.login(),
        other: (other.0.login(), other.1),
        form_token,
        error,
        email,
        next,
    };
    page::show(status, &page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for CodePage<'_> {
        fn samples() -> Vec<Self> {
            let page = |error| Self {
                app_name: "Docent",
                action: "/admin/login/code".to_owned(),
                login: "/admin/login".to_owned(),
                form_token: "0f".to_owned(),
                error,
                next: "/admin/jobs",
            };
            vec![page(None), page(Some("This code is not valid."))]
        }
    }

    impl Samples for LoginPage<'_> {
        fn samples() -> Vec<Self> {
            let page = |error, email| Self {
                app_name: "Docent",
                hint: "Staff sign-in",
                action: "/admin/login".to_owned(),
                other: ("/account/login".to_owned(), "Sign in to your account"),
                form_token: "0f".to_owned(),
                error,
                email,
                next: "/admin/jobs",
            };
            vec![page(None, ""), page(Some("The credentials are wrong."), "a@example.com")]
        }
    }
}
