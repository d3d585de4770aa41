//! Refresh tokens and rate limits on a Redis server (6.2 or newer, or one that speaks its protocol).
//!
//! Every call is one command or one script, so that any number of replicas can share the keys:
//!
//! ```text
//! docent:rate:<key>                       hash    n, closes_at: one window of the rate limiter
//! docent:{tokens}:family:<family>         hash    user, and the replacement time of each replaced token
//! docent:{tokens}:family:<family>:tokens  zset    the family's tokens by their expiry
//! docent:{tokens}:user:<user>             zset    the account's families by their expiry
//! ```
//!
//! Instants are microseconds since 1970 by the caller's clock, which decides about expiry. The keys' expiry in
//! Redis only removes keys that are no longer needed. The part in braces keeps the keys of a script in one slot of
//! a cluster.
//!
//! The server should not evict keys (`maxmemory-policy noeviction`): evicting a family ends its session.

mod connection;
mod rate_limiter;
mod token_store;

pub use connection::{Options, Redis, Sentinels};
pub use rate_limiter::RedisRateLimiter;
pub use token_store::RedisTokenStore;
