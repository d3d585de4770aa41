//! The Qdrant fake of the adapter tests, for benchmarks and chaos.

#[path = "../../crates/adapters/index/tests/qdrant/server/mod.rs"]
#[allow(dead_code, clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "test code")]
mod server;

pub(crate) use server::Fake;
