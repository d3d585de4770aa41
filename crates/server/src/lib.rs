#![doc = include_str!("../README.md")]

mod account;
mod admin;
mod api;
mod attachment;
mod chat;
mod context;
mod error;
mod extract;
#[cfg(fuzzing)]
pub mod fuzzing;
pub mod metrics;
mod middleware;
pub mod openapi;
pub mod routes;
mod serve;
mod settings;
mod sse;
mod streams;

pub use serve::Server;
pub use settings::{HttpSettings, JoinTrace, MetricsEndpoint, SessionKey};
