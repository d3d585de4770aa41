//! API keys in the relational store.

use crate::{
    error::Result,
    page::{Page, PageRequest},
};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::{
    api_key::{ApiKey, ApiKeyPrefix},
    id::{ApiKeyId, UserId},
};

/// Which keys to list.
#[derive(Clone, Debug, Default)]
pub struct ApiKeyFilter {
    /// Only this account's.
    pub user: Option<UserId>,
    /// Only those that are good at this instant.
    pub good_at: Option<DateTime<Utc>>,
    /// Only those whose name or prefix holds this text, ASCII letters in either case.
    pub text: Option<String>,
}

/// Reads API keys.
#[async_trait]
pub trait ApiKeyReader: Send {
    /// The key with this id.
    async fn get(&mut self, id: ApiKeyId) -> Result<Option<ApiKey>>;

    /// The key with this prefix.
    async fn by_prefix(&mut self, prefix: &ApiKeyPrefix) -> Result<Option<ApiKey>>;

    /// Keys, newest first.
    async fn list(&mut self, filter: &ApiKeyFilter, page: PageRequest) -> Result<Page<ApiKey>>;
}

/// Reads and changes API keys. They are never removed while their account exists: the usage ledger names them.
#[async_trait]
pub trait ApiKeyWriter: ApiKeyReader {
    /// Adds a key; `false`, and nothing added, when its prefix is taken.
    ///
    /// # Errors
    /// When its account does not exist.
    async fn insert(&mut self, key: &ApiKey) -> Result<bool>;

    /// Makes a key void; says whether it was good until now (one past its end is, if it was not revoked).
    async fn revoke(&mut self, id: ApiKeyId, at: DateTime<Utc>) -> Result<bool>;

    /// Makes all keys of an account void; says how many were not yet.
    async fn revoke_of(&mut self, user: UserId, at: DateTime<Utc>) -> Result<u64>;

    /// Takes note of a use; an earlier instant than the one known changes nothing.
    async fn touch(&mut self, id: ApiKeyId, at: DateTime<Utc>) -> Result<()>;
}
