//! In-memory rate limiter.

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::fault::Result;
use docent_ports::rate_limiter::{Count, RateLimiter};
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

/// A rate limiter in a map that is never cleaned up.
#[derive(Debug, Default)]
pub struct FakeRateLimiter {
    windows: Mutex<HashMap<String, (u64, DateTime<Utc>)>>,
    /// Holders of slots by key, and until when they have them.
    slots: Mutex<HashMap<String, HashMap<String, DateTime<Utc>>>>,
}

fn count(events: u64, until: DateTime<Utc>, now: DateTime<Utc>) -> Count {
    Count { events, resets_in: (until - now).to_std().unwrap_or_default() }
}

#[async_trait]
impl RateLimiter for FakeRateLimiter {
    async fn hit(&self, key: &str, window: Duration, now: DateTime<Utc>) -> Result<Count> {
        let mut windows = self.windows.lock().unwrap();
        let entry = windows.entry(key.to_owned()).or_insert((0, now));
        if entry.1 <= now {
            *entry = (0, now + TimeDelta::from_std(window).unwrap());
        }
        entry.0 += 1;
        Ok(count(entry.0, entry.1, now))
    }

    async fn peek(&self, key: &str, now: DateTime<Utc>) -> Result<Count> {
        let windows = self.windows.lock().unwrap();
        let open = windows.get(key).filter(|(_, until)| *until > now);
        Ok(open.map_or(Count { events: 0, resets_in: Duration::ZERO }, |(n, until)| count(*n, *until, now)))
    }

    async fn reset(&self, key: &str) -> Result<()> {
        self.windows.lock().unwrap().remove(key);
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
        let mut slots = self.slots.lock().unwrap();
        let holders = slots.entry(key.to_owned()).or_default();
        holders.retain(|_, until| *until > now);
        let has_slot = holders.contains_key(holder) || (holders.len() as u64) < limit;
        if has_slot {
            holders.insert(holder.to_owned(), now + TimeDelta::from_std(lifetime).unwrap());
        }
        Ok(has_slot)
    }

    async fn free_slot(&self, key: &str, holder: &str) -> Result<()> {
        self.slots.lock().unwrap().entry(key.to_owned()).or_default().remove(holder);
        Ok(())
    }
}
