//! Documents in SQL.

use super::{
    document_rows::{from_row, to_row},
    entities::documents::{ActiveModel, Column, Entity},
    fault::corrupt,
    session::Session,
    values::{counted, micros},
};
use async_trait::async_trait;
use docent_domain::{document::Document, id::DocumentId};
use docent_ports::{
    documents::{DocumentCounts, DocumentFilter, DocumentReader, DocumentWriter},
    error::Result,
};
use sea_orm::{
    ColumnTrait, DbBackend, EntityTrait, NotSet, QueryFilter, QueryOrder, QuerySelect, Select,
    sea_query::{Expr, ExprTrait, Func},
};

#[async_trait]
impl DocumentReader for Session {
    async fn get(&mut self, id: DocumentId) -> Result<Option<Document>> {
        let query = self.hold(Entity::find_by_id(id.as_uuid()));
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
}

#[async_trait]
impl DocumentWriter for Session {
    async fn insert(&mut self, document: &Document) -> Result<()> {
        let insert = Entity::insert(to_row(document)?);
        self.run("add a document", |db| Box::pin(insert.exec_without_returning(db))).await?;
        Ok(())
    }

    async fn update(&mut self, document: &Document) -> Result<bool> {
        let values = ActiveModel { id: NotSet, ..to_row(document)? };
        let update = Entity::update_many().set(values).filter(Column::Id.eq(document.id.as_uuid()));
        let result = self.run("change a document", |db| Box::pin(update.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }
}

fn select(filter: &DocumentFilter, backend: DbBackend) -> Select<Entity> {
    let mut query = Entity::find().order_by_desc(Column::CreatedAt).order_by_desc(Column::Id);
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
