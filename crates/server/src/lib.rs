#![doc = include_str!("../README.md")]

pub mod routes;
mod serve;

pub use docent_api::{openapi, webhook_body};
pub use docent_http::metrics;
pub use docent_http::settings::{HttpSettings, MetricsEndpoint, SessionKey};
pub use serve::{Server, Shutdown};
