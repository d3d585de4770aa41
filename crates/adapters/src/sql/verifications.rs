//! Verification tokens in SQL.

use super::{
    entities::verification_tokens::{Column, Entity, Model},
    fault::corrupt,
    session::Session,
    values::{digest, instant, micros},
};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::{
    id::{UserId, VerificationId},
    verification::{VerificationPurpose, VerificationToken},
};
use docent_ports::{
    error::Result,
    page::{Page, PageRequest},
    verifications::{VerificationReader, VerificationWriter},
};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect,
    QueryTrait, Select, sea_query::OnConflict,
};

#[async_trait]
impl VerificationReader for Session {
    async fn get(&mut self, id: VerificationId) -> Result<Option<VerificationToken>> {
        let query = self.hold(Entity::find_by_id(id.as_uuid()));
        let row = self.run("read a verification token", |db| Box::pin(query.one(db))).await?;
        row.map(from_row).transpose()
    }

    async fn by_sha256(&mut self, sha256: &[u8; 32]) -> Result<Option<VerificationToken>> {
        let query = self.hold(Entity::find().filter(Column::Sha256.eq(sha256.to_vec())));
        let row = self.run("find a verification token", |db| Box::pin(query.one(db))).await?;
        row.map(from_row).transpose()
    }

    async fn list(&mut self, user: Option<UserId>, page: PageRequest) -> Result<Page<VerificationToken>> {
        let mut rows = Entity::find();
        if let Some(user) = user {
            rows = rows.filter(Column::UserId.eq(user.as_uuid()));
        }
        let order = |rows: Select<Entity>| rows.order_by_desc(Column::CreatedAt).order_by_desc(Column::Id);
        self.listed("list verification tokens", rows, order, page, from_row).await
    }
}

#[async_trait]
impl VerificationWriter for Session {
    async fn put(&mut self, verification: &VerificationToken) -> Result<()> {
        let row = Model {
            id: verification.id.as_uuid(),
            user_id: verification.user.as_uuid(),
            purpose: verification.purpose.name().to_owned(),
            sha256: verification.sha256.to_vec(),
            created_at: micros(verification.created_at),
            expires_at: micros(verification.expires_at),
        };
        // In one statement: of two that remove the old one first, the second would find the first one's there.
        let replace = OnConflict::columns([Column::UserId, Column::Purpose])
            .update_columns([Column::Id, Column::Sha256, Column::CreatedAt, Column::ExpiresAt])
            .to_owned();
        let insert = Entity::insert(row.into_active_model().reset_all()).on_conflict(replace);
        self.run("put a verification token", |db| Box::pin(insert.exec_without_returning(db))).await?;
        Ok(())
    }

    async fn remove(&mut self, id: VerificationId) -> Result<bool> {
        let delete = Entity::delete_by_id(id.as_uuid());
        let result = self.run("remove a verification token", |db| Box::pin(delete.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }

    async fn remove_for_user(&mut self, user: UserId, purpose: Option<VerificationPurpose>) -> Result<u64> {
        let mut delete = Entity::delete_many().filter(Column::UserId.eq(user.as_uuid()));
        if let Some(purpose) = purpose {
            delete = delete.filter(Column::Purpose.eq(purpose.name()));
        }
        let result = self.run("remove verification tokens", |db| Box::pin(delete.exec(db))).await?;
        Ok(result.rows_affected)
    }

    async fn purge(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64> {
        let over = Column::ExpiresAt.lt(micros(before));
        let some = Entity::find().select_only().column(Column::Id).filter(over).limit(limit).into_query();
        let delete = Entity::delete_many().filter(Column::Id.in_subquery(some));
        let result = self.run("purge verification tokens", |db| Box::pin(delete.exec(db))).await?;
        Ok(result.rows_affected)
    }
}

fn from_row(row: Model) -> Result<VerificationToken> {
    let when = |micros| instant(micros, "verification token's time");
    Ok(VerificationToken {
        id: VerificationId::from_uuid(row.id),
        user: UserId::from_uuid(row.user_id),
        purpose: VerificationPurpose::parse(&row.purpose)
            .ok_or_else(|| corrupt("verification token's purpose"))?,
        sha256: digest(&row.sha256, "verification token's digest")?,
        created_at: when(row.created_at)?,
        expires_at: when(row.expires_at)?,
    })
}
