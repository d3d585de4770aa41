//! Identities of accounts at identity providers in the relational store.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::{SessionId, UserId};
use docent_domain::identity::{Identity, LogoutRequest, ProviderSession};

/// Reads identities and the sign-ins at providers.
#[async_trait]
pub trait IdentityReader: Send {
    /// Returns the identity of this subject.
    async fn get(&mut self, issuer: &str, subject: &str) -> Result<Option<Identity>>;

    /// Lists the identities of an account, oldest first.
    async fn of_user(&mut self, user: UserId) -> Result<Vec<Identity>>;

    /// Returns the sign-in at a provider by which a session began; `None` for sessions that began otherwise.
    async fn session(&mut self, session: SessionId) -> Result<Option<ProviderSession>>;

    /// Lists the sessions that a provider asks to end, ended ones included: those of the provider's session if the request
    /// names one, otherwise all of the subject. A request that names neither has none.
    async fn sessions_to_end(&mut self, request: &LogoutRequest) -> Result<Vec<SessionId>>;
}

/// Reads and changes identities and the sign-ins at providers.
#[async_trait]
pub trait IdentityWriter: IdentityReader {
    /// Adds an identity. Returns `false` without adding it if the subject is connected with an account already.
    ///
    /// # Errors
    /// If the account does not exist.
    async fn insert(&mut self, identity: &Identity) -> Result<bool>;

    /// Records a sign-in. Returns whether the identity exists. A time earlier than the recorded one is ignored.
    async fn touch(&mut self, issuer: &str, subject: &str, at: DateTime<Utc>) -> Result<bool>;

    /// Removes an identity. Returns whether it existed.
    async fn remove(&mut self, issuer: &str, subject: &str) -> Result<bool>;

    /// Adds the sign-in by which a session began. It is removed with the session.
    ///
    /// # Errors
    /// If the session does not exist, or has a sign-in already.
    async fn insert_session(&mut self, session: &ProviderSession) -> Result<()>;
}
