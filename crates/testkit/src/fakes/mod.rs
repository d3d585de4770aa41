//! In-memory implementations of the ports.

pub mod embedder;
pub mod rate_limiter;
pub mod vector_index;
