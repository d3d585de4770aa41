//! The vector store of the adapter's tests, for benchmarks and chaos to stand on.

#[path = "../../crates/adapters/tests/qdrant/server/mod.rs"]
#[allow(
    dead_code,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "it is made for tests, which look closer"
)]
mod server;

pub(crate) use server::Fake;
