#![doc = include_str!("../README.md")]

mod agents;
mod answer_events;
mod answers;
mod auth;
mod collections;
mod conversations;
mod docs;
mod documents;
mod health;
mod librechat;
mod mcp;
mod metrics;
mod oauth;
mod openai;
pub mod openapi;
mod paging;
mod root;
mod routes;
mod search;
mod selection;
mod status;
mod streams;
mod timestamp;
mod webhooks;

use actix_web::web::{Data, ServiceConfig};
pub use openai::errors::convert_errors as convert_openai_errors;
pub use routes::TABLE;
pub use webhooks::payload::webhook_body;

/// State of the API that all threads of a server share.
#[derive(Clone)]
pub struct Shared {
    streams: Data<streams::Streams>,
    document: Data<docs::Document>,
}

impl Default for Shared {
    fn default() -> Self {
        Self { streams: Data::default(), document: Data::new(docs::Document::new(openapi::json_below)) }
    }
}

/// Adds the selected paths to a server.
pub fn configure(config: &mut ServiceConfig, shared: &Shared, is_wanted: impl Fn(&str) -> bool) {
    config.app_data(shared.streams.clone()).app_data(shared.document.clone());
    routes::configure(config, is_wanted);
}
