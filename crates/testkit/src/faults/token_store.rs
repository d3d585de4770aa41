//! Token store with scripted faults.

use super::Faulty;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::{FamilyId, UserId};
use docent_domain::token::RefreshClaims;
use docent_ports::token_store::{Rotation, RotationOutcome, TokenStore};

#[async_trait]
impl TokenStore for Faulty<dyn TokenStore> {
    async fn start(&self, first: &RefreshClaims) -> Result<()> {
        self.pass()?.start(first).await
    }

    async fn rotate(&self, rotation: Rotation) -> Result<RotationOutcome> {
        self.pass()?.rotate(rotation).await
    }

    async fn revoke(&self, family: FamilyId) -> Result<()> {
        self.pass()?.revoke(family).await
    }

    async fn revoke_all(&self, user: UserId, now: DateTime<Utc>) -> Result<()> {
        self.pass()?.revoke_all(user, now).await
    }

    async fn check(&self) -> Result<()> {
        self.pass()?.check().await
    }

    async fn version(&self) -> Result<Option<String>> {
        self.pass()?.version().await
    }
}
