//! Verification tokens in the relational store.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::{UserId, VerificationId};
use docent_domain::listing::{Page, PageRequest};
use docent_domain::verification::{VerificationPurpose, VerificationToken};

/// Reads verification tokens.
#[async_trait]
pub trait VerificationReader: Send {
    /// Returns the token with this ID.
    async fn get(&mut self, id: VerificationId) -> Result<Option<VerificationToken>>;

    /// Returns the token whose secret has this SHA-256 digest.
    async fn by_sha256(&mut self, sha256: &[u8; 32]) -> Result<Option<VerificationToken>>;

    /// Lists tokens, newest first, of all accounts or of one.
    async fn list(&mut self, user: Option<UserId>, page: PageRequest) -> Result<Page<VerificationToken>>;
}

/// Reads and changes verification tokens.
#[async_trait]
pub trait VerificationWriter: VerificationReader {
    /// Adds a token.
    ///
    /// # Errors
    /// If the ID or the digest exists, or the account does not exist.
    async fn insert(&mut self, verification: &VerificationToken) -> Result<()>;

    /// Removes a token. Returns whether it existed; of concurrent calls exactly one gets `true`.
    async fn remove(&mut self, id: VerificationId) -> Result<bool>;

    /// Removes the tokens of an account, of all purposes or of one. Returns how many.
    async fn remove_for_user(&mut self, user: UserId, purpose: Option<VerificationPurpose>) -> Result<u64>;

    /// Removes at most `limit` tokens that expired before `before`. Returns how many.
    async fn purge(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64>;
}
