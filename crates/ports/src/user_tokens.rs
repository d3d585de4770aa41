//! Verification of the tokens by which another program names its users.

use crate::token_signer::TokenError;
use chrono::{DateTime, Utc};
use docent_domain::external_file::ExternalId;

/// Verifies tokens that another program signed with a secret that it shares with this service, without accessing a store.
pub trait UserTokenVerifier: Send + Sync {
    /// Returns the ID of the user that a token names.
    ///
    /// # Errors
    /// If the token was not signed with the shared secret, names no user, has no time of expiry, or is not valid at `now`.
    fn verify(&self, token: &str, now: DateTime<Utc>) -> Result<ExternalId, TokenError>;
}
