#![doc = include_str!("../README.md")]

mod account;
mod asset;
mod chat;
mod panel;
mod routes;
mod signed_in;
mod templates;

use actix_web::web::ServiceConfig;
use docent_http::settings::SessionKey;
pub use routes::TABLES;
use std::io;

/// Compiles the templates. Until then, pages cannot be rendered.
///
/// # Errors
/// If a template has a syntax error.
pub fn compile() -> io::Result<()> {
    templates::compile(routes::templates())
}

/// Adds the pages to a server. The key signs the session cookie; `is_https` says whether browsers reach the service over
/// HTTPS.
pub fn mount(config: &mut ServiceConfig, key: &SessionKey, is_https: bool) {
    routes::configure(config, |_| true);
    panel::mount(config, key, is_https);
    account::mount(config, key, is_https);
}
