#![doc = include_str!("../README.md")]

mod account;
mod asset;
mod chat;
mod panel;
mod routes;
mod templates;

use actix_web::web::ServiceConfig;
use docent_http::settings::SessionKey;
pub use routes::TABLES;
pub use templates::compile;

/// Adds the pages to a server. The key signs the panel's session cookie.
pub fn mount(config: &mut ServiceConfig, key: &SessionKey) {
    routes::configure(config, |_| true);
    panel::mount(config, key);
}
