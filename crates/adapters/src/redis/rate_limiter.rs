//! Fixed windows in Redis, exact across replicas.

use super::connection::Redis;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use deadpool_redis::redis::{Cmd, Script};
use docent_ports::{
    error::Result,
    rate_limiter::{Count, RateLimiter},
};
use std::time::Duration;

/// Scripts count in doubles, which are exact up to 2^53; a window may be this many microseconds, some
/// 140 years.
const LONGEST: i64 = 1 << 52;

/// Counts events in Redis. The replicas' clocks must agree, as they do by NTP: a window closes by the
/// clock of whoever asks.
#[derive(Clone, Debug)]
pub struct RedisRateLimiter {
    redis: Redis,
    hit: Script,
}

impl RedisRateLimiter {
    /// Counts in that server.
    pub fn new(redis: Redis) -> Self {
        Self { redis, hit: Script::new(include_str!("scripts/hit.lua")) }
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
        let length = i64::try_from(window.as_micros()).map_or(LONGEST, |length| length.min(LONGEST));
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
        self.redis.command("forget a count", &command).await
    }
}
