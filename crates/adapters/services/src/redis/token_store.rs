//! Refresh-token families in Redis.

use super::connection::Redis;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use deadpool_redis::redis::{Cmd, Script, Value};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::id::{FamilyId, UserId};
use docent_domain::token::RefreshClaims;
use docent_ports::token_store::{Rotation, RotationOutcome, TokenStore};
use std::sync::Arc;

/// The last instant that scripts represent exactly enough, in the year 2112: their numbers are doubles.
const INSTANT_MAX: i64 = 1 << 52;

/// Stores refresh-token families in Redis. The server's settings `appendonly` and `appendfsync` decide whether a
/// revocation survives its crash.
#[derive(Clone, Debug)]
pub struct RedisTokenStore {
    redis: Redis,
    scripts: Arc<Scripts>,
}

#[derive(Debug)]
struct Scripts {
    start: Script,
    rotate: Script,
    revoke: Script,
    revoke_all: Script,
}

impl RedisTokenStore {
    /// Creates a token store on this server.
    pub fn new(redis: Redis) -> Self {
        let scripts = Scripts {
            start: Script::new(include_str!("scripts/start.lua")),
            rotate: Script::new(include_str!("scripts/rotate.lua")),
            revoke: Script::new(include_str!("scripts/revoke.lua")),
            revoke_all: Script::new(include_str!("scripts/revoke_all.lua")),
        };
        Self { redis, scripts: Arc::new(scripts) }
    }

    fn families(&self) -> String {
        self.redis.key("{tokens}:family:")
    }

    fn users(&self) -> String {
        self.redis.key("{tokens}:user:")
    }

    /// The keys of a family: the family itself and its tokens.
    fn family(&self, family: FamilyId) -> [String; 2] {
        let key = format!("{}{family}", self.families());
        let tokens = format!("{key}:tokens");
        [key, tokens]
    }
}

/// The outcome that the rotation script returned.
fn outcome(result: &Value) -> Option<RotationOutcome> {
    let Value::Array(values) = result else { return None };
    match values.as_slice() {
        [Value::Int(0)] => Some(RotationOutcome::Unknown),
        [Value::Int(2)] => Some(RotationOutcome::Reused),
        [Value::Int(1), Value::BulkString(token), Value::Int(expires_at)] => Some(RotationOutcome::Renewed {
            token: str::from_utf8(token).ok()?.parse().ok()?,
            expires_at: DateTime::from_timestamp_micros(*expires_at)?,
        }),
        _ => None,
    }
}

fn instant(at: DateTime<Utc>) -> i64 {
    at.timestamp_micros().min(INSTANT_MAX)
}

#[async_trait]
impl TokenStore for RedisTokenStore {
    async fn start(&self, first: &RefreshClaims) -> Result<()> {
        let RefreshClaims { user, id, family, issued_at, expires_at } = *first;
        let mut call = self.scripts.start.prepare_invoke();
        call.key(&self.family(family)).key(format!("{}{user}", self.users()));
        call.arg(user.to_string()).arg(family.to_string()).arg(id.to_string());
        call.arg(instant(expires_at)).arg(instant(issued_at)).arg(self.users());
        self.redis.script("start a token family", &call).await
    }

    async fn rotate(&self, rotation: Rotation) -> Result<RotationOutcome> {
        let Rotation { family, presented, successor, expires_at, grace, now } = rotation;
        let grace = i64::try_from(grace.as_micros()).map_or(INSTANT_MAX, |grace| grace.min(INSTANT_MAX));
        let mut call = self.scripts.rotate.prepare_invoke();
        call.key(&self.family(family));
        call.arg(family.to_string()).arg(presented.to_string()).arg(successor.to_string());
        call.arg(instant(expires_at)).arg(instant(now)).arg(grace).arg(self.users());
        let result: Value = self.redis.script("use a refresh token", &call).await?;
        outcome(&result).ok_or_else(|| {
            let message = format!("unexpected result {result:?} of the rotation script");
            Fault::new(Component::KeyValueStore, FaultKind::InvalidResponse, message)
        })
    }

    async fn revoke(&self, family: FamilyId) -> Result<()> {
        let mut call = self.scripts.revoke.prepare_invoke();
        call.key(&self.family(family)).arg(family.to_string()).arg(self.users());
        self.redis.script("revoke a token family", &call).await
    }

    async fn revoke_all(&self, user: UserId, _now: DateTime<Utc>) -> Result<()> {
        let mut call = self.scripts.revoke_all.prepare_invoke();
        call.key(format!("{}{user}", self.users())).arg(self.families());
        self.redis.script("revoke an account's tokens", &call).await
    }

    async fn check(&self) -> Result<()> {
        self.redis.command("check", Cmd::new().arg("PING")).await
    }

    async fn version(&self) -> Result<Option<String>> {
        let info: String =
            self.redis.command("read the version", Cmd::new().arg("INFO").arg("server")).await?;
        Ok(version_in(&info))
    }
}

/// Name and version in the server's description of itself. Servers of the Redis protocol also give the version of Redis
/// that they are compatible with.
fn version_in(info: &str) -> Option<String> {
    let field = |name: &str| info.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':'));
    match field("valkey_version") {
        Some(version) => Some(format!("Valkey {version}")),
        None => field("redis_version").map(|version| format!("Redis {version}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_read_from_the_description_of_the_server() {
        let redis = "# Server\r\nredis_version:7.4.1\r\nredis_mode:standalone\r\n";
        assert_eq!(version_in(redis).as_deref(), Some("Redis 7.4.1"));
        let valkey = "# Server\r\nredis_version:7.2.4\r\nvalkey_version:8.0.1\r\n";
        assert_eq!(version_in(valkey).as_deref(), Some("Valkey 8.0.1"));
        assert_eq!(version_in("# Server\r\n"), None);
    }
}
