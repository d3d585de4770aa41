//! Invitations in the relational store.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::InvitationId;
use docent_domain::invitation::Invitation;
use docent_domain::listing::{Page, PageRequest};
use docent_domain::text::Email;

/// Reads invitations.
#[async_trait]
pub trait InvitationReader: Send {
    /// Returns the invitation with this ID.
    async fn get(&mut self, id: InvitationId) -> Result<Option<Invitation>>;

    /// Returns the invitation of this email address.
    async fn by_email(&mut self, email: &Email) -> Result<Option<Invitation>>;

    /// Returns the invitation whose secret has this SHA-256 digest.
    async fn by_sha256(&mut self, sha256: &[u8; 32]) -> Result<Option<Invitation>>;

    /// Lists invitations, newest first; only those whose email address contains `text`, ignoring ASCII case.
    async fn list(&mut self, text: Option<&str>, page: PageRequest) -> Result<Page<Invitation>>;
}

/// Reads and changes invitations.
#[async_trait]
pub trait InvitationWriter: InvitationReader {
    /// Adds an invitation. Returns `false` without adding it if its email address has one.
    ///
    /// # Errors
    /// If the ID or the digest exists, or the inviting account does not exist.
    async fn insert(&mut self, invitation: &Invitation) -> Result<bool>;

    /// Updates an invitation. Returns whether it existed.
    ///
    /// # Errors
    /// If the inviting account does not exist.
    async fn update(&mut self, invitation: &Invitation) -> Result<bool>;

    /// Removes an invitation. Returns whether it existed; of concurrent calls exactly one gets `true`.
    async fn remove(&mut self, id: InvitationId) -> Result<bool>;

    /// Removes at most `limit` invitations that expired before `before`. Returns how many.
    async fn purge(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64>;
}
