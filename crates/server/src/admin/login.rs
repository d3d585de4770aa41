//! `/admin/login`

use super::{
    ROOT,
    form::Form,
    page::{self, Broken},
    session,
};
use crate::{
    api::documents::list::encode_query,
    context::State,
    error::Refusal,
    extract::{
        client::{Client, UserAgent},
        query::Query,
    },
};
use actix_session::Session;
use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use docent_app::{
    accounts::{login, sessions::Origin},
    error::Error,
};

/// The address of the login page that leads on to `page`.
pub(super) fn address(page: &str) -> String {
    let next = Some(onward(page)).filter(|page| *page != ROOT);
    let query = encode_query(&[("next", next)]);
    if query.is_empty() { format!("{ROOT}/login") } else { format!("{ROOT}/login?{query}") }
}

/// Where to go after the login: a page of the panel, never an address of somebody else's.
pub(super) fn onward(page: &str) -> &str {
    let rest = page.strip_prefix(ROOT).filter(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
    let is_plain = page.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if rest.is_some() && is_plain && !page.starts_with("/admin/log") { page } else { ROOT }
}

pub(super) async fn show(context: State, session: Session, query: Query) -> Result<HttpResponse, Broken> {
    let next = onward(query.text("next").unwrap_or(ROOT));
    show_form(&context, &session, StatusCode::OK, None, "", next)
}

pub(super) async fn submit(
    context: State,
    session: Session,
    client: Client,
    agent: UserAgent,
    form: Result<Form, Refusal>,
) -> Result<HttpResponse, Broken> {
    let form = form?;
    let (email, next) = (form.text("email"), onward(form.text("next")));
    let retry = |status, message| show_form(&context, &session, status, Some(message), email, next);
    if !session::is_own_form(&session, form.text("form_token")) {
        return retry(StatusCode::FORBIDDEN, "The form had expired. Please try again.");
    }
    let password = form.text("password").to_owned();
    let origin = Origin { address: client.address, agent: agent.0 };
    // Somebody who is no staff is told what a wrong password is told: no more than that it is no use.
    match login::enter_panel(&context.app, email, password, &origin).await {
        Ok(id) => {
            session::start(&context.app, &session, id)?;
            Ok(page::see_other(next))
        }
        Err(error @ Error::WrongCredentials) => retry(StatusCode::UNAUTHORIZED, &format!("{error}.")),
        Err(error @ Error::TooManyLogins { .. }) => {
            let message = format!("{error}. Please wait before you try again.");
            let pause = Refusal::from(error).retry_after();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_leads_into_the_panel_alone() {
        for inside in ["/admin", "/admin/documents?status=failed", "/admin/documents/1"] {
            assert_eq!(onward(inside), inside);
        }
        for outside in
            ["", "/", "//evil.example", "https://evil.example", "/adminx", "/admin/login", "/admin/\\x"]
        {
            assert_eq!(onward(outside), ROOT, "{outside:?}");
        }
        assert_eq!(address("/admin"), "/admin/login");
        assert_eq!(address("/admin/documents?q=a"), "/admin/login?next=%2Fadmin%2Fdocuments%3Fq%3Da");
    }
}
