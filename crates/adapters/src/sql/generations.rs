//! Generations of the index in SQL.

use super::{
    entities::generations::{ActiveModel, Column, Entity, Model},
    fault::{corrupt, late},
    lookup::{Lookup, ReadMany},
    session::{Session, Source},
    values::{counted, instant, micros},
};
use async_trait::async_trait;
use docent_domain::{
    generation::{GenerationState, IndexGeneration},
    id::GenerationId,
};
use docent_ports::{
    error::Result,
    generations::{GenerationReader, GenerationWriter},
};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, NotSet, QueryFilter, QueryOrder,
    QuerySelect, Select,
    sea_query::{LockType, OnConflict},
};
use std::time::Duration;
use tokio::time::timeout;

/// Reads the one that serves for all who ask for it at once.
pub(super) fn lookup(source: &Source, patience: Duration) -> Lookup<(), IndexGeneration> {
    let source = source.clone();
    Lookup::new(READ_ACTIVE, patience, move || Box::new(Active { source: source.clone(), patience }))
}

const READ_ACTIVE: &str = "read which index serves";

struct Active {
    source: Source,
    patience: Duration,
}

#[async_trait]
impl ReadMany<(), IndexGeneration> for Active {
    async fn read(&mut self, _keys: &[()]) -> Result<Vec<((), Result<IndexGeneration>)>> {
        let read = self.source.reach(READ_ACTIVE, active().one(&self.source.connections));
        let row = timeout(self.patience, Box::pin(read)).await.unwrap_or_else(|_| Err(late(READ_ACTIVE)))?;
        Ok(row.into_iter().map(|row| ((), from_row(row))).collect())
    }
}

fn active() -> Select<Entity> {
    Entity::find().filter(Column::State.eq("active"))
}

#[async_trait]
impl GenerationReader for Session {
    async fn active(&mut self) -> Result<Option<IndexGeneration>> {
        if let Some(lookups) = self.lookups() {
            return lookups.active.get(()).await;
        }
        let query = active();
        let row = self.run(READ_ACTIVE, |db| Box::pin(query.one(db))).await?;
        row.map(from_row).transpose()
    }

    async fn all(&mut self) -> Result<Vec<IndexGeneration>> {
        let query = self.hold(Entity::find().order_by_asc(Column::Id));
        let rows = self.run("read generations of the index", |db| Box::pin(query.all(db))).await?;
        rows.into_iter().map(from_row).collect()
    }
}

#[async_trait]
impl GenerationWriter for Session {
    async fn insert(&mut self, generation: &IndexGeneration) -> Result<bool> {
        // An index lets there be one of a state. Not by catching the violation, after which PostgreSQL would
        // refuse the rest of the transaction.
        let taken = OnConflict::new().do_nothing().to_owned();
        let insert = Entity::insert(to_row(generation)).on_conflict(taken);
        let inserted =
            self.run("add a generation of the index", |db| Box::pin(insert.exec_without_returning(db)));
        Ok(inserted.await? > 0)
    }

    async fn update(&mut self, generation: &IndexGeneration) -> Result<bool> {
        let values = ActiveModel { id: NotSet, ..to_row(generation) };
        let update = Entity::update_many().set(values).filter(Column::Id.eq(generation.id.as_uuid()));
        let result = self.run("change a generation of the index", |db| Box::pin(update.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }

    async fn is_active(&mut self, id: GenerationId) -> Result<bool> {
        // Many may rely on it at a time; whoever changes it waits for them, and they for it. SQLite has one
        // writer at a time, and leaves the lock out.
        let query = active().filter(Column::Id.eq(id.as_uuid())).lock(LockType::Share);
        Ok(self.run(READ_ACTIVE, |db| Box::pin(query.one(db))).await?.is_some())
    }

    async fn remove(&mut self, id: GenerationId) -> Result<bool> {
        let delete = Entity::delete_by_id(id.as_uuid());
        let result = self.run("forget a generation of the index", |db| Box::pin(delete.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }
}

fn to_row(generation: &IndexGeneration) -> ActiveModel {
    let switched_at = match generation.state {
        GenerationState::Building => None,
        GenerationState::Active { since } | GenerationState::Retired { since } => Some(since),
    };
    let row = Model {
        id: generation.id.as_uuid(),
        model: generation.model.clone(),
        collection: generation.collection.clone(),
        dimensions: generation.dimensions.map(i64::from),
        state: generation.state.name().to_owned(),
        created_at: micros(generation.created_at),
        switched_at: switched_at.map(micros),
    };
    row.into_active_model().reset_all()
}

fn from_row(row: Model) -> Result<IndexGeneration> {
    let when = |micros| instant(micros, "generation's time");
    let since = row.switched_at.map(when).transpose()?;
    let state = match (row.state.as_str(), since) {
        ("building", None) => GenerationState::Building,
        ("active", Some(since)) => GenerationState::Active { since },
        ("retired", Some(since)) => GenerationState::Retired { since },
        _ => return Err(corrupt("generation's state")),
    };
    Ok(IndexGeneration {
        id: GenerationId::from_uuid(row.id),
        model: row.model,
        collection: row.collection,
        dimensions: row.dimensions.map(|size| counted(size, "number of dimensions")).transpose()?,
        state,
        created_at: when(row.created_at)?,
    })
}
