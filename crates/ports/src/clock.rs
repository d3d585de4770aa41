//! The current time and timers.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use std::time::Duration;

/// Tells the time and waits.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Returns the current time in whole microseconds, the precision of the databases.
    fn now(&self) -> DateTime<Utc>;

    /// Waits until `duration` has passed on this clock. Cancel-safe.
    async fn sleep(&self, duration: Duration);
}
