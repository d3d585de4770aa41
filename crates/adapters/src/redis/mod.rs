//! The key-value store on a Redis server (6.2 or newer, or one that speaks its protocol).
//!
//! Every call of a port is one command or one script, so that any number of replicas share the keys:
//!
//! ```text
//! docent:rate:<key>                       hash    n, closes_at: one window of the rate limiter
//! docent:{tokens}:family:<family>         hash    user, and when each replaced token was replaced
//! docent:{tokens}:family:<family>:tokens  zset    the family's tokens by their expiry
//! docent:{tokens}:user:<user>             zset    the account's families by their expiry
//! ```
//!
//! Instants are microseconds since 1970 by the caller's clock, and it is them that decisions go by.
//! Redis' own expiry, set from the difference of two such instants, only clears away what no decision
//! needs any more. The part in braces keeps the keys of one script in one slot of a cluster.
//!
//! The server should not evict keys (`maxmemory-policy noeviction`): an evicted family is a login lost.

mod connection;
mod rate_limiter;
mod token_store;

pub use connection::{Options, Redis};
pub use rate_limiter::RedisRateLimiter;
pub use token_store::RedisTokenStore;
