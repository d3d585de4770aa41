//! The cookie of a browser's session.

use actix_session::config::CookieContentSecurity;
use actix_session::storage::CookieSessionStore;
use actix_session::{Session, SessionMiddleware};
use actix_web::cookie::{Key, SameSite};
use docent_domain::id::SessionId;
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
