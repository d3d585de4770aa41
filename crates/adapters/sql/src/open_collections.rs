//! The collections that are open to all, which every account has a role on. There can be many, so that a process keeps them
//! and reads them again only if they have changed.
//!
//! Triggers give them a new random version with each change. An account's roles are read together with the version, in one
//! statement: the collections that are kept for this version are those of that moment. A version never returns, also not
//! after a transaction was rolled back.

use super::entities::collections::{Column, Entity, role};
use super::entities::open_collections;
use super::transaction::Transaction;
use docent_domain::fault::Result;
use docent_domain::id::CollectionId;
use docent_domain::scope::OpenCollections;
use sea_orm::sea_query::{Expr, Query, UnionType};
use sea_orm::{ColumnTrait, EntityTrait, FromQueryResult, QueryFilter, QuerySelect, QueryTrait};
use std::sync::Arc;
use uuid::Uuid;

#[derive(FromQueryResult)]
struct Row {
    id: Uuid,
    /// None for the version.
    role_of_all: Option<String>,
}

impl Transaction {
    /// The collections that are open to all as of this version or later.
    pub(super) async fn open_collections(&mut self, version: Option<Uuid>) -> Result<Arc<OpenCollections>> {
        let cache = self.open_cache().clone();
        if let Some(open) = version.and_then(|version| cache.get(version)) {
            return Ok(open);
        }
        let current = Query::select()
            .column(open_collections::Column::Version)
            .expr(Expr::cust("NULL"))
            .from(open_collections::Entity)
            .take();
        let mut rows = Entity::find()
            .select_only()
            .columns([Column::Id, Column::RoleOfAll])
            .filter(Column::RoleOfAll.is_not_null());
        QueryTrait::query(&mut rows).union(UnionType::All, current);
        let rows = rows.into_model::<Row>();
        let rows = self.run("read the collections that are open to all", |db| Box::pin(rows.all(db))).await?;
        let (mut version, mut open) = (None, Vec::with_capacity(rows.len()));
        for row in rows {
            match row.role_of_all {
                Some(name) => open.push((CollectionId::from_uuid(row.id), role(&name)?)),
                None => version = Some(row.id),
            }
        }
        let open = Arc::new(open.into_iter().collect());
        if let Some(version) = version {
            cache.put(version, Arc::clone(&open));
        }
        Ok(open)
    }
}
