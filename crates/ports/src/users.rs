//! Accounts in the relational store.

use crate::error::Result;
use async_trait::async_trait;
use docent_domain::{id::UserId, text::Email, user::User};

/// Reads accounts.
#[async_trait]
pub trait UserReader: Send {
    /// The account with this id.
    async fn get(&mut self, id: UserId) -> Result<Option<User>>;

    /// The account with this address.
    async fn by_email(&mut self, email: &Email) -> Result<Option<User>>;

    /// How many there are.
    async fn count(&mut self) -> Result<u64>;
}

/// Reads and changes accounts.
#[async_trait]
pub trait UserWriter: UserReader {
    /// Adds an account; `false`, and nothing added, when its address is taken.
    async fn insert(&mut self, user: &User) -> Result<bool>;

    /// Writes the account's present values; says whether there was one with its id.
    async fn update(&mut self, user: &User) -> Result<bool>;
}
