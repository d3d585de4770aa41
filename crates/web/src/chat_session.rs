//! `/chat/session`: names the account of the web chat, signs it out, and proves its identity again.
//!
//! The session is the one of the account pages and of the panel, so that signing out ends it everywhere.

use crate::language;
use crate::language::request::prefer;
use crate::session_cookie;
use crate::signed_in::own_page::OwnPage;
use actix_session::Session;
use actix_web::HttpResponse;
use docent_app::accounts::profile;
use docent_app::accounts::sessions::{self, BrowserSession};
use docent_app::accounts::single_sign_on::logout::provider_logout_url;
use docent_app::error::Error;
use docent_domain::access::UseAdminPanel;
use docent_http::{ApiError, Client, Form, Reply, State};
use serde::Serialize;

/// The session of the browser.
#[derive(Serialize)]
struct SessionResponse {
    /// The account, if one is signed in and can use the chat.
    account: Option<Account>,
    /// Page that the account must use first.
    next: Option<&'static str>,
}

/// The page that ends the session of the identity provider.
#[derive(Serialize)]
struct SignedOutResponse {
    next: String,
}

#[derive(Serialize)]
struct Account {
    id: String,
    email: String,
    /// Name that others see, if the person chose one.
    name: Option<String>,
    /// Whether the account can use the panel.
    is_staff: bool,
    /// Code of the language that the pages have for it.
    language: &'static str,
}

fn response(known: Option<BrowserSession>) -> HttpResponse {
    prefer(known.as_ref().and_then(|known| known.user.language.as_ref()));
    let next = known.as_ref().filter(|known| known.lacks_second_factor).map(|_| "/account/second-factor");
    let account = known.filter(|_| next.is_none()).map(|known| Account {
        language: language::current().code(),
        id: known.user.id.to_string(),
        is_staff: known.actor.authorize::<UseAdminPanel>().is_ok(),
        email: known.user.email.as_str().to_owned(),
        name: known.user.name.map(|name| name.as_str().to_owned()),
    });
    HttpResponse::Ok().json(SessionResponse { account, next })
}

/// Says which account is signed in. A page asks when it is opened, so the absence of a session is no error.
pub(crate) async fn show(context: State, cookie: Session, client: Client) -> Reply {
    let Some(id) = session_cookie::id_of(&cookie) else { return Ok(response(None)) };
    let app = &context.app;
    match sessions::authenticate_browser(app, id, client.address).await {
        Ok(known) => Ok(response(Some(known))),
        Err(Error::Unauthenticated) => {
            cookie.purge();
            Ok(response(None))
        }
        Err(error) => Err(error.into()),
    }
}

/// Proves the identity of the account again by its password or a code, before the page repeats a request that
/// was refused with `proof_needed`. A wrong one counts as a failed login.
pub(crate) async fn confirm(
    page: OwnPage,
    context: State,
    client: Client,
    form: Result<Form, ApiError>,
) -> Reply {
    let page = page.0.ok_or(Error::Unauthenticated)?;
    let (form, app) = (form?, &context.app);
    let actor = sessions::authenticate_page(app, page.session, page.user, client.address).await?;
    // 401 would say that the session has ended.
    let invalid = |reason: &str| ApiError::invalid_field(&["body", "proof"], reason);
    match form.text("proof") {
        "" => Err(invalid("must not be empty")),
        proof => match profile::prove_identity(app, &actor, page.session, proof.to_owned()).await {
            Ok(()) => Ok(HttpResponse::NoContent().finish()),
            Err(Error::InvalidCredentials) => Err(invalid("is incorrect")),
            Err(error) => Err(error.into()),
        },
    }
}

/// Ends the session on the server, so that other tabs and copies of the cookie no longer work.
pub(crate) async fn end(page: OwnPage, context: State, cookie: Session, client: Client) -> Reply {
    let page = page.0.ok_or(Error::Unauthenticated)?;
    let actor = sessions::authenticate_page(&context.app, page.session, page.user, client.address).await?;
    let next = provider_logout_url(&context.app, page.session, "/account/login").await?;
    sessions::leave_browser(&context.app, &actor, page.session).await?;
    cookie.purge();
    Ok(match next {
        Some(next) => HttpResponse::Ok().json(SignedOutResponse { next }),
        None => HttpResponse::NoContent().finish(),
    })
}
