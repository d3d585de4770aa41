//! Verification tokens in the relational store.

use crate::{
    error::Result,
    page::{Page, PageRequest},
};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::{
    id::{UserId, VerificationId},
    verification::{VerificationPurpose, VerificationToken},
};

/// Reads verification tokens.
#[async_trait]
pub trait VerificationReader: Send {
    /// The token with this id.
    async fn get(&mut self, id: VerificationId) -> Result<Option<VerificationToken>>;

    /// The token whose secret has this SHA-256.
    async fn by_sha256(&mut self, sha256: &[u8; 32]) -> Result<Option<VerificationToken>>;

    /// Tokens, newest first; of one account when given.
    async fn list(&mut self, user: Option<UserId>, page: PageRequest) -> Result<Page<VerificationToken>>;
}

/// Reads and changes verification tokens.
#[async_trait]
pub trait VerificationWriter: VerificationReader {
    /// Adds a token in the place of the one that its account had for its purpose.
    ///
    /// # Errors
    /// When its account does not exist.
    async fn put(&mut self, verification: &VerificationToken) -> Result<()>;

    /// Removes a token, used or revoked; says whether it was there. Of several at once one is told so.
    async fn remove(&mut self, id: VerificationId) -> Result<bool>;

    /// Removes those of an account, of one purpose when given; says how many.
    async fn remove_of(&mut self, user: UserId, purpose: Option<VerificationPurpose>) -> Result<u64>;

    /// Removes at most `limit` of those that ended before `before`; says how many.
    async fn purge(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64>;
}
