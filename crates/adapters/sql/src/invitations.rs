//! Invitations in SQL.

use super::entities::invitations::{ActiveModel, Column, Entity};
use super::listing::contains;
use super::record::Record;
use super::transaction::Transaction;
use super::values::micros;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::InvitationId;
use docent_domain::invitation::Invitation;
use docent_domain::listing::{Page, PageRequest};
use docent_domain::text::Email;
use docent_ports::invitations::{InvitationReader, InvitationWriter};
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{ColumnTrait, EntityTrait, NotSet, QueryFilter, QueryTrait};

#[async_trait]
impl InvitationReader for Transaction {
    async fn get(&mut self, id: InvitationId) -> Result<Option<Invitation>> {
        self.fetch_one("read an invitation", Entity::find_by_id(id.as_uuid())).await
    }

    async fn by_email(&mut self, email: &Email) -> Result<Option<Invitation>> {
        self.fetch_one("find an invitation", Entity::find().filter(Column::Email.eq(email.as_str()))).await
    }

    async fn by_sha256(&mut self, sha256: &[u8; 32]) -> Result<Option<Invitation>> {
        self.fetch_one("find an invitation", Entity::find().filter(Column::Sha256.eq(sha256.to_vec()))).await
    }

    async fn list(&mut self, text: Option<&str>, page: PageRequest) -> Result<Page<Invitation>> {
        let rows = Entity::find().apply_if(text, |rows, text| {
            rows.filter(contains(Expr::col(Column::Email), text, self.backend()))
        });
        self.list_newest("list invitations", rows, [Column::CreatedAt, Column::Id], page).await
    }
}

#[async_trait]
impl InvitationWriter for Transaction {
    async fn insert(&mut self, invitation: &Invitation) -> Result<bool> {
        self.insert_new("add an invitation", invitation, OnConflict::column(Column::Email)).await
    }

    async fn update(&mut self, invitation: &Invitation) -> Result<bool> {
        let row = ActiveModel { id: NotSet, ..invitation.to_row()? };
        let update = Entity::update_many().set(row).filter(Column::Id.eq(invitation.id.as_uuid()));
        Ok(self.update_rows("change an invitation", update).await? > 0)
    }

    async fn remove(&mut self, id: InvitationId) -> Result<bool> {
        self.delete_by_id::<Entity>("remove an invitation", id.as_uuid()).await
    }

    async fn purge(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64> {
        let expired = Column::ExpiresAt.lt(micros(before));
        self.purge::<Entity>("purge invitations", Column::Id, expired, limit).await
    }
}
