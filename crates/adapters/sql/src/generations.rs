//! Index generations in SQL.

use super::entities::generations::{ActiveModel, Column, Entity};
use super::fault::late;
use super::lookup::{Lookup, ReadMany};
use super::record::Record;
use super::source::Source;
use super::transaction::Transaction;
use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_domain::generation::IndexGeneration;
use docent_domain::id::GenerationId;
use docent_ports::generations::{GenerationReader, GenerationWriter};
use sea_orm::sea_query::{LockType, OnConflict};
use sea_orm::{ColumnTrait, EntityTrait, NotSet, QueryFilter, QueryOrder, QuerySelect, Select};
use std::time::Duration;
use tokio::time::timeout;

/// Batches the reads of concurrent callers.
pub(super) fn lookup(source: &Source, statement_timeout: Duration) -> Lookup<(), IndexGeneration> {
    let source = source.clone();
    Lookup::new(READ_ACTIVE, statement_timeout, move || {
        Box::new(Active { source: source.clone(), statement_timeout })
    })
}

const READ_ACTIVE: &str = "read the active index";

struct Active {
    source: Source,
    statement_timeout: Duration,
}

#[async_trait]
impl ReadMany<(), IndexGeneration> for Active {
    async fn read(&mut self, _keys: &[()]) -> Result<Vec<((), Result<IndexGeneration>)>> {
        let read = self.source.reach(READ_ACTIVE, active().one(&self.source.connections));
        let row = timeout(self.statement_timeout, Box::pin(read))
            .await
            .unwrap_or_else(|_| Err(late(READ_ACTIVE)))?;
        Ok(row.into_iter().map(|row| ((), IndexGeneration::from_row(row))).collect())
    }
}

fn active() -> Select<Entity> {
    Entity::find().filter(Column::State.eq("active"))
}

#[async_trait]
impl GenerationReader for Transaction {
    async fn active(&mut self) -> Result<Option<IndexGeneration>> {
        if let Some(lookups) = self.lookups() {
            return lookups.active.get(()).await;
        }
        let query = active();
        let row = self.run(READ_ACTIVE, |db| Box::pin(query.one(db))).await?;
        row.map(Record::from_row).transpose()
    }

    async fn all(&mut self) -> Result<Vec<IndexGeneration>> {
        let query = self.for_update(Entity::find().order_by_asc(Column::Id));
        self.fetch_all("read index generations", query).await
    }
}

#[async_trait]
impl GenerationWriter for Transaction {
    async fn insert(&mut self, generation: &IndexGeneration) -> Result<bool> {
        // A unique index allows one active and one building generation.
        self.insert_new("add an index generation", generation, OnConflict::new()).await
    }

    async fn update(&mut self, generation: &IndexGeneration) -> Result<bool> {
        let values = ActiveModel { id: NotSet, ..generation.to_row()? };
        let update = Entity::update_many().set(values).filter(Column::Id.eq(generation.id.as_uuid()));
        Ok(self.update_rows("change an index generation", update).await? > 0)
    }

    async fn is_active(&mut self, id: GenerationId) -> Result<bool> {
        // A share lock: concurrent readers do not wait for each other, but a change waits for them. SQLite has
        // one writer at a time, and its query is built without the lock.
        let query = active().filter(Column::Id.eq(id.as_uuid())).lock(LockType::Share);
        Ok(self.run(READ_ACTIVE, |db| Box::pin(query.one(db))).await?.is_some())
    }

    async fn remove(&mut self, id: GenerationId) -> Result<bool> {
        self.delete_by_id::<Entity>("remove an index generation", id.as_uuid()).await
    }
}
