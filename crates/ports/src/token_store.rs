//! Which refresh tokens are still good.

use crate::error::Result;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::id::{FamilyId, TokenId, UserId};
use std::time::Duration;

/// One use of a refresh token.
#[derive(Clone, Copy, Debug)]
pub struct Rotation {
    /// The family that the token says it belongs to.
    pub family: FamilyId,
    /// The token presented.
    pub presented: TokenId,
    /// The token that takes its place.
    pub successor: TokenId,
    /// When the successor expires, and the family with it.
    pub expires_at: DateTime<Utc>,
    /// How long a replaced token stays usable, for clients that did not get the answer.
    pub grace: Duration,
    /// The time of use.
    pub now: DateTime<Utc>,
}

/// What became of a [`Rotation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotationOutcome {
    /// The successor is good now; so is the presented token, until its grace is over.
    Renewed,
    /// The presented token had been replaced longer ago than the grace: it counts as stolen, and the
    /// whole family is revoked now.
    Reused,
    /// The family or the token is not known: revoked, expired or never issued.
    Unknown,
}

/// Keeps families of refresh tokens: a login starts one, a refresh adds to it, a logout ends it.
///
/// Every call is one atomic step. A fault leaves the store as it was; callers must then refuse
/// (fail closed).
#[async_trait]
pub trait TokenStore: Send + Sync {
    /// Starts a family with its first token.
    async fn start(
        &self,
        user: UserId,
        family: FamilyId,
        token: TokenId,
        expires_at: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<()>;

    /// Uses a token. Two uses within the grace both succeed, and both successors are good.
    async fn rotate(&self, rotation: Rotation) -> Result<RotationOutcome>;

    /// Revokes a family. May be repeated.
    async fn revoke(&self, family: FamilyId) -> Result<()>;

    /// Revokes every family of an account.
    async fn revoke_all(&self, user: UserId, now: DateTime<Utc>) -> Result<()>;

    /// Whether the store can be reached.
    async fn check(&self) -> Result<()>;
}
