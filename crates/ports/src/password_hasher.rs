//! Hashing passwords.

use crate::error::Result;
use async_trait::async_trait;
use docent_domain::user::{Password, PasswordHash};

/// Hashes and checks passwords, slowly and off the async threads.
#[async_trait]
pub trait PasswordHasher: Send + Sync {
    /// Hashes a password with a new salt.
    async fn hash(&self, password: Password) -> Result<PasswordHash>;

    /// Whether `password` is the one behind `hash`. Without a hash the answer is `false`, after as
    /// much time as with one: who asks cannot tell whether the account exists.
    async fn verify(&self, password: Password, hash: Option<PasswordHash>) -> Result<bool>;
}
