//! Fixed rate-limit windows in memory.

use super::sweep::Sweep;
use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::fault::Result;
use docent_ports::rate_limiter::{Count, RateLimiter};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Concurrent calls have different times: a call is not of the past if its time is this much earlier.
const CLOCK_DIFFERENCE: TimeDelta = TimeDelta::seconds(10);

/// Counts events in this process's memory. A restart resets all counts.
#[derive(Debug, Default)]
pub struct MemoryRateLimiter {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    windows: HashMap<Box<str>, Window>,
    /// The holders of each key's slots, and until when they have them.
    slots: HashMap<Box<str>, HashMap<Box<str>, DateTime<Utc>>>,
    sweep: Sweep,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    events: u64,
    until: DateTime<Utc>,
    length: TimeDelta,
}

impl Window {
    fn open(length: Duration, now: DateTime<Utc>) -> Self {
        let length = TimeDelta::from_std(length).unwrap_or(TimeDelta::MAX);
        let until = now.checked_add_signed(length).unwrap_or(DateTime::<Utc>::MAX_UTC);
        Self { events: 0, until, length }
    }

    /// Whether the window has begun and not ended. One that has not begun is of a time when the clock was ahead.
    fn is_open(&self, now: DateTime<Utc>) -> bool {
        now < self.until && (self.until - now).checked_sub(&CLOCK_DIFFERENCE) <= Some(self.length)
    }

    fn count(&self, now: DateTime<Utc>) -> Count {
        Count { events: self.events, resets_in: (self.until - now).to_std().unwrap_or_default() }
    }
}

impl MemoryRateLimiter {
    fn state(&self) -> MutexGuard<'_, State> {
        // The state is consistent at every step, also after a panic of a thread that held the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl RateLimiter for MemoryRateLimiter {
    async fn hit(&self, key: &str, window: Duration, now: DateTime<Utc>) -> Result<Count> {
        let mut state = self.state();
        let state = &mut *state;
        if state.sweep.is_due() {
            state.windows.retain(|_, window| window.is_open(now));
            state.sweep.done(state.windows.len());
        }
        let open = match state.windows.get_mut(key) {
            Some(open) => open,
            None => state.windows.entry(key.into()).or_insert(Window::open(window, now)),
        };
        if !open.is_open(now) {
            *open = Window::open(window, now);
        }
        open.events += 1;
        Ok(open.count(now))
    }

    async fn peek(&self, key: &str, now: DateTime<Utc>) -> Result<Count> {
        let open = self.state().windows.get(key).copied().filter(|window| window.is_open(now));
        Ok(open.map_or(Count { events: 0, resets_in: Duration::ZERO }, |window| window.count(now)))
    }

    async fn reset(&self, key: &str) -> Result<()> {
        self.state().windows.remove(key);
        Ok(())
    }

    async fn take_slot(
        &self,
        key: &str,
        holder: &str,
        limit: u64,
        lifetime: Duration,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let until = Window::open(lifetime, now).until;
        let mut state = self.state();
        let slots = state.slots.entry(key.into()).or_default();
        slots.retain(|_, until| now < *until);
        let has_slot = slots.contains_key(holder) || (slots.len() as u64) < limit;
        if has_slot {
            slots.insert(holder.into(), until);
        } else if slots.is_empty() {
            state.slots.remove(key);
        }
        Ok(has_slot)
    }

    async fn free_slot(&self, key: &str, holder: &str) -> Result<()> {
        let mut state = self.state();
        if let Some(slots) = state.slots.get_mut(key) {
            slots.remove(holder);
            if slots.is_empty() {
                state.slots.remove(key);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_ports::clock::Clock;
    use docent_testkit::clock::TestClock;
    use std::sync::Arc;

    docent_testkit::rate_limiter_contract!(async { (Arc::new(MemoryRateLimiter::default()) as _, ()) });

    #[tokio::test]
    async fn windows_of_a_clock_that_was_ahead_are_closed() {
        let (limiter, clock, window) =
            (MemoryRateLimiter::default(), TestClock::default(), Duration::from_secs(60));
        limiter.hit("a", window, clock.now()).await.unwrap();
        clock.set_back(Duration::from_secs(10));
        assert_eq!(limiter.peek("a", clock.now()).await.unwrap().events, 1);
        clock.set_back(Duration::from_secs(1));
        assert_eq!(limiter.peek("a", clock.now()).await.unwrap().events, 0);
        let count = limiter.hit("a", window, clock.now()).await.unwrap();
        assert_eq!((count.events, count.resets_in), (1, window));
    }

    #[tokio::test]
    async fn closed_windows_are_removed() {
        let limiter = MemoryRateLimiter::default();
        let clock = TestClock::default();
        for n in 0..10_000 {
            limiter.hit(&n.to_string(), Duration::from_secs(1), clock.now()).await.unwrap();
            clock.advance(Duration::from_millis(10));
        }
        // A hundred windows are open at any time.
        assert!(limiter.state().windows.len() < 600, "{}", limiter.state().windows.len());
    }
}
