//! Password hashing.

use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_domain::user::{Password, PasswordHash};

/// Hashes and verifies passwords outside the async threads, because it is deliberately slow.
#[async_trait]
pub trait PasswordHasher: Send + Sync {
    /// Hashes a password with a new salt.
    async fn hash(&self, password: Password) -> Result<PasswordHash>;

    /// Whether `password` matches `hash`. Without a hash it returns `false` after the same time, so that callers cannot
    /// find out whether an account exists.
    ///
    /// # Errors
    /// `Unavailable` if too many calls are waiting.
    async fn verify(&self, password: Password, hash: Option<PasswordHash>) -> Result<bool>;

    /// As [`verify`](Self::verify), but does not wait for calls of [`verify`](Self::verify) and [`hash`](Self::hash):
    /// it has places and capacity of its own.
    async fn verify_reserved(&self, password: Password, hash: Option<PasswordHash>) -> Result<bool>;
}
