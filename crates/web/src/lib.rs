#![doc = include_str!("../README.md")]

mod account;
mod asset;
mod chat;
mod chat_session;
mod language;
mod minify;
mod paging;
mod panel;
mod routes;
mod session_cookie;
mod signed_in;
mod templates;
mod times;

use actix_session::SessionMiddleware;
use actix_session::storage::CookieSessionStore;
use actix_web::web::ServiceConfig;
use docent_http::base_path::BasePath;
use docent_http::settings::SessionKey;
pub use language::request::choose_language;
pub use routes::TABLES;
pub use session_cookie::{keep_sessions, note_sessions};
pub use signed_in::own_page::identify;
pub use signed_in::page::unknown_path;
use std::io;

/// Compiles the templates. Until then, pages cannot be rendered.
///
/// # Errors
/// If a template has a syntax error.
pub fn compile() -> io::Result<()> {
    templates::compile(routes::templates())
}

/// Adds the pages to a server, which must also have [`sessions`], between [`note_sessions`] and [`keep_sessions`].
pub fn mount(config: &mut ServiceConfig) {
    routes::configure(config, |_| true);
    panel::mount(config);
    account::mount(config);
}

/// Middleware for the sessions of browsers. The key signs the cookie, `is_https` says whether browsers reach the service over
/// HTTPS, and `base` is the path of its cookie.
pub fn sessions(key: &SessionKey, is_https: bool, base: &BasePath) -> SessionMiddleware<CookieSessionStore> {
    session_cookie::middleware(key, is_https, base)
}
