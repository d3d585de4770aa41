//! Duties in SQL.

use super::{
    entities::duties::{ActiveModel, Column, Entity},
    session::Session,
    values::micros,
};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::id::LeaseId;
use docent_ports::{
    error::Result,
    singleton_tasks::{SingletonTask, SingletonTaskWriter},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, EntityTrait, QueryFilter, UpdateMany,
    sea_query::{Expr, ExprTrait, OnConflict},
};

#[async_trait]
impl SingletonTaskWriter for Session {
    async fn acquire(
        &mut self,
        task: SingletonTask,
        lease: LeaseId,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
        done_by: DateTime<Utc>,
    ) -> Result<bool> {
        let row = ActiveModel {
            name: Set(task.as_str().to_owned()),
            lease_id: Set(lease.as_uuid()),
            held_until: Set(micros(until)),
            done_at: Set(None),
        };
        // The row that is there; a bare name would be ambiguous beside the one that was to be inserted.
        let there = |column| Expr::col((Entity, column));
        let is_free = there(Column::HeldUntil).lte(micros(now));
        let is_due = there(Column::DoneAt).is_null().or(there(Column::DoneAt).lte(micros(done_by)));
        let take_over = OnConflict::column(Column::Name)
            .update_columns([Column::LeaseId, Column::HeldUntil])
            .action_and_where(is_free.and(is_due))
            .to_owned();
        let insert = Entity::insert(row).on_conflict(take_over);
        let taken = self.run("take a task", |db| Box::pin(insert.exec_without_returning(db))).await?;
        Ok(taken > 0)
    }

    async fn renew(&mut self, task: SingletonTask, lease: LeaseId, until: DateTime<Utc>) -> Result<bool> {
        let update = held(task, lease).col_expr(Column::HeldUntil, Expr::val(micros(until)));
        let result = self.run("hold a task", |db| Box::pin(update.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }

    async fn complete(&mut self, task: SingletonTask, lease: LeaseId, at: DateTime<Utc>) -> Result<bool> {
        let update = held(task, lease)
            .col_expr(Column::HeldUntil, Expr::val(micros(at)))
            .col_expr(Column::DoneAt, Expr::val(micros(at)));
        let result = self.run("end a task", |db| Box::pin(update.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }
}

/// A change that does nothing once the lease was lost.
fn held(task: SingletonTask, lease: LeaseId) -> UpdateMany<Entity> {
    Entity::update_many().filter(Column::Name.eq(task.as_str())).filter(Column::LeaseId.eq(lease.as_uuid()))
}
