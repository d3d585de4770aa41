//! Token store with scripted faults.

use super::Faulty;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::{
    fault::Result,
    id::{FamilyId, TokenId, UserId},
};
use docent_ports::token_store::{Rotation, RotationOutcome, TokenStore};

#[async_trait]
impl TokenStore for Faulty<dyn TokenStore> {
    async fn start(
        &self,
        user: UserId,
        family: FamilyId,
        token: TokenId,
        expires_at: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.pass()?.start(user, family, token, expires_at, now).await
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
}
