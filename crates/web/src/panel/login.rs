//! `/admin/login`

use super::{
    form::Form,
    login_link::onward,
    nav::ROOT,
    page::{self, Broken},
    session,
};
use actix_session::Session;
use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use docent_app::{
    accounts::{login, sessions::ClientInfo},
    error::Error,
};
use docent_http::{
    context::State,
    error::ApiError,
    extract::{
        client::{Client, UserAgent},
        query::Query,
    },
};

pub(super) async fn show(context: State, session: Session, query: Query) -> Result<HttpResponse, Broken> {
    let next = onward(query.text("next").unwrap_or(ROOT));
    show_form(&context, &session, StatusCode::OK, None, "", next)
}

pub(super) async fn submit(
    context: State,
    session: Session,
    client: Client,
    agent: UserAgent,
    form: Result<Form, ApiError>,
) -> Result<HttpResponse, Broken> {
    let form = form?;
    let (email, next) = (form.text("email"), onward(form.text("next")));
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
) -> Result<HttpResponse, Broken> {
    let mut values = tera::Context::new();
    values.insert("form_token", &session::form_token(&context.app, session)?);
    values.insert("error", &error);
    values.insert("email", email);
    values.insert("next", next);
    page::show(context, status, "login.html", &values)
}
