//! Rate limits in this process's memory, for installations without Redis.

mod rate_limiter;
mod sweep;

pub use rate_limiter::MemoryRateLimiter;
