//! Rate limiter with scripted faults.

use super::Faulty;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_ports::rate_limiter::{Count, RateLimiter};
use std::time::Duration;

#[async_trait]
impl RateLimiter for Faulty<dyn RateLimiter> {
    async fn hit(&self, key: &str, window: Duration, now: DateTime<Utc>) -> Result<Count> {
        self.pass()?.hit(key, window, now).await
    }

    async fn peek(&self, key: &str, now: DateTime<Utc>) -> Result<Count> {
        self.pass()?.peek(key, now).await
    }

    async fn reset(&self, key: &str) -> Result<()> {
        self.pass()?.reset(key).await
    }

    async fn take_slot(
        &self,
        key: &str,
        holder: &str,
        limit: u64,
        lifetime: Duration,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        self.pass()?.take_slot(key, holder, limit, lifetime, now).await
    }

    async fn free_slot(&self, key: &str, holder: &str) -> Result<()> {
        self.pass()?.free_slot(key, holder).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::TestClock;
    use crate::fakes::rate_limiter::FakeRateLimiter;
    use crate::faults::FaultSwitch;
    use docent_domain::fault::{Component, FaultKind};
    use docent_ports::clock::Clock;
    use std::sync::Arc;

    #[tokio::test]
    async fn a_failed_hit_counts_nothing() {
        let switch = FaultSwitch::new(Component::KeyValueStore);
        let inner: Arc<dyn RateLimiter> = Arc::new(FakeRateLimiter::default());
        let limiter = Faulty::new(inner, &switch);
        let (window, now) = (Duration::from_secs(60), TestClock::default().now());
        switch.fail_next(1, FaultKind::Unavailable);
        let fault = limiter.hit("a", window, now).await.unwrap_err();
        assert_eq!((fault.component(), fault.kind()), (Component::KeyValueStore, FaultKind::Unavailable));
        assert_eq!(limiter.hit("a", window, now).await.unwrap().events, 1);
    }
}
