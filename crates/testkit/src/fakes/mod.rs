//! In-memory implementations of the ports.

pub mod blob_store;
pub mod password_hasher;
pub mod rate_limiter;
pub mod store;
pub mod token_signer;
pub mod token_store;
