//! Counting events in fixed windows.

use crate::error::Result;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use std::time::Duration;

/// A window and how much it allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Events that a window allows.
    pub limit: u64,
    /// Its length; it opens with the first event.
    pub window: Duration,
}

/// What a count says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Events in the present window.
    pub events: u64,
    /// How long it stays open; zero when there is none.
    pub resets_in: Duration,
}

/// Counts events by key. The counter and its expiry change in one step.
#[async_trait]
pub trait RateLimiter: Send + Sync {
    /// Counts one event and says how many there are now, this one included.
    async fn hit(&self, key: &str, window: Duration, now: DateTime<Utc>) -> Result<Count>;

    /// How many there are, without counting one.
    async fn peek(&self, key: &str, now: DateTime<Utc>) -> Result<Count>;

    /// Forgets a key.
    async fn reset(&self, key: &str) -> Result<()>;
}
