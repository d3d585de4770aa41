//! Fast, insecure password hasher.

use async_trait::async_trait;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::user::{Password, PasswordHash};
use docent_ports::password_hasher::PasswordHasher;
use std::sync::atomic::{AtomicU64, Ordering};

/// Stores the password in the "hash" with a counter as salt.
#[derive(Debug, Default)]
pub struct FakePasswordHasher {
    salt: AtomicU64,
}

#[async_trait]
impl PasswordHasher for FakePasswordHasher {
    async fn hash(&self, password: Password) -> Result<PasswordHash> {
        let salt = self.salt.fetch_add(1, Ordering::Relaxed);
        // Reversed, so that tests which search for the plaintext do not find it.
        let text: String = password.expose().chars().rev().collect();
        Ok(PasswordHash::from_phc(format!("$fake${salt}${text}")))
    }

    async fn verify(&self, password: Password, hash: Option<PasswordHash>) -> Result<bool> {
        let Some(hash) = hash else { return Ok(false) };
        let text = hash.as_phc().strip_prefix("$fake$").and_then(|rest| rest.split_once('$'));
        let Some((_, text)) = text else {
            return Err(Fault::new(Component::Service, FaultKind::Internal, "read a stored password hash"));
        };
        Ok(password.expose().chars().rev().eq(text.chars()))
    }

    async fn verify_reserved(&self, password: Password, hash: Option<PasswordHash>) -> Result<bool> {
        self.verify(password, hash).await
    }
}
