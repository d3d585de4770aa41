//! The cookie of a browser's session. Browsers discard it when they are closed, unless the person wants to stay signed in.

use actix_session::config::CookieContentSecurity;
use actix_session::storage::CookieSessionStore;
use actix_session::{Session, SessionExt, SessionInsertError, SessionMiddleware};
use actix_web::body::MessageBody;
use actix_web::cookie::{Key, SameSite};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderValue, SET_COOKIE};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage};
use docent_domain::id::SessionId;
use docent_domain::session::LASTING_SESSION_MAX;
use docent_http::base_path::BasePath;
use docent_http::settings::SessionKey;

const COOKIE: &str = "docent_session";
/// Name over HTTPS. Browsers accept it only as `Secure`, for this host alone and for all paths, so that neither another
/// host of the domain nor a connection without TLS can plant a session.
const HOST_COOKIE: &str = "__Host-docent_session";
/// Name over HTTPS below a path of a host: the other prefix requires a cookie for all paths.
const SECURE_COOKIE: &str = "__Secure-docent_session";
/// Field with the ID of the stored session.
pub(crate) const SESSION: &str = "session";
/// Field with the sign-ins at identity providers that were begun.
pub(crate) const ATTEMPTS: &str = "sso";
/// Field of a session that outlasts the browser.
const LASTING: &str = "lasting";

/// Cookie settings: signed, `HttpOnly` and `SameSite=Lax`; `Secure` if the service has an HTTPS address. Without TLS, as
/// on a local machine, a browser would discard such a cookie.
pub(crate) fn middleware(
    key: &SessionKey,
    is_https: bool,
    base: &BasePath,
) -> SessionMiddleware<CookieSessionStore> {
    let (name, path) = match (is_https, base.is_root()) {
        (true, true) => (HOST_COOKIE, "/"),
        (true, false) => (SECURE_COOKIE, base.as_str()),
        (false, true) => (COOKIE, "/"),
        (false, false) => (COOKIE, base.as_str()),
    };
    SessionMiddleware::builder(CookieSessionStore::default(), Key::derive_from(key.bytes()))
        .cookie_name(name.to_owned())
        .cookie_path(path.to_owned())
        .cookie_content_security(CookieContentSecurity::Signed)
        .cookie_http_only(true)
        .cookie_same_site(SameSite::Lax)
        .cookie_secure(is_https)
        .build()
}

/// ID of the stored session that the cookie names.
pub(crate) fn id_of(cookie: &Session) -> Option<SessionId> {
    cookie.get::<String>(SESSION).ok().flatten()?.parse().ok()
}

/// Whether the cookie outlasts the browser.
pub(crate) fn outlasts_the_browser(cookie: &Session) -> bool {
    cookie.get(LASTING).is_ok_and(|lasting| lasting == Some(true))
}

/// Lets the cookie outlast the browser.
///
/// # Errors
/// If the session cannot be serialized.
pub(crate) fn outlast_the_browser(cookie: &Session) -> Result<(), SessionInsertError> {
    cookie.insert(LASTING, true)
}

/// The session of the request outlasts the browser.
struct Lasting;

/// Middleware within that of the sessions, which takes the session out of the request when it ends: notes for [`keep_sessions`]
/// whether the session outlasts the browser.
///
/// # Errors
/// Those of the handler.
pub async fn note_sessions(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let response = next.call(request).await?;
    if outlasts_the_browser(&response.request().get_session()) {
        response.request().extensions_mut().insert(Lasting);
    }
    Ok(response)
}

/// Middleware around that of the sessions, which knows one lifetime for all: gives the cookies of those that outlast the browser
/// an end.
///
/// # Errors
/// Those of the handler.
pub async fn keep_sessions(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let mut response = next.call(request).await?;
    let is_lasting = response.request().extensions().contains::<Lasting>();
    if is_lasting {
        let cookies: Vec<HeaderValue> = response.headers_mut().remove(SET_COOKIE).collect();
        for cookie in cookies {
            let cookie = lasting(&cookie).unwrap_or(cookie);
            response.headers_mut().append(SET_COOKIE, cookie);
        }
    }
    Ok(response)
}

/// The cookie of a session with an end; none for another cookie.
fn lasting(cookie: &HeaderValue) -> Option<HeaderValue> {
    let text = cookie.to_str().ok()?;
    let (name, _) = text.split_once('=')?;
    let age = LASTING_SESSION_MAX.num_seconds();
    let is_session = [COOKIE, HOST_COOKIE, SECURE_COOKIE].contains(&name);
    is_session.then(|| HeaderValue::from_str(&format!("{text}; Max-Age={age}")).ok())?
}
