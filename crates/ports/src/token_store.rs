//! Storage of refresh token families.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::{FamilyId, TokenId, UserId};
use docent_domain::token::RefreshClaims;
use std::time::Duration;

/// A use of a refresh token.
#[derive(Clone, Copy, Debug)]
pub struct Rotation {
    /// Family claimed by the token.
    pub family: FamilyId,
    /// Presented token.
    pub presented: TokenId,
    /// Token that replaces it, unless it was replaced already.
    pub successor: TokenId,
    /// Expiry time of the successor and the family.
    pub expires_at: DateTime<Utc>,
    /// How long a replaced token remains usable, for clients that did not receive the response.
    pub grace: Duration,
    /// Time of the use.
    pub now: DateTime<Utc>,
}

/// The result of a [`Rotation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotationOutcome {
    /// The family's only valid token: the successor, or the token that replaced the presented one within the grace
    /// period.
    Renewed {
        /// ID of the token.
        token: TokenId,
        /// Expiry time of the token.
        expires_at: DateTime<Utc>,
    },
    /// The presented token was replaced before the grace period. It counts as stolen, and the family was revoked.
    Reused,
    /// The family is unknown, or the token has expired.
    Unknown,
}

/// Stores refresh token families: a login starts one, a refresh rotates its token, a logout revokes it.
///
/// A family has one valid token. Callers have verified the signature of a presented token, so every other token of the
/// family has been replaced.
///
/// Every call is atomic. A fault changes nothing, and callers must then reject the request (fail closed).
#[async_trait]
pub trait TokenStore: Send + Sync {
    /// Starts a family with its first token.
    async fn start(&self, first: &RefreshClaims) -> Result<()>;

    /// Rotates a token. Further uses within the grace period get the token that is valid then.
    async fn rotate(&self, rotation: Rotation) -> Result<RotationOutcome>;

    /// Revokes a family. Idempotent.
    async fn revoke(&self, family: FamilyId) -> Result<()>;

    /// Revokes every family of an account.
    async fn revoke_all(&self, user: UserId, now: DateTime<Utc>) -> Result<()>;

    /// Checks that the store is reachable.
    async fn check(&self) -> Result<()>;

    /// Name and version of the server, such as `Redis 7.4.1`; `None` without one.
    async fn version(&self) -> Result<Option<String>> {
        Ok(None)
    }
}
