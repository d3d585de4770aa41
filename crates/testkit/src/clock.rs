//! Clock controlled by tests.

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use docent_ports::clock::Clock;
use std::sync::Mutex;
use std::time::Duration;
use tokio::sync::watch;

/// A clock that only tests advance. It starts at 2026-01-01T00:00:00Z.
#[derive(Debug)]
pub struct TestClock {
    now: watch::Sender<DateTime<Utc>>,
    /// The ends of the sleeps under way.
    awaited: Mutex<Vec<DateTime<Utc>>>,
}

impl Default for TestClock {
    fn default() -> Self {
        let start = DateTime::from_timestamp(1_767_225_600, 0).expect("a valid instant");
        Self { now: watch::Sender::new(start), awaited: Mutex::default() }
    }
}

impl TestClock {
    /// Advances the time and wakes the sleeping tasks that are due.
    pub fn advance(&self, by: Duration) {
        let by = TimeDelta::from_std(by).expect("a step that fits");
        self.now.send_modify(|now| *now += by);
    }

    /// Sets the time back, as when a clock that was ahead is corrected.
    pub fn set_back(&self, by: Duration) {
        let by = TimeDelta::from_std(by).expect("a step that fits");
        self.now.send_modify(|now| *now -= by);
    }

    /// Advances the time from one sleep to the next, at most a second per step, until the work is done. Before each
    /// step all other tasks of this thread run until they wait.
    pub async fn pass_while<T>(&self, work: impl Future<Output = T>) -> T {
        let pass = async {
            loop {
                for _ in 0..YIELDS {
                    tokio::task::yield_now().await;
                }
                let next = self.awaited.lock().expect("no panic").iter().min().copied();
                let step = next.and_then(|next| (next - self.now()).to_std().ok());
                self.advance(step.unwrap_or_default().min(LONGEST_STEP));
            }
        };
        tokio::select! {
            done = work => done,
            () = pass => unreachable!("time does not end"),
        }
    }
}

/// Removes a wake-up time when its sleep ends or is cancelled.
struct Waiting<'a>(&'a TestClock, DateTime<Utc>);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut awaited = self.0.awaited.lock().expect("no panic");
        if let Some(at) = awaited.iter().position(|until| *until == self.1) {
            awaited.swap_remove(at);
        }
    }
}

/// The longest step of [`TestClock::pass_while`].
const LONGEST_STEP: Duration = Duration::from_secs(1);
/// Number of yields before each step. The runtime polls network events every 61 ticks.
const YIELDS: usize = 250;

#[async_trait]
impl Clock for TestClock {
    fn now(&self) -> DateTime<Utc> {
        *self.now.borrow()
    }

    async fn sleep(&self, pause: Duration) {
        let until = self.now() + TimeDelta::from_std(pause).unwrap_or(TimeDelta::MAX / 2);
        self.awaited.lock().expect("no panic").push(until);
        let _waiting = Waiting(self, until);
        // The sender lives as long as `self`, so waiting ends in no other way.
        let _ = self.now.subscribe().wait_for(|now| *now >= until).await;
    }
}
