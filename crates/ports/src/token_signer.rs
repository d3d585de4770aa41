//! Signing and verification of tokens.

use chrono::{DateTime, Utc};
use docent_domain::token::{AccessClaims, ConnectionClaims, ConnectionToken, RefreshClaims};
use thiserror::Error;

/// Why a token is rejected, for tests and logs. Clients do not see the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TokenError {
    /// Malformed, incomplete, or signed with another key or algorithm.
    #[error("the token is not valid")]
    Invalid,
    /// Expired.
    #[error("the token has expired")]
    Expired,
    /// A valid token of the other type.
    #[error("the token is of another type")]
    WrongType,
}

/// Signs and verifies tokens without accessing a store.
pub trait TokenSigner: Send + Sync {
    /// Signs an access token.
    fn sign_access(&self, claims: &AccessClaims) -> String;

    /// Signs a refresh token.
    fn sign_refresh(&self, claims: &RefreshClaims) -> String;

    /// Signs a token of a connected application.
    fn sign_connection(&self, kind: ConnectionToken, claims: &ConnectionClaims) -> String;

    /// Verifies an access token.
    ///
    /// # Errors
    /// If the token was not signed by this service or is not valid at `now`.
    fn verify_access(&self, token: &str, now: DateTime<Utc>) -> Result<AccessClaims, TokenError>;

    /// Verifies a refresh token.
    ///
    /// # Errors
    /// If the token was not signed by this service or is not valid at `now`.
    fn verify_refresh(&self, token: &str, now: DateTime<Utc>) -> Result<RefreshClaims, TokenError>;

    /// Verifies a token of a connected application.
    ///
    /// # Errors
    /// If the token was not signed by this service, is not of this kind, or is not valid at `now`.
    fn verify_connection(
        &self,
        kind: ConnectionToken,
        token: &str,
        now: DateTime<Utc>,
    ) -> Result<ConnectionClaims, TokenError>;
}
