//! Fixed windows in Redis, exact across replicas.

use super::connection::Redis;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use deadpool_redis::redis::{Cmd, Script};
use docent_domain::fault::Result;
use docent_ports::rate_limiter::{Count, RateLimiter};
use std::time::Duration;

/// Maximum window in microseconds, about 140 years: numbers in scripts are doubles, exact up to 2^53.
const WINDOW_MAX: i64 = 1 << 52;

/// Counts events in Redis. A window closes by the caller's clock, so the replicas' clocks must be synchronised, for
/// example by NTP.
#[derive(Clone, Debug)]
pub struct RedisRateLimiter {
    redis: Redis,
    hit: Script,
    take_slot: Script,
}

impl RedisRateLimiter {
    /// Creates a rate limiter on this server.
    pub fn new(redis: Redis) -> Self {
        let hit = Script::new(include_str!("scripts/hit.lua"));
        Self { redis, hit, take_slot: Script::new(include_str!("scripts/take_slot.lua")) }
    }

    fn slots(&self, key: &str) -> String {
        self.redis.key(format_args!("slots:{key}"))
    }

    fn key(&self, key: &str) -> String {
        self.redis.key(format_args!("rate:{key}"))
    }
}

fn count(events: u64, resets_in: i64) -> Count {
    Count { events, resets_in: Duration::from_micros(u64::try_from(resets_in).unwrap_or(0)) }
}

#[async_trait]
impl RateLimiter for RedisRateLimiter {
    async fn hit(&self, key: &str, window: Duration, now: DateTime<Utc>) -> Result<Count> {
        let length = i64::try_from(window.as_micros()).map_or(WINDOW_MAX, |length| length.min(WINDOW_MAX));
        let mut call = self.hit.key(self.key(key));
        call.arg(now.timestamp_micros()).arg(length);
        let (events, resets_in) = self.redis.script("count an event", &call).await?;
        Ok(count(events, resets_in))
    }

    async fn peek(&self, key: &str, now: DateTime<Utc>) -> Result<Count> {
        let mut command = Cmd::new();
        command.arg("HMGET").arg(self.key(key)).arg("n").arg("closes_at");
        let (events, closes_at): (Option<u64>, Option<i64>) =
            self.redis.command("read a count", &command).await?;
        let resets_in = closes_at.map_or(0, |at| at - now.timestamp_micros());
        let events = events.filter(|_| resets_in > 0);
        Ok(events.map_or(count(0, 0), |events| count(events, resets_in)))
    }

    async fn reset(&self, key: &str) -> Result<()> {
        let mut command = Cmd::new();
        command.arg("DEL").arg(self.key(key));
        self.redis.command("reset a count", &command).await
    }

    async fn take_slot(
        &self,
        key: &str,
        holder: &str,
        limit: u64,
        lifetime: Duration,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let lifetime = i64::try_from(lifetime.as_micros()).map_or(WINDOW_MAX, |long| long.min(WINDOW_MAX));
        let mut call = self.take_slot.key(self.slots(key));
        call.arg(holder).arg(limit).arg(now.timestamp_micros()).arg(lifetime);
        let taken: u64 = self.redis.script("take a slot", &call).await?;
        Ok(taken == 1)
    }

    async fn free_slot(&self, key: &str, holder: &str) -> Result<()> {
        let mut command = Cmd::new();
        command.arg("ZREM").arg(self.slots(key)).arg(holder);
        self.redis.command("free a slot", &command).await
    }
}
