//! Rate limiting with fixed windows.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use std::time::Duration;

/// The state of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Number of events in the current window.
    pub events: u64,
    /// Time until the window ends; zero if there is none.
    pub resets_in: Duration,
}

/// Counts events by key. Counter and expiry change atomically.
#[async_trait]
pub trait RateLimiter: Send + Sync {
    /// Counts an event and returns the count including it.
    async fn hit(&self, key: &str, window: Duration, now: DateTime<Utc>) -> Result<Count>;

    /// Returns the count without counting an event.
    async fn peek(&self, key: &str, now: DateTime<Utc>) -> Result<Count>;

    /// Resets the counter of a key.
    async fn reset(&self, key: &str) -> Result<()>;
}
