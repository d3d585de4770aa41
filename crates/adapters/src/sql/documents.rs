//! Documents in SQL.

use super::{
    document_rows::{from_row, to_deletion, to_row},
    entities::{
        documents::{ActiveModel, Column, Entity, Model},
        jobs,
    },
    fault::corrupt,
    lookup::Lookup,
    points::{Points, Statements},
    session::{Session, Source},
    values::{counted, instant, micros},
};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::{
    document::{Deletion, Document},
    generation::Mark,
    id::DocumentId,
};
use docent_ports::{
    documents::{DocumentCounts, DocumentFilter, DocumentReader, DocumentWriter},
    error::Result,
};
use sea_orm::{
    ColumnTrait, DbBackend, EntityTrait, NotSet, QueryFilter, QueryOrder, QuerySelect, Select, UpdateMany,
    sea_query::{Expr, ExprTrait, Func},
};
use std::{collections::HashSet, time::Duration};

/// Reads those that concurrent callers ask for together.
pub(super) fn lookup(source: &Source, patience: Duration) -> Lookup<DocumentId, Document> {
    let doing = "read a document";
    let there = Entity::find().filter(Column::DeletedAt.is_null());
    let statements = Statements::new(there, source.connections.get_database_backend());
    let source = source.clone();
    Lookup::new(doing, patience, move || {
        Box::new(Points {
            doing,
            source: source.clone(),
            patience,
            statements: statements.clone(),
            id: DocumentId::as_uuid,
            from_row: |row: Model| (DocumentId::from_uuid(row.id), from_row(row)),
            kept: None,
        })
    })
}

#[async_trait]
impl DocumentReader for Session {
    async fn get(&mut self, id: DocumentId) -> Result<Option<Document>> {
        if let Some(lookups) = self.lookups() {
            return lookups.documents.get(id).await;
        }
        let query = self.hold(Entity::find_by_id(id.as_uuid()).filter(Column::DeletedAt.is_null()));
        let row = self.run("read a document", |db| Box::pin(query.one(db))).await?;
        row.map(from_row).transpose()
    }

    async fn list(&mut self, filter: &DocumentFilter) -> Result<Vec<Document>> {
        let query = self.hold(select(filter, self.backend()));
        let rows = self.run("list documents", |db| Box::pin(query.all(db))).await?;
        rows.into_iter().map(from_row).collect()
    }

    async fn counts(&mut self) -> Result<DocumentCounts> {
        let query = Entity::find()
            .select_only()
            .column(Column::Status)
            .column_as(Column::Id.count(), "documents")
            .filter(Column::DeletedAt.is_null())
            .group_by(Column::Status)
            .into_tuple::<(String, i64)>();
        let rows = self.run("count documents", |db| Box::pin(query.all(db))).await?;
        let mut counts = DocumentCounts::default();
        for (status, documents) in rows {
            let count = match status.as_str() {
                "pending" => &mut counts.pending,
                "ingested" => &mut counts.ingested,
                "failed" => &mut counts.failed,
                _ => return Err(corrupt("document's status")),
            };
            *count = counted(documents, "document count")?;
        }
        Ok(counts)
    }

    async fn ingested(&mut self, ids: &[DocumentId]) -> Result<HashSet<DocumentId>> {
        let query = Entity::find()
            .select_only()
            .column(Column::Id)
            .filter(Column::Id.is_in(ids.iter().map(|id| id.as_uuid())))
            .filter(Column::Status.eq("ingested"))
            .filter(Column::DeletedAt.is_null())
            .into_tuple::<uuid::Uuid>();
        let rows = self.run("see which documents are ingested", |db| Box::pin(query.all(db))).await?;
        Ok(rows.into_iter().map(DocumentId::from_uuid).collect())
    }

    async fn marks(&mut self, after: Option<DocumentId>, limit: u64) -> Result<Vec<Mark>> {
        let mut query = Entity::find()
            .select_only()
            .column(Column::Id)
            .column(Column::EndedAt)
            .column(Column::Chunks)
            .filter(Column::Status.eq("ingested"))
            .filter(Column::DeletedAt.is_null())
            .order_by_asc(Column::Id)
            .limit(limit);
        if let Some(after) = after {
            query = query.filter(Column::Id.gt(after.as_uuid()));
        }
        let query = query.into_tuple::<(uuid::Uuid, Option<i64>, Option<i64>)>();
        let rows = self.run("see what documents were indexed as", |db| Box::pin(query.all(db))).await?;
        let mark = |(id, at, chunks): (uuid::Uuid, Option<i64>, Option<i64>)| {
            let at = at.ok_or_else(|| corrupt("document's state"))?;
            Ok(Mark {
                document: DocumentId::from_uuid(id),
                at: instant(at, "document's time")?,
                chunks: counted(chunks.unwrap_or_default(), "coverage")?,
            })
        };
        rows.into_iter().map(mark).collect()
    }

    async fn deletion(&mut self, id: DocumentId) -> Result<Option<Deletion>> {
        let query = self.hold(Entity::find_by_id(id.as_uuid()).filter(Column::DeletedAt.is_not_null()));
        let row = self.run("read a deletion", |db| Box::pin(query.one(db))).await?;
        row.map_or(Ok(None), |row| to_deletion(&row))
    }

    async fn has_file(&mut self, sha256: &[u8; 32]) -> Result<bool> {
        let query = Entity::find()
            .select_only()
            .column(Column::Id)
            .filter(Column::FileSha256.eq(sha256.to_vec()))
            .filter(Column::DeletedAt.is_null())
            .limit(1)
            .into_tuple::<uuid::Uuid>();
        let found = self.run("look for a file", |db| Box::pin(query.one(db))).await?;
        Ok(found.is_some())
    }
}

#[async_trait]
impl DocumentWriter for Session {
    async fn insert(&mut self, document: &Document) -> Result<()> {
        let insert = Entity::insert(to_row(document)?);
        self.run("add a document", |db| Box::pin(insert.exec_without_returning(db))).await?;
        Ok(())
    }

    async fn update(&mut self, document: &Document) -> Result<bool> {
        let values = ActiveModel { id: NotSet, deleted_at: NotSet, ..to_row(document)? };
        let update = there(document.id).set(values);
        let result = self.run("change a document", |db| Box::pin(update.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }

    async fn mark_deleted(&mut self, id: DocumentId, at: DateTime<Utc>) -> Result<bool> {
        let update = there(id).col_expr(Column::DeletedAt, Expr::val(micros(at)));
        let result = self.run("mark a document as deleted", |db| Box::pin(update.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }

    async fn remove_deleted(&mut self, id: DocumentId) -> Result<bool> {
        if self.deletion(id).await?.is_none() {
            return Ok(false);
        }
        let jobs = jobs::Entity::delete_many().filter(jobs::Column::DocumentId.eq(id.as_uuid()));
        self.run("remove a document's jobs", |db| Box::pin(jobs.exec(db))).await?;
        let document = Entity::delete_by_id(id.as_uuid()).filter(Column::DeletedAt.is_not_null());
        let result = self.run("remove a document", |db| Box::pin(document.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }
}

/// A change of a document that was not deleted.
fn there(id: DocumentId) -> UpdateMany<Entity> {
    Entity::update_many().filter(Column::Id.eq(id.as_uuid())).filter(Column::DeletedAt.is_null())
}

fn select(filter: &DocumentFilter, backend: DbBackend) -> Select<Entity> {
    let query = Entity::find().filter(Column::DeletedAt.is_null());
    let mut query = query.order_by_desc(Column::CreatedAt).order_by_desc(Column::Id);
    if let Some(status) = filter.status {
        query = query.filter(Column::Status.eq(status));
    }
    if let Some(text) = &filter.title_contains {
        query = query.filter(contains(text, backend));
    }
    if let Some(after) = filter.after {
        let place = Expr::tuple([Expr::col(Column::CreatedAt), Expr::col(Column::Id)]);
        let last = Expr::tuple([Expr::val(micros(after.created_at)), Expr::val(after.id.as_uuid())]);
        query = query.filter(place.lt(last));
    }
    // Databases count in signed numbers.
    query.limit(filter.limit.map(|limit| Ord::min(limit, i64::MAX.unsigned_abs())))
}

/// Whether a title contains `text`, ASCII letters in either case. Not by LIKE, whose wildcards would need
/// escaping and whose patterns have a bounded length.
fn contains(text: &str, backend: DbBackend) -> Expr {
    if text.contains('\0') {
        // No title does, and PostgreSQL refuses to be asked.
        return Expr::val(false);
    }
    let title = Expr::col(Column::Title);
    let (position, title) = match backend {
        // Its `lower` changes ASCII letters alone.
        DbBackend::Sqlite => ("instr", title),
        // In this collation it does so too.
        _ => ("strpos", Expr::cust_with_expr("$1 COLLATE \"C\"", title)),
    };
    Expr::expr(Func::cust(position).arg(Func::lower(title)).arg(text.to_ascii_lowercase())).gt(0)
}
