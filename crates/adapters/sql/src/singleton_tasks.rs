//! Singleton tasks in SQL.

use super::entities::duties::{ActiveModel, Column, Entity};
use super::transaction::Transaction;
use super::values::micros;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::LeaseId;
use docent_ports::singleton_tasks::{SingletonTask, SingletonTaskWriter, TaskClaim};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, UpdateMany};

#[async_trait]
impl SingletonTaskWriter for Transaction {
    async fn acquire(&mut self, claim: TaskClaim) -> Result<bool> {
        let TaskClaim { task, lease, now, until, done_by } = claim;
        let row = ActiveModel {
            name: Set(task.as_str().to_owned()),
            lease_id: Set(lease.as_uuid()),
            held_until: Set(micros(until)),
            done_at: Set(None),
        };
        // Qualified: a bare column name is ambiguous with the row to insert.
        let stored = |column| Expr::col((Entity, column));
        let is_free = stored(Column::HeldUntil).lte(micros(now));
        let is_due = stored(Column::DoneAt).is_null().or(stored(Column::DoneAt).lte(micros(done_by)));
        let take_over = OnConflict::column(Column::Name)
            .update_columns([Column::LeaseId, Column::HeldUntil])
            .action_and_where(is_free.and(is_due))
            .to_owned();
        let insert = Entity::insert(row).on_conflict(take_over);
        let taken = self.insert_rows("take a singleton task", insert).await?;
        Ok(taken > 0)
    }

    async fn renew(&mut self, task: SingletonTask, lease: LeaseId, until: DateTime<Utc>) -> Result<bool> {
        let update = with_lease(task, lease).col_expr(Column::HeldUntil, Expr::val(micros(until)));
        Ok(self.update_rows("extend a singleton task", update).await? > 0)
    }

    async fn complete(&mut self, task: SingletonTask, lease: LeaseId, at: DateTime<Utc>) -> Result<bool> {
        let update = with_lease(task, lease)
            .col_expr(Column::HeldUntil, Expr::val(micros(at)))
            .col_expr(Column::DoneAt, Expr::val(micros(at)));
        Ok(self.update_rows("end a singleton task", update).await? > 0)
    }
}

/// An update that matches nothing once the lease is lost.
fn with_lease(task: SingletonTask, lease: LeaseId) -> UpdateMany<Entity> {
    Entity::update_many().filter(Column::Name.eq(task.as_str())).filter(Column::LeaseId.eq(lease.as_uuid()))
}
