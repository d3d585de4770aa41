#![doc = include_str!("../README.md")]

pub mod attachment;
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
