//! OAuth clients and authorization codes in the relational store.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::{AuthorizationCodeId, OAuthClientId};
use docent_domain::oauth::{AuthorizationCode, RegisteredClient};

/// Reads OAuth clients and authorization codes.
#[async_trait]
pub trait OAuthReader: Send {
    /// Returns the client with this ID.
    async fn client(&mut self, id: OAuthClientId) -> Result<Option<RegisteredClient>>;

    /// Returns the code whose secret has this SHA-256 digest.
    async fn code(&mut self, sha256: &[u8; 32]) -> Result<Option<AuthorizationCode>>;
}

/// Reads and changes OAuth clients and authorization codes.
#[async_trait]
pub trait OAuthWriter: OAuthReader {
    /// Adds a client.
    ///
    /// # Errors
    /// If the ID exists.
    async fn insert_client(&mut self, client: &RegisteredClient) -> Result<()>;

    /// Records a use of a client. A time earlier than the recorded one is ignored, and so is an unknown client.
    async fn touch_client(&mut self, id: OAuthClientId, at: DateTime<Utc>) -> Result<()>;

    /// Removes at most `limit` clients that were never used and registered before `unused_before`, or last used before
    /// `used_before`. Returns how many.
    async fn purge_clients(
        &mut self,
        unused_before: DateTime<Utc>,
        used_before: DateTime<Utc>,
        limit: u64,
    ) -> Result<u64>;

    /// Adds a code.
    ///
    /// # Errors
    /// If the ID or the digest exists, or the account does not exist.
    async fn insert_code(&mut self, code: &AuthorizationCode) -> Result<()>;

    /// Records that a code was exchanged. Returns whether it was not exchanged before; of concurrent calls exactly one gets
    /// `true`.
    async fn use_code(&mut self, id: AuthorizationCodeId, at: DateTime<Utc>) -> Result<bool>;

    /// Removes at most `limit` codes that expired before `before`. Returns how many.
    async fn purge_codes(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64>;
}
