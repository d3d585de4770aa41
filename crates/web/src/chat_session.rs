//! `/chat/session`: signs the web chat in and out, names the account, and proves its identity again.
//!
//! The session is the one of the account pages and of the panel, so that signing out ends it everywhere.

use crate::language;
use crate::language::request::prefer;
use crate::session_cookie;
use crate::signed_in::own_page::OwnPage;
use crate::signed_in::session;
use actix_session::Session;
use actix_web::HttpResponse;
use docent_app::accounts::login;
use docent_app::accounts::profile;
use docent_app::accounts::sessions::{self, BrowserSession, ClientInfo};
use docent_app::accounts::single_sign_on::logout::provider_logout_url;
use docent_app::error::Error;
use docent_domain::access::UseAdminPanel;
use docent_http::{ApiError, Client, Form, Reply, State, UserAgent};
use serde::Serialize;

/// The session of the browser.
#[derive(Serialize)]
struct SessionResponse {
    /// The account, if one is signed in.
    account: Option<Account>,
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
    let account = known.map(|known| Account {
        language: language::current().code(),
        id: known.user.id.to_string(),
        is_staff: known.actor.authorize::<UseAdminPanel>().is_ok(),
        email: known.user.email.as_str().to_owned(),
        name: known.user.name.map(|name| name.as_str().to_owned()),
    });
    HttpResponse::Ok().json(SessionResponse { account })
}

/// Says which account is signed in. A page asks when it is opened, so the absence of a session is no error.
pub(crate) async fn show(context: State, cookie: Session, client: Client) -> Reply {
    let Some(id) = session_cookie::id_of(&cookie) else { return Ok(response(None)) };
    let app = &context.app;
    match sessions::authenticate_browser(app, id, client.address).await {
        // The account can only open the page that sets up its second factor.
        Ok(known) if known.lacks_second_factor => Ok(response(None)),
        Ok(known) => Ok(response(Some(known))),
        Err(Error::Unauthenticated) => {
            cookie.purge();
            Ok(response(None))
        }
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn begin(
    _: OwnPage,
    context: State,
    cookie: Session,
    client: Client,
    agent: UserAgent,
    form: Result<Form, ApiError>,
) -> Reply {
    let (form, app) = (form?, &context.app);
    let stays_signed_in = form.text("stay") == "on";
    let origin = ClientInfo { stays_signed_in, ..ClientInfo::new(client.address, agent.0) };
    let code = Some(form.text("code")).filter(|code| !code.is_empty());
    let password = form.text("password").to_owned();
    let id = login::enter_chat(app, form.text("email"), password, code, &origin).await?;
    session::start(app, &cookie, id, &origin)?;
    Ok(response(Some(sessions::authenticate_browser(app, id, client.address).await?)))
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
