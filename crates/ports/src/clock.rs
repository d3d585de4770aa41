//! Time.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use std::time::Duration;

/// The time, and waiting for it.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Now, in whole microseconds, which is what databases keep.
    fn now(&self) -> DateTime<Utc>;

    /// Returns once `pause` has passed on this clock. Cancel-safe.
    async fn sleep(&self, pause: Duration);
}
