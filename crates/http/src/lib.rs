#![doc = include_str!("../README.md")]

pub mod attachment;
pub mod base_path;
mod body_budget;
pub mod context;
pub mod error;
pub mod extract;
#[cfg(fuzzing)]
pub mod fuzzing;
pub mod metrics;
pub mod middleware;
pub mod routes;
pub mod settings;
pub mod sse;
pub mod table;
pub mod untrusted_proxies;

pub use context::State;
pub use error::{ApiError, Reply};
pub use extract::base_url::BaseUrl;
pub use extract::client::{Client, UserAgent};
pub use extract::deserialize::BodyErrors;
pub use extract::form::Form;
pub use extract::granted::{Bearer, EndedBearer, Granted, PageSession, Scoped};
pub use extract::json::Body;
pub use extract::path::PathId;
pub use extract::query::Query;
