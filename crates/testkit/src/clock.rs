//! A clock that stands still until a test moves it.

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use docent_ports::clock::Clock;
use std::time::Duration;
use tokio::sync::watch;

/// Time under a test's command. It starts at 2026-01-01T00:00:00Z.
#[derive(Debug)]
pub struct TestClock {
    now: watch::Sender<DateTime<Utc>>,
}

impl Default for TestClock {
    fn default() -> Self {
        let start = DateTime::from_timestamp(1_767_225_600, 0).expect("a valid instant");
        Self { now: watch::Sender::new(start) }
    }
}

impl TestClock {
    /// Moves time forward and wakes those who waited for it.
    pub fn advance(&self, by: Duration) {
        let by = TimeDelta::from_std(by).expect("a step that fits");
        self.now.send_modify(|now| *now += by);
    }
}

#[async_trait]
impl Clock for TestClock {
    fn now(&self) -> DateTime<Utc> {
        *self.now.borrow()
    }

    async fn sleep(&self, pause: Duration) {
        let until = self.now() + TimeDelta::from_std(pause).unwrap_or(TimeDelta::MAX / 2);
        // The sender lives as long as `self`, so waiting ends in no other way.
        let _ = self.now.subscribe().wait_for(|now| *now >= until).await;
    }
}
