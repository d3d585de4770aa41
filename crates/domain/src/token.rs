//! What access and refresh tokens say.

use crate::id::{FamilyId, TokenId, UserId};
use chrono::{DateTime, Utc};

/// The claims of an access token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessClaims {
    /// Whose it is (`sub`).
    pub user: UserId,
    /// Which token it is (`jti`).
    pub id: TokenId,
    /// When it was issued (`iat`).
    pub issued_at: DateTime<Utc>,
    /// From when on it is refused (`exp`).
    pub expires_at: DateTime<Utc>,
}

/// The claims of a refresh token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshClaims {
    /// Whose it is (`sub`).
    pub user: UserId,
    /// Which token it is (`jti`).
    pub id: TokenId,
    /// The login that it descends from.
    pub family: FamilyId,
    /// When it was issued (`iat`).
    pub issued_at: DateTime<Utc>,
    /// From when on it is refused (`exp`).
    pub expires_at: DateTime<Utc>,
}
