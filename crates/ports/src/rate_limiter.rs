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

/// Counts events and holders of slots by key. Counter and expiry change atomically.
#[async_trait]
pub trait RateLimiter: Send + Sync {
    /// Counts an event and returns the count including it.
    async fn hit(&self, key: &str, window: Duration, now: DateTime<Utc>) -> Result<Count>;

    /// Returns the count without counting an event.
    async fn peek(&self, key: &str, now: DateTime<Utc>) -> Result<Count>;

    /// Resets the counter of a key.
    async fn reset(&self, key: &str) -> Result<()>;

    /// Takes one of `limit` slots of a key for `lifetime`, or renews the slot that `holder` has. Returns whether it has one
    /// now. Slots are counted apart from events.
    async fn take_slot(
        &self,
        key: &str,
        holder: &str,
        limit: u64,
        lifetime: Duration,
        now: DateTime<Utc>,
    ) -> Result<bool>;

    /// Frees the slot of a holder. Idempotent.
    async fn free_slot(&self, key: &str, holder: &str) -> Result<()>;
}
