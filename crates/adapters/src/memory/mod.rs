//! The key-value store of the embedded profile: in this process's memory, with refresh tokens kept
//! in a journal on disk so that a restart logs nobody out.

mod families;
mod journal;
mod rate_limiter;
mod sweep;
mod token_store;

pub use rate_limiter::MemoryRateLimiter;
pub use token_store::MemoryTokenStore;
