//! Documents in SQL.

use super::conditions;
use super::entities::documents::{ActiveModel, Column, Entity, Model, to_deletion};
use super::entities::jobs;
use super::fault::corrupt;
use super::listing::{contains, is_after, is_before};
use super::lookup::Lookup;
use super::points::{self, Records};
use super::record::Record;
use super::source::Source;
use super::transaction::Transaction;
use super::usage::{DAY, day_of, sum};
use super::values::{counted, instant, micros, of_json, stored};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::document::{Deletion, Document};
use docent_domain::external_file::{ExternalFile, ExternalId};
use docent_domain::extraction::RecognitionCoverage;
use docent_domain::fault::Result;
use docent_domain::file_batch::FilePurpose;
use docent_domain::generation::IndexedRevision;
use docent_domain::id::{CollectionId, DocumentId, UserId, VersionId};
use docent_domain::listing::{DocumentFilter, DocumentOrder, DocumentQuery, Page, PageRequest, TimeOrder};
use docent_domain::retrieval::SearchedVersion;
use docent_domain::scope::Scope;
use docent_domain::summary::DocumentSummary;
use docent_domain::text::Title;
use docent_ports::documents::{DocumentCounts, DocumentDay, DocumentReader, DocumentWriter, FileCounts};
use sea_orm::entity::prelude::Json;
use sea_orm::sea_query::{Expr, ExprTrait, NullOrdering};
use sea_orm::{
    ColumnTrait, Condition, DbBackend, EntityTrait, NotSet, Order, QueryFilter, QueryOrder, QuerySelect,
    QueryTrait, Select, UpdateMany,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;
use uuid::Uuid;

/// Batches the reads of concurrent callers.
pub(super) fn lookup(source: &Source, statement_timeout: Duration) -> Lookup<DocumentId, Document> {
    let records = Records {
        select: |ids| live().filter(Column::Id.is_in(ids)),
        id: DocumentId::as_uuid,
        from_rows: |_, rows: Vec<Model>| {
            rows.into_iter().map(|row| (DocumentId::from_uuid(row.id), Document::from_row(row))).collect()
        },
    };
    points::lookup("read a document", source, statement_timeout, records)
}

/// Documents that are not deleted.
pub(super) fn live() -> Select<Entity> {
    Entity::find().filter(Column::DeletedAt.is_null())
}

const BY_TIME: [Column; 2] = [Column::CreatedAt, Column::Id];

#[async_trait]
impl DocumentReader for Transaction {
    async fn get(&mut self, id: DocumentId) -> Result<Option<Document>> {
        if let Some(lookups) = self.lookups() {
            return lookups.documents.get(id).await;
        }
        self.fetch_one("read a document", live().filter(Column::Id.eq(id.as_uuid()))).await
    }

    async fn list(&mut self, filter: &DocumentFilter) -> Result<Vec<Document>> {
        let query = self.for_update(select(filter, self.backend()));
        self.fetch_all("list documents", query).await
    }

    async fn page(&mut self, query: &DocumentQuery, page: PageRequest) -> Result<Page<Document>> {
        let filter = DocumentFilter {
            status: query.status,
            failure: query.failure,
            title_contains: query.title_contains.clone(),
            ..DocumentFilter::of(Scope::SERVICE.clone())
        };
        let rows = matching(&filter, self.backend())
            .apply_if(query.collection, |rows, collection| {
                rows.filter(conditions::in_any([collection.as_uuid()]))
            })
            .apply_if(query.owner, |rows, owner| rows.filter(Column::OwnerId.eq(owner.as_uuid())));
        let backend = self.backend();
        let order = |rows: Select<Entity>| match query.order {
            DocumentOrder::Newest => rows.order_by_desc(Column::CreatedAt).order_by_desc(Column::Id),
            DocumentOrder::Oldest => rows.order_by_asc(Column::CreatedAt).order_by_asc(Column::Id),
            DocumentOrder::Title => rows.order_by(by_bytes(backend), Order::Asc).order_by_asc(Column::Id),
            DocumentOrder::Largest => rows
                .order_by_with_nulls(Column::FileBytes, Order::Desc, NullOrdering::Last)
                .order_by_desc(Column::Id),
        };
        self.listed("list documents", rows, order, page, Record::from_row).await
    }

    async fn file_counts(
        &mut self,
        collections: &[CollectionId],
        documents: Option<&[DocumentId]>,
    ) -> Result<HashMap<CollectionId, FileCounts>> {
        self.count_files(collections, documents).await
    }

    async fn purposes(&mut self, ids: &[DocumentId]) -> Result<HashMap<DocumentId, FilePurpose>> {
        self.find_purposes(ids).await
    }

    async fn external_files(&mut self, ids: &[ExternalId]) -> Result<Vec<ExternalFile>> {
        self.find_external_files(ids).await
    }

    async fn external_file(&mut self, id: DocumentId) -> Result<Option<ExternalFile>> {
        self.find_external_file(id).await
    }

    async fn days(&mut self, from: DateTime<Utc>) -> Result<Vec<DocumentDay>> {
        let day = || day_of(Column::CreatedAt);
        let query = live()
            .select_only()
            .expr_as(day(), "day")
            .column(Column::Status)
            .expr_as(Expr::cust("COUNT(*)"), "documents")
            .filter(Column::CreatedAt.gte(micros(from)))
            .group_by(day())
            .group_by(Column::Status)
            .into_tuple::<(i64, String, i64)>();
        let rows = self.run("count documents by day", |db| Box::pin(query.all(db))).await?;
        let mut days: BTreeMap<i64, DocumentCounts> = BTreeMap::new();
        for (day, status, documents) in rows {
            *of_status(days.entry(day).or_default(), &status)? = counted(documents, "document count")?;
        }
        let day = |(day, counts)| {
            let day = instant(day * DAY, "document's time")?.date_naive();
            Ok(DocumentDay { day, counts })
        };
        days.into_iter().map(day).collect()
    }

    async fn counts(&mut self) -> Result<DocumentCounts> {
        let query = live()
            .select_only()
            .column(Column::Status)
            .column_as(Column::Id.count(), "documents")
            .group_by(Column::Status)
            .into_tuple::<(String, i64)>();
        let rows = self.run("count documents", |db| Box::pin(query.all(db))).await?;
        let mut counts = DocumentCounts::default();
        for (status, documents) in rows {
            *of_status(&mut counts, &status)? = counted(documents, "document count")?;
        }
        Ok(counts)
    }

    async fn searchable(
        &mut self,
        ids: &[VersionId],
        scope: &Scope,
    ) -> Result<HashMap<VersionId, SearchedVersion>> {
        type Row = (Uuid, Option<Uuid>, i64, Option<Json>, Option<Json>);
        let query = ingested_in(scope)
            .columns([
                Column::Id,
                Column::VersionId,
                Column::Version,
                Column::Recognition,
                Column::PageLabels,
            ])
            .filter(has_version(ids))
            .into_tuple::<Row>();
        let rows = self.run("see which versions are searched", |db| Box::pin(query.all(db))).await?;
        let version = |(id, version, number, found, page_labels): Row| {
            let number = counted(number, "number of a version")?;
            let recognized_pages = match found {
                Some(found) => {
                    let found: RecognitionCoverage = of_json(found, "coverage of the recognition")?;
                    found.pages.iter().map(|page| page.page).collect()
                }
                None => Vec::new(),
            };
            let page_labels = page_labels.map(|labels| of_json(labels, "labels of pages")).transpose()?;
            let page_labels = page_labels.unwrap_or_default();
            let document = DocumentId::from_uuid(id);
            let searched = SearchedVersion { document, number, recognized_pages, page_labels };
            Ok((VersionId::from_uuid(version.unwrap_or(id)), searched))
        };
        rows.into_iter().map(version).collect()
    }

    async fn versions(&mut self, ids: &[DocumentId], scope: &Scope) -> Result<Vec<VersionId>> {
        let query = ingested_in(scope)
            .columns([Column::Id, Column::VersionId])
            .filter(Column::Id.is_in(ids.iter().map(|id| id.as_uuid())))
            .into_tuple::<(Uuid, Option<Uuid>)>();
        let rows = self.run("read the versions of documents", |db| Box::pin(query.all(db))).await?;
        Ok(rows.into_iter().map(|(id, version)| VersionId::from_uuid(version.unwrap_or(id))).collect())
    }

    async fn with_equal_file(&mut self, sha256: &[u8; 32], scope: &Scope) -> Result<Option<Document>> {
        let query = conditions::in_scope(live(), scope)
            .filter(Column::FileSha256.eq(sha256.to_vec()))
            .order_by_asc(Column::CreatedAt)
            .order_by_asc(Column::Id)
            .limit(1);
        self.fetch_one("look for an equal file", query).await
    }

    async fn readable(&mut self, ids: &[DocumentId], scope: &Scope) -> Result<HashSet<DocumentId>> {
        let query = conditions::in_scope(live(), scope)
            .select_only()
            .column(Column::Id)
            .filter(Column::Id.is_in(ids.iter().map(|id| id.as_uuid())))
            .into_tuple::<Uuid>();
        let rows = self.run("filter readable documents", |db| Box::pin(query.all(db))).await?;
        Ok(rows.into_iter().map(DocumentId::from_uuid).collect())
    }

    async fn stale_labels(&mut self, limit: u64) -> Result<Vec<Document>> {
        let query = live().filter(has_stale_labels()).order_by_asc(Column::Id).limit(limit);
        self.fetch_all("look for changed labels", query).await
    }

    async fn with_stale_labels(&mut self, ids: &[DocumentId]) -> Result<HashSet<DocumentId>> {
        let query = live()
            .select_only()
            .column(Column::Id)
            .filter(has_stale_labels())
            .filter(Column::Id.is_in(ids.iter().map(|id| id.as_uuid())))
            .into_tuple::<Uuid>();
        let rows = self.run("look for changed labels of documents", |db| Box::pin(query.all(db))).await?;
        Ok(rows.into_iter().map(DocumentId::from_uuid).collect())
    }

    async fn titles(&mut self, ids: &[DocumentId]) -> Result<HashMap<DocumentId, Title>> {
        let (columns, ids) = ([Column::Id, Column::Title], ids.iter().map(|id| id.as_uuid()));
        let rows = self.texts("read titles", live(), columns, ids).await?;
        let title =
            |(id, title): (Uuid, String)| Ok((DocumentId::from_uuid(id), stored(title, "document's title")?));
        rows.into_iter().map(title).collect()
    }

    async fn indexed_revisions(
        &mut self,
        after: Option<DocumentId>,
        limit: u64,
    ) -> Result<Vec<IndexedRevision>> {
        let query = live()
            .select_only()
            .columns([Column::Id, Column::VersionId])
            .column(Column::EndedAt)
            .column(Column::Chunks)
            .filter(is_ingested())
            .apply_if(after, |query, after| query.filter(Column::Id.gt(after.as_uuid())))
            .order_by_asc(Column::Id)
            .limit(limit)
            .into_tuple::<(Uuid, Option<Uuid>, Option<i64>, Option<i64>)>();
        let rows = self.run("read the indexed revisions", |db| Box::pin(query.all(db))).await?;
        let mark = |(id, version, at, chunks): (Uuid, Option<Uuid>, Option<i64>, Option<i64>)| {
            let at = at.ok_or_else(|| corrupt("document's state"))?;
            Ok(IndexedRevision {
                document: DocumentId::from_uuid(id),
                version: VersionId::from_uuid(version.unwrap_or(id)),
                at: instant(at, "document's time")?,
                chunks: counted(chunks.unwrap_or_default(), "coverage")?,
            })
        };
        rows.into_iter().map(mark).collect()
    }

    async fn deletion(&mut self, id: DocumentId) -> Result<Option<Deletion>> {
        let query = self.for_update(Entity::find_by_id(id.as_uuid()).filter(Column::DeletedAt.is_not_null()));
        let row = self.run("read a deletion", |db| Box::pin(query.one(db))).await?;
        row.map_or(Ok(None), |row| to_deletion(&row))
    }

    async fn stored_bytes(&mut self, owner: UserId) -> Result<u64> {
        let query = live()
            .select_only()
            .expr_as(sum(Column::FileBytes), "bytes")
            .expr_as(sum(Column::ReplacementBytes), "replacement_bytes")
            .filter(Column::OwnerId.eq(owner.as_uuid()))
            .into_tuple::<(i64, i64)>();
        let bytes = self.run("sum up sizes of files", |db| Box::pin(query.one(db))).await?;
        let (files, replacements) = bytes.unwrap_or_default();
        counted(files + replacements, "sum of sizes")
    }

    async fn summary(&mut self, id: DocumentId) -> Result<Option<DocumentSummary>> {
        self.find_summary(id).await
    }

    async fn has_file(&mut self, sha256: &[u8; 32]) -> Result<bool> {
        let query = live()
            .select_only()
            .column(Column::Id)
            .filter(Column::FileSha256.eq(sha256.to_vec()).or(Column::ReplacementSha256.eq(sha256.to_vec())))
            .limit(1)
            .into_tuple::<Uuid>();
        let found = self.run("look for a file", |db| Box::pin(query.one(db))).await?;
        Ok(found.is_some())
    }
}

#[async_trait]
impl DocumentWriter for Transaction {
    async fn insert(&mut self, document: &Document) -> Result<()> {
        self.insert_record("add a document", document).await
    }

    async fn update(&mut self, document: &Document) -> Result<bool> {
        let values =
            ActiveModel { id: NotSet, deleted_at: NotSet, indexed_labels: NotSet, ..document.to_row()? };
        let update = update_live(document.id).set(values);
        Ok(self.update_rows("change a document", update).await? > 0)
    }

    async fn set_summary(&mut self, id: DocumentId, summary: Option<&DocumentSummary>) -> Result<()> {
        self.put_summary(id, summary).await
    }

    async fn set_purpose(&mut self, id: DocumentId, purpose: FilePurpose) -> Result<()> {
        self.insert_purpose(id, purpose).await
    }

    async fn set_external_file(&mut self, file: &ExternalFile) -> Result<()> {
        self.put_external_file(file).await
    }

    async fn set_indexed_labels(&mut self, id: DocumentId, revision: u32) -> Result<()> {
        let update = update_live(id).col_expr(Column::IndexedLabels, Expr::val(i64::from(revision)));
        self.update_rows("record the labels in the index", update).await.map(drop)
    }

    async fn forget_indexed_labels(&mut self) -> Result<()> {
        let update = Entity::update_many().col_expr(Column::IndexedLabels, Expr::val(0));
        self.update_rows("forget the labels in the index", update).await.map(drop)
    }

    async fn mark_deleted(&mut self, id: DocumentId, at: DateTime<Utc>) -> Result<bool> {
        let update = update_live(id).col_expr(Column::DeletedAt, Expr::val(micros(at)));
        let was_live = self.update_rows("mark a document as deleted", update).await? > 0;
        if was_live {
            self.remove_external_file(id).await?;
        }
        Ok(was_live)
    }

    async fn remove_deleted(&mut self, id: DocumentId) -> Result<bool> {
        if self.deletion(id).await?.is_none() {
            return Ok(false);
        }
        let jobs = jobs::Entity::delete_many().filter(jobs::Column::DocumentId.eq(id.as_uuid()));
        self.delete_rows("remove a document's jobs", jobs).await?;
        let document =
            Entity::delete_many().filter(Column::Id.eq(id.as_uuid())).filter(Column::DeletedAt.is_not_null());
        Ok(self.delete_rows("remove a document", document).await? > 0)
    }
}

/// Ingested documents of a scope, without columns.
pub(super) fn ingested_in(scope: &Scope) -> Select<Entity> {
    conditions::in_scope(live(), scope).select_only().filter(is_ingested())
}

/// Whether a document is ingested. By a constraint of the table this is the same as the status, whose index SQLite would prefer to
/// those of IDs and read for all ingested documents.
fn is_ingested() -> Expr {
    Column::VectorDocId.is_not_null()
}

/// Whether the vector store has no current labels of an ingested document.
fn has_stale_labels() -> Expr {
    is_ingested().and(ExprTrait::ne(Expr::col(Column::IndexedLabels), Expr::col(Column::LabelsRevision)))
}

/// Status of a file: that of its document, or `pending` while its labels are stale.
pub(super) fn file_status() -> Expr {
    // PostgreSQL groups by the expression only if it is equal to the selected one, without parameters.
    Expr::case(has_stale_labels(), Expr::cust("'pending'")).finally(Expr::col(Column::Status)).into()
}

/// Whether the current version of a document is one of these.
pub(super) fn has_version(ids: &[VersionId]) -> Condition {
    let ids = || ids.iter().map(|id| id.as_uuid());
    let first = Column::VersionId.is_null().and(Column::Id.is_in(ids()));
    Condition::any().add(first).add(Column::VersionId.is_in(ids()))
}

/// An update of a document that is not deleted.
fn update_live(id: DocumentId) -> UpdateMany<Entity> {
    Entity::update_many().filter(Column::Id.eq(id.as_uuid())).filter(Column::DeletedAt.is_null())
}

/// The count of a status.
pub(super) fn of_status<'c>(counts: &'c mut DocumentCounts, status: &str) -> Result<&'c mut u64> {
    match status {
        "pending" => Ok(&mut counts.pending),
        "ingested" => Ok(&mut counts.ingested),
        "failed" => Ok(&mut counts.failed),
        _ => Err(corrupt("document's status")),
    }
}

fn select(filter: &DocumentFilter, backend: DbBackend) -> Select<Entity> {
    let order = match filter.order {
        TimeOrder::Newest => Order::Desc,
        TimeOrder::Oldest => Order::Asc,
    };
    let matching = matching(filter, backend);
    let query = BY_TIME.into_iter().fold(matching, |query, column| query.order_by(column, order.clone()));
    // Databases take signed numbers.
    query.limit(filter.limit.map(|limit| Ord::min(limit, i64::MAX.unsigned_abs())))
}

/// Titles sorted by their bytes, which gives both databases the same order.
fn by_bytes(backend: DbBackend) -> Expr {
    match backend {
        DbBackend::Sqlite => Expr::col(Column::Title),
        _ => Expr::cust_with_expr("$1 COLLATE \"C\"", Expr::col(Column::Title)),
    }
}

/// Matching documents, without order and limit.
fn matching(filter: &DocumentFilter, backend: DbBackend) -> Select<Entity> {
    conditions::in_scope(live(), &filter.scope)
        .apply_if(filter.ids.as_ref(), |query, ids| {
            query.filter(Column::Id.is_in(ids.iter().map(|id| id.as_uuid())))
        })
        .apply_if(filter.condition.as_ref(), |query, condition| {
            query.filter(conditions::meets(condition, backend))
        })
        .apply_if(filter.status, |query, status| match filter.files {
            Some(_) => query.filter(file_status().eq(status)),
            None => query.filter(Column::Status.eq(status)),
        })
        .apply_if(filter.failure, |query, code| query.filter(Column::FailureCode.eq(code.as_str())))
        .apply_if(filter.title_contains.as_deref(), |query, text| {
            query.filter(contains(Expr::col(Column::Title), text, backend))
        })
        .apply_if(filter.files, |query, _| query.filter(Column::FilePath.is_not_null()))
        .apply_if(filter.files.and_then(|files| files.purpose), |query, purpose| {
            query.filter(conditions::has_purpose(purpose))
        })
        .apply_if(filter.after, |query, after| {
            let is_after = match filter.order {
                TimeOrder::Newest => is_after,
                TimeOrder::Oldest => is_before,
            };
            query.filter(is_after(BY_TIME, after.created_at, after.id.as_uuid()))
        })
}
