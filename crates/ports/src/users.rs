//! Accounts in the relational store.

use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_domain::id::UserId;
use docent_domain::listing::{Page, PageRequest, UserFilter};
use docent_domain::text::Email;
use docent_domain::user::{Person, User};
use std::collections::HashMap;

/// Reads accounts.
#[async_trait]
pub trait UserReader: Send {
    /// Returns the account with this ID.
    async fn get(&mut self, id: UserId) -> Result<Option<User>>;

    /// Returns the account with this email address.
    async fn by_email(&mut self, email: &Email) -> Result<Option<User>>;

    /// Counts the accounts.
    async fn count(&mut self) -> Result<u64>;

    /// Lists accounts.
    async fn list(&mut self, filter: &UserFilter, page: PageRequest) -> Result<Page<User>>;

    /// Returns how others see these accounts, as far as they exist.
    async fn people(&mut self, ids: &[UserId]) -> Result<HashMap<UserId, Person>>;

    /// Returns the email addresses of these accounts, as far as they exist.
    async fn emails(&mut self, ids: &[UserId]) -> Result<HashMap<UserId, Email>> {
        Ok(self.people(ids).await?.into_iter().map(|(id, person)| (id, person.email)).collect())
    }
}

/// Reads and changes accounts.
#[async_trait]
pub trait UserWriter: UserReader {
    /// Adds an account. Returns `false` without adding it if the email address is already used.
    async fn insert(&mut self, user: &User) -> Result<bool>;

    /// Updates an account. Returns whether it existed.
    async fn update(&mut self, user: &User) -> Result<bool>;

    /// Deletes an account with its permissions, API keys, sessions, verification tokens and conversations. Returns
    /// whether it existed. Its documents remain without an owner; usage records and the audit log remain.
    async fn delete(&mut self, id: UserId) -> Result<bool>;
}
