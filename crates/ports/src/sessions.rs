//! Sessions in the relational store.

use crate::{
    error::Result,
    page::{Page, PageRequest},
};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::{
    id::{SessionId, UserId},
    session::{Session, SessionKind},
};

/// Which sessions to list.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    /// Only this account's.
    pub user: Option<UserId>,
    /// Only those of this kind.
    pub kind: Option<SessionKind>,
    /// Only those that are good at this instant.
    pub good_at: Option<DateTime<Utc>>,
}

/// Reads sessions.
#[async_trait]
pub trait SessionReader: Send {
    /// The session with this id.
    async fn get(&mut self, id: SessionId) -> Result<Option<Session>>;

    /// Sessions, the one used last first.
    async fn list(&mut self, filter: &SessionFilter, page: PageRequest) -> Result<Page<Session>>;
}

/// Reads and changes sessions.
#[async_trait]
pub trait SessionWriter: SessionReader {
    /// Adds a session.
    ///
    /// # Errors
    /// When there is one with this id, or its account does not exist.
    async fn insert(&mut self, session: &Session) -> Result<()>;

    /// Takes note of a use, and of a new end; says whether the session is there and not revoked. An earlier
    /// instant than the one known changes nothing.
    async fn touch(&mut self, id: SessionId, at: DateTime<Utc>, expires_at: DateTime<Utc>) -> Result<bool>;

    /// Makes a session void; says whether it was not yet.
    async fn revoke(&mut self, id: SessionId, at: DateTime<Utc>) -> Result<bool>;

    /// Makes all sessions of an account void; says which were not yet.
    async fn revoke_of(&mut self, user: UserId, at: DateTime<Utc>) -> Result<Vec<SessionId>>;

    /// Removes at most `limit` sessions that ended, by themselves or not, before `before`; says how many.
    async fn purge(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64>;
}
