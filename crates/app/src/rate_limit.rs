//! Limits the requests of each client.

use crate::App;
use crate::network::network;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::fault::Fault;
use docent_ports::rate_limiter::Count;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Maximum number of clients counted in this process.
const LOCAL_CLIENTS: usize = 10_000;
/// While the key-value store is unavailable, one request per interval tries it again, and may have to wait. The others
/// are counted in this process.
const PROBE_EVERY: TimeDelta = TimeDelta::seconds(1);

/// A limit of events per window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Maximum number of events per window.
    pub limit: u64,
    /// Length of the window, which starts with its first event.
    pub window: Duration,
}

/// The limit of requests per client address, counted across all processes in the key-value store. While the store is
/// unavailable each process counts on its own: a limit that is too high is better than an outage.
#[derive(Debug)]
pub struct RateLimit {
    quota: Quota,
    local: Mutex<HashMap<String, (u64, DateTime<Utc>)>>,
    is_local: AtomicBool,
    /// When the store is tried again, in microseconds since 1970.
    probe_at: AtomicI64,
}

impl RateLimit {
    /// Creates a limit.
    pub fn new(quota: Quota) -> Self {
        Self { quota, local: Mutex::default(), is_local: AtomicBool::new(false), probe_at: AtomicI64::new(0) }
    }

    /// Counts a request.
    ///
    /// # Errors
    /// The time until the next request is allowed, when the quota is used up.
    pub async fn admit(&self, app: &App, client: IpAddr) -> Result<(), Duration> {
        let key = format!("rate:{}", network(client));
        let now = app.now();
        if self.is_local.load(Ordering::Relaxed) && !self.is_probe(now) {
            app.recorder.counted_locally();
            return self.check(self.count_locally(key, now));
        }
        let count = match app.limiter.hit(&key, self.quota.window, now).await {
            Ok(count) => {
                self.store_recovered();
                count
            }
            Err(fault) => {
                self.store_failed(&fault, now);
                app.note(&fault);
                app.recorder.counted_locally();
                self.count_locally(key, now)
            }
        };
        self.check(count)
    }

    fn check(&self, count: Count) -> Result<(), Duration> {
        if count.events > self.quota.limit { Err(count.resets_in) } else { Ok(()) }
    }

    /// Whether this request must try the store again.
    fn is_probe(&self, now: DateTime<Utc>) -> bool {
        let (now, next) = (now.timestamp_micros(), (now + PROBE_EVERY).timestamp_micros());
        self.probe_at
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |at| (at <= now).then_some(next))
            .is_ok()
    }

    fn store_recovered(&self) {
        if self.is_local.load(Ordering::Relaxed) && self.is_local.swap(false, Ordering::Relaxed) {
            tracing::info!("requests are counted in the key-value store again");
            self.local.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }

    /// Counts in this process from now on. Logs one warning per outage, not one per request.
    fn store_failed(&self, fault: &Fault, now: DateTime<Utc>) {
        self.probe_at.store((now + PROBE_EVERY).timestamp_micros(), Ordering::Relaxed);
        if !self.is_local.swap(true, Ordering::Relaxed) {
            tracing::warn!(fault = %fault.report(), "requests cannot be counted in the key-value store; counting in this process");
        }
    }

    fn count_locally(&self, key: String, now: DateTime<Utc>) -> Count {
        let mut windows = self.local.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= LOCAL_CLIENTS && !windows.contains_key(&key) {
            windows.retain(|_, (_, until)| *until > now);
            if windows.len() >= LOCAL_CLIENTS {
                windows.clear();
            }
        }
        let window = TimeDelta::from_std(self.quota.window).unwrap_or(TimeDelta::MAX);
        let entry = windows.entry(key).or_insert((0, now));
        if entry.1 <= now {
            *entry = (0, now.checked_add_signed(window).unwrap_or(DateTime::<Utc>::MAX_UTC));
        }
        entry.0 += 1;
        Count { events: entry.0, resets_in: (entry.1 - now).to_std().unwrap_or_default() }
    }
}

/// The key of a counter: its kind and a digest of what it counts for. Names that clients choose, such as email
/// addresses, are neither stored nor decide how long the key is.
pub(crate) fn counter_key(kind: &str, parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.len().to_le_bytes());
        digest.update(part.as_bytes());
    }
    format!("{kind}:{}", URL_SAFE_NO_PAD.encode(&digest.finalize()[..16]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counter_keys_are_short_and_distinct() {
        let key = counter_key("login", &["ada@example.org", "192.0.2.7"]);
        assert_eq!(key.len(), "login:".len() + 22);
        assert!(!key.contains("ada"));
        assert_eq!(key, counter_key("login", &["ada@example.org", "192.0.2.7"]));
        assert_ne!(key, counter_key("login", &["ada@example.org1", "92.0.2.7"]));
        assert_eq!(counter_key("login", &[&"x".repeat(10_000)]).len(), key.len());
    }

    #[test]
    fn local_windows_are_fixed_and_bounded() {
        let limit = RateLimit::new(Quota { limit: 2, window: Duration::from_secs(60) });
        let start = DateTime::UNIX_EPOCH;
        let hit = |key: String, second| limit.count_locally(key, start + TimeDelta::seconds(second));
        assert_eq!(hit("a".into(), 0).events, 1);
        assert_eq!(hit("a".into(), 59), Count { events: 2, resets_in: Duration::from_secs(1) });
        assert_eq!(hit("a".into(), 60).events, 1);
        for client in 0..LOCAL_CLIENTS + 10 {
            hit(format!("client {client}"), 61);
        }
        assert!(limit.local.lock().unwrap().len() <= LOCAL_CLIENTS);
    }
}
