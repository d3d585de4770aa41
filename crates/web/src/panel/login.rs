//! `/admin/login`

use super::form::Form;
use super::login_link::panel_page;
use super::nav::ROOT;
use super::page::{self, PageResult};
use super::session;
use actix_session::Session;
use actix_web::http::{StatusCode, header};
use docent_app::accounts::login;
use docent_app::accounts::sessions::ClientInfo;
use docent_app::error::Error;
use docent_http::{ApiError, Client, Query, State, UserAgent};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct LoginPage<'a> {
    app_name: &'a str,
    form_token: String,
    error: Option<&'a str>,
    /// Submitted email address.
    email: &'a str,
    /// Page to open after signing in.
    next: &'a str,
}

pub(super) async fn show(context: State, session: Session, query: Query) -> PageResult {
    let next = panel_page(query.text("next").unwrap_or(ROOT));
    show_form(&context, &session, StatusCode::OK, None, "", next)
}

pub(super) async fn submit(
    context: State,
    session: Session,
    client: Client,
    agent: UserAgent,
    form: Result<Form, ApiError>,
) -> PageResult {
    let form = form?;
    let (email, next) = (form.text("email"), panel_page(form.text("next")));
    let retry = |status, message| show_form(&context, &session, status, Some(message), email, next);
    if !session::is_own_form(&session, form.text("form_token")) {
        return retry(StatusCode::FORBIDDEN, "The form has expired. Please try again.");
    }
    let password = form.text("password").to_owned();
    let origin = ClientInfo { address: client.address, agent: agent.0 };
    // Accounts that are not staff get the same response as for a wrong password.
    match login::enter_panel(&context.app, email, password, &origin).await {
        Ok(id) => {
            session::start(&context.app, &session, id)?;
            Ok(page::see_other(next))
        }
        Err(error @ Error::InvalidCredentials) => retry(StatusCode::UNAUTHORIZED, &format!("{error}.")),
        Err(error @ Error::TooManyFailedLogins { .. }) => {
            let message = format!("{error}. Please wait before trying again.");
            let pause = ApiError::from(error).retry_after();
            let mut response = retry(StatusCode::TOO_MANY_REQUESTS, &message)?;
            if let Some(seconds) = pause {
                response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
            }
            Ok(response)
        }
        Err(error) => Err(error.into()),
    }
}

fn show_form(
    context: &State,
    session: &Session,
    status: StatusCode,
    error: Option<&str>,
    email: &str,
    next: &str,
) -> PageResult {
    let form_token = session::form_token(&context.app, session)?;
    page::show(status, &LoginPage { app_name: &context.settings.app_name, form_token, error, email, next })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for LoginPage<'_> {
        fn samples() -> Vec<Self> {
            let page = |error, email| Self {
                app_name: "Docent",
                form_token: "0f".to_owned(),
                error,
                email,
                next: "/admin/jobs",
            };
            vec![page(None, ""), page(Some("The credentials are wrong."), "a@example.com")]
        }
    }
}
