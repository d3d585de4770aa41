//! Signing and verifying tokens.

use chrono::{DateTime, Utc};
use docent_domain::token::{AccessClaims, RefreshClaims};
use thiserror::Error;

/// A token that is not accepted. The reasons are for tests and logs; clients are told none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TokenError {
    /// It is no token, lacks claims, or is signed with another key or algorithm.
    #[error("the token is not valid")]
    Invalid,
    /// Its time is over.
    #[error("the token has expired")]
    Expired,
    /// It is a good token of the other type.
    #[error("the token is of another type")]
    WrongType,
}

/// Makes and checks signed tokens. Pure: no store is asked.
pub trait TokenSigner: Send + Sync {
    /// Signs an access token.
    fn sign_access(&self, claims: &AccessClaims) -> String;

    /// Signs a refresh token.
    fn sign_refresh(&self, claims: &RefreshClaims) -> String;

    /// Reads an access token.
    ///
    /// # Errors
    /// When it is not one that this service signed and that is good at `now`.
    fn verify_access(&self, token: &str, now: DateTime<Utc>) -> Result<AccessClaims, TokenError>;

    /// Reads a refresh token.
    ///
    /// # Errors
    /// When it is not one that this service signed and that is good at `now`.
    fn verify_refresh(&self, token: &str, now: DateTime<Utc>) -> Result<RefreshClaims, TokenError>;
}
