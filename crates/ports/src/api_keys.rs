//! API keys in the relational store.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::api_key::{ApiKey, ApiKeyPrefix};
use docent_domain::connection::Connection;
use docent_domain::fault::Result;
use docent_domain::id::{ApiKeyId, UserId};
use docent_domain::listing::{ApiKeyFilter, Page, PageRequest};

/// Reads API keys.
#[async_trait]
pub trait ApiKeyReader: Send {
    /// Returns the key with this ID.
    async fn get(&mut self, id: ApiKeyId) -> Result<Option<ApiKey>>;

    /// Returns the key with this prefix.
    async fn by_prefix(&mut self, prefix: &ApiKeyPrefix) -> Result<Option<ApiKey>>;

    /// Lists keys, newest first.
    async fn list(&mut self, filter: &ApiKeyFilter, page: PageRequest) -> Result<Page<ApiKey>>;
}

/// Reads and changes API keys. Keys are kept as long as their account exists, because usage records refer to them.
#[async_trait]
pub trait ApiKeyWriter: ApiKeyReader {
    /// Adds a key. Returns `false` without adding it if the prefix is already used.
    ///
    /// # Errors
    /// If the account does not exist.
    async fn insert(&mut self, key: &ApiKey) -> Result<bool>;

    /// Revokes a key. Returns whether it was not yet revoked; expiry is ignored.
    async fn revoke(&mut self, id: ApiKeyId, at: DateTime<Utc>) -> Result<bool>;

    /// Revokes the connected applications of an account. Returns how many were not yet revoked.
    async fn disconnect_for_user(&mut self, user: UserId, at: DateTime<Utc>) -> Result<u64>;

    /// Replaces the connection of a connected application and its expiry time. Returns whether the key exists.
    async fn renew(
        &mut self,
        id: ApiKeyId,
        connection: &Connection,
        expires_at: DateTime<Utc>,
    ) -> Result<bool>;

    /// Records a use. A time earlier than the recorded one is ignored.
    async fn touch(&mut self, id: ApiKeyId, at: DateTime<Utc>) -> Result<()>;
}
