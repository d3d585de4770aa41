//! Claims of access and refresh tokens.

use crate::api_key::ApiKeyScopes;
use crate::id::{ApiKeyId, FamilyId, SessionId, TokenId, UserId};
use chrono::{DateTime, Utc};

/// The claims of an access token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessClaims {
    /// Account (`sub`).
    pub user: UserId,
    /// Token ID (`jti`).
    pub id: TokenId,
    /// Session that it belongs to (`sid`), with which it ends. Tokens of other issuers with the same key may have none.
    pub session: Option<SessionId>,
    /// Time of issue (`iat`).
    pub issued_at: DateTime<Utc>,
    /// Expiry time (`exp`).
    pub expires_at: DateTime<Utc>,
}

/// The claims of a refresh token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshClaims {
    /// Account (`sub`).
    pub user: UserId,
    /// Token ID (`jti`).
    pub id: TokenId,
    /// Token family: the login that it descends from.
    pub family: FamilyId,
    /// Time of issue (`iat`).
    pub issued_at: DateTime<Utc>,
    /// Expiry time (`exp`).
    pub expires_at: DateTime<Utc>,
}

/// A token of a connected application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionToken {
    /// Sent with each request.
    Access,
    /// Exchanged for new tokens.
    Refresh,
}

/// The claims of a token of a connected application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionClaims {
    /// Account (`sub`).
    pub user: UserId,
    /// Token ID (`jti`).
    pub id: TokenId,
    /// The API key of the application.
    pub api_key: ApiKeyId,
    /// Scopes of the token: those of the key, or fewer.
    pub scopes: ApiKeyScopes,
    /// Time of issue (`iat`).
    pub issued_at: DateTime<Utc>,
    /// Expiry time (`exp`).
    pub expires_at: DateTime<Utc>,
}
