//! Verification tokens in SQL.

use super::entities::verification_tokens::{Column, Entity};
use super::transaction::Transaction;
use super::values::micros;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::{UserId, VerificationId};
use docent_domain::listing::{Page, PageRequest};
use docent_domain::verification::{VerificationPurpose, VerificationToken};
use docent_ports::verifications::{VerificationReader, VerificationWriter};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryTrait};

#[async_trait]
impl VerificationReader for Transaction {
    async fn get(&mut self, id: VerificationId) -> Result<Option<VerificationToken>> {
        self.fetch_one("read a verification token", Entity::find_by_id(id.as_uuid())).await
    }

    async fn by_sha256(&mut self, sha256: &[u8; 32]) -> Result<Option<VerificationToken>> {
        self.fetch_one("find a verification token", Entity::find().filter(Column::Sha256.eq(sha256.to_vec())))
            .await
    }

    async fn list(&mut self, user: Option<UserId>, page: PageRequest) -> Result<Page<VerificationToken>> {
        let rows = Entity::find().apply_if(user, |rows, user| rows.filter(Column::UserId.eq(user.as_uuid())));
        self.list_newest("list verification tokens", rows, [Column::CreatedAt, Column::Id], page).await
    }
}

#[async_trait]
impl VerificationWriter for Transaction {
    async fn insert(&mut self, verification: &VerificationToken) -> Result<()> {
        self.insert_record("add a verification token", verification).await
    }

    async fn remove(&mut self, id: VerificationId) -> Result<bool> {
        self.delete_by_id::<Entity>("remove a verification token", id.as_uuid()).await
    }

    async fn remove_for_user(&mut self, user: UserId, purpose: Option<VerificationPurpose>) -> Result<u64> {
        let delete = Entity::delete_many()
            .filter(Column::UserId.eq(user.as_uuid()))
            .apply_if(purpose, |delete, purpose| delete.filter(Column::Purpose.eq(purpose.name())));
        self.delete_rows("remove verification tokens", delete).await
    }

    async fn purge(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64> {
        let expired = Column::ExpiresAt.lt(micros(before));
        self.purge::<Entity>("purge verification tokens", Column::Id, expired, limit).await
    }
}
