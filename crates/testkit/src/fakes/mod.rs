//! In-memory implementations of the ports.

pub mod rate_limiter;
pub mod store;
