//! Sessions in the relational store.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::{SessionId, UserId};
use docent_domain::listing::{Page, PageRequest, SessionFilter};
use docent_domain::session::Session;
use docent_domain::user::User;
use std::net::IpAddr;

/// Reads sessions.
#[async_trait]
pub trait SessionReader: Send {
    /// Returns the session with this ID.
    async fn get(&mut self, id: SessionId) -> Result<Option<Session>>;

    /// Returns the session with this ID and its account.
    async fn with_user(&mut self, id: SessionId) -> Result<Option<(Session, User)>>;

    /// Lists sessions, last used first.
    async fn list(&mut self, filter: &SessionFilter, page: PageRequest) -> Result<Page<Session>>;

    /// Returns the distinct addresses of an account's sessions, ended ones included: at most `limit`, those used last.
    async fn addresses(&mut self, user: UserId, limit: u64) -> Result<Vec<IpAddr>>;
}

/// Reads and changes sessions.
#[async_trait]
pub trait SessionWriter: SessionReader {
    /// Adds a session.
    ///
    /// # Errors
    /// If the ID exists, or the account does not exist.
    async fn insert(&mut self, session: &Session) -> Result<()>;

    /// Records a use and a new expiry time. Returns whether the session exists and is not revoked. A time earlier than
    /// the recorded one is ignored.
    async fn touch(&mut self, id: SessionId, at: DateTime<Utc>, expires_at: DateTime<Utc>) -> Result<bool>;

    /// Records a proof of identity. Returns whether the session exists and is not revoked.
    async fn verify(&mut self, id: SessionId, at: DateTime<Utc>) -> Result<bool>;

    /// Revokes a session. Returns whether it was not yet revoked.
    async fn revoke(&mut self, id: SessionId, at: DateTime<Utc>) -> Result<bool>;

    /// Revokes all sessions of an account. Returns those that were not yet revoked.
    async fn revoke_for_user(&mut self, user: UserId, at: DateTime<Utc>) -> Result<Vec<SessionId>>;

    /// Removes at most `limit` sessions that expired or were revoked before `before`. Returns how many.
    async fn purge(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64>;
}
