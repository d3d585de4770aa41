//! In-memory implementations of the ports.

pub mod chat_model;
pub mod embedder;
pub mod rate_limiter;
pub mod vector_index;
