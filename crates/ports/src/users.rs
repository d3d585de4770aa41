//! Accounts in the relational store.

use crate::{
    error::Result,
    page::{Page, PageRequest},
};
use async_trait::async_trait;
use docent_domain::{
    id::{GroupId, UserId},
    text::Email,
    user::User,
};
use std::collections::HashMap;

/// Which accounts to list.
#[derive(Clone, Debug, Default)]
pub struct UserFilter {
    /// Only those whose address holds this text, ASCII letters in either case.
    pub text: Option<String>,
    /// Only those that are active, or not.
    pub is_active: Option<bool>,
    /// Only those that may enter the panel (`is_staff` or `is_superuser`), or may not.
    pub may_enter: Option<bool>,
    /// Only superusers, or only others.
    pub is_superuser: Option<bool>,
    /// Only members of this group.
    pub group: Option<GroupId>,
    /// In which order.
    pub order: UserOrder,
}

/// The order of a list of accounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UserOrder {
    /// By address.
    #[default]
    Email,
    /// The one created last first.
    Newest,
    /// The one that logged in last first, those that never did at the end.
    LastLogin,
}

/// Reads accounts.
#[async_trait]
pub trait UserReader: Send {
    /// The account with this id.
    async fn get(&mut self, id: UserId) -> Result<Option<User>>;

    /// The account with this address.
    async fn by_email(&mut self, email: &Email) -> Result<Option<User>>;

    /// How many there are.
    async fn count(&mut self) -> Result<u64>;

    /// Accounts of a kind.
    async fn list(&mut self, filter: &UserFilter, page: PageRequest) -> Result<Page<User>>;

    /// The addresses of those of these accounts that exist.
    async fn emails(&mut self, ids: &[UserId]) -> Result<HashMap<UserId, Email>>;
}

/// Reads and changes accounts.
#[async_trait]
pub trait UserWriter: UserReader {
    /// Adds an account; `false`, and nothing added, when its address is taken.
    async fn insert(&mut self, user: &User) -> Result<bool>;

    /// Writes the account's present values; says whether there was one with its id.
    async fn update(&mut self, user: &User) -> Result<bool>;

    /// Removes an account with its rights, keys, sessions, verification tokens and conversations; says whether
    /// there was one. Its documents stay, without an owner, and so do the ledger and the audit log.
    async fn delete(&mut self, id: UserId) -> Result<bool>;
}
