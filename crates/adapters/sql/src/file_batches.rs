//! Purposes and counts of files, metadata of collections, and batches of files in SQL.

use super::documents::{file_status, live, of_status};
use super::entities::{collection_metadata, document_collections, documents, file_batches, file_purposes};
use super::record::all_columns;
use super::transaction::Transaction;
use super::usage::sum;
use super::values::{counted, instant, json, micros, of_json, stored};
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::file_batch::{CollectionMetadata, FileBatch, FilePurpose};
use docent_domain::id::{CollectionId, DocumentId, FileBatchId};
use docent_ports::documents::FileCounts;
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{ColumnTrait, EntityTrait, JoinType, QueryFilter, QuerySelect, QueryTrait, RelationDef, Set};
use std::collections::HashMap;
use uuid::Uuid;

impl Transaction {
    pub(super) async fn count_files(
        &mut self,
        collections: &[CollectionId],
        documents: Option<&[DocumentId]>,
    ) -> Result<HashMap<CollectionId, FileCounts>> {
        use documents::Column;
        let query = live()
            .select_only()
            .column_as(document_collections::Column::CollectionId, "collection")
            .expr_as(file_status(), "file_status")
            .expr_as(Expr::cust("COUNT(*)"), "files")
            .expr_as(sum(Column::FileBytes), "bytes")
            .join(JoinType::InnerJoin, collections_of_documents())
            .filter(Column::FilePath.is_not_null())
            .filter(
                document_collections::Column::CollectionId.is_in(collections.iter().map(|id| id.as_uuid())),
            )
            .apply_if(documents, |query, ids| {
                query.filter(Column::Id.is_in(ids.iter().map(|id| id.as_uuid())))
            })
            .group_by(document_collections::Column::CollectionId)
            .group_by(file_status())
            .into_tuple::<(Uuid, String, i64, i64)>();
        let rows = self.run("count the files of collections", |db| Box::pin(query.all(db))).await?;
        let mut counts: HashMap<CollectionId, FileCounts> = HashMap::new();
        for (collection, status, files, bytes) in rows {
            let counts = counts.entry(CollectionId::from_uuid(collection)).or_default();
            *of_status(&mut counts.documents, &status)? = counted(files, "count of files")?;
            counts.bytes += counted::<u64>(bytes, "sum of sizes")?;
        }
        Ok(counts)
    }

    pub(super) async fn find_purposes(
        &mut self,
        ids: &[DocumentId],
    ) -> Result<HashMap<DocumentId, FilePurpose>> {
        let query = file_purposes::Entity::find()
            .filter(file_purposes::Column::DocumentId.is_in(ids.iter().map(|id| id.as_uuid())));
        let rows = self.run("read the purposes of files", |db| Box::pin(query.all(db))).await?;
        let purpose = |row: file_purposes::Model| {
            let purpose = stored(row.purpose, "purpose of a file")?;
            Ok((DocumentId::from_uuid(row.document_id), purpose))
        };
        rows.into_iter().map(purpose).collect()
    }

    pub(super) async fn insert_purpose(&mut self, id: DocumentId, purpose: FilePurpose) -> Result<()> {
        let (document_id, purpose) = (Set(id.as_uuid()), Set(purpose.name().to_owned()));
        let row = file_purposes::ActiveModel { document_id, purpose };
        self.insert_rows("store the purpose of a file", file_purposes::Entity::insert(row)).await.map(drop)
    }

    pub(super) async fn find_metadata(
        &mut self,
        ids: &[CollectionId],
    ) -> Result<HashMap<CollectionId, CollectionMetadata>> {
        let query = collection_metadata::Entity::find()
            .filter(collection_metadata::Column::CollectionId.is_in(ids.iter().map(|id| id.as_uuid())));
        let rows = self.run("read the metadata of collections", |db| Box::pin(query.all(db))).await?;
        rows.into_iter().map(of_row).collect()
    }

    pub(super) async fn put_metadata(
        &mut self,
        id: CollectionId,
        metadata: &CollectionMetadata,
    ) -> Result<()> {
        use collection_metadata::{Column, Entity, Model};
        let row = Model {
            collection_id: id.as_uuid(),
            entries: json(&metadata.entries)?,
            expires_after_days: metadata.expires_after_days.map(i64::from),
            last_active_at: micros(metadata.last_active_at),
        };
        let replace = OnConflict::column(Column::CollectionId)
            .update_columns([Column::Entries, Column::ExpiresAfterDays, Column::LastActiveAt])
            .to_owned();
        let insert = Entity::insert_many([all_columns(row)]).on_conflict(replace);
        self.insert_many_rows("store the metadata of a collection", insert).await
    }

    pub(super) async fn find_batch(&mut self, id: FileBatchId) -> Result<Option<FileBatch>> {
        let query = self.for_update(file_batches::Entity::find_by_id(id.as_uuid()));
        let row = self.run("read a batch of files", |db| Box::pin(query.one(db))).await?;
        row.map(of_batch).transpose()
    }

    pub(super) async fn put_batch(&mut self, batch: &FileBatch) -> Result<()> {
        use file_batches::{Column, Entity, Model};
        let row = Model {
            id: batch.id.as_uuid(),
            collection_id: batch.collection.as_uuid(),
            files: json(&batch.files)?,
            cancelled: json(&batch.cancelled)?,
            is_cancelled: batch.is_cancelled,
            created_at: micros(batch.created_at),
        };
        let replace = OnConflict::column(Column::Id)
            .update_columns([Column::Files, Column::Cancelled, Column::IsCancelled])
            .to_owned();
        let insert = Entity::insert_many([all_columns(row)]).on_conflict(replace);
        self.insert_many_rows("store a batch of files", insert).await
    }

    pub(super) async fn purge_batches(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64> {
        use file_batches::{Column, Entity};
        let old =
            Entity::find().select_only().column(Column::Id).filter(Column::CreatedAt.lt(micros(before)));
        let delete = Entity::delete_many().filter(Column::Id.in_subquery(old.limit(limit).into_query()));
        self.delete_rows("purge batches of files", delete).await
    }
}

fn collections_of_documents() -> RelationDef {
    documents::Entity::belongs_to(document_collections::Entity)
        .from(documents::Column::Id)
        .to(document_collections::Column::DocumentId)
        .into()
}

fn of_row(row: collection_metadata::Model) -> Result<(CollectionId, CollectionMetadata)> {
    let what = "metadata of a collection";
    let metadata = CollectionMetadata {
        entries: of_json(row.entries, what)?,
        expires_after_days: row.expires_after_days.map(|days| counted(days, what)).transpose()?,
        last_active_at: instant(row.last_active_at, what)?,
    };
    Ok((CollectionId::from_uuid(row.collection_id), metadata))
}

fn of_batch(row: file_batches::Model) -> Result<FileBatch> {
    Ok(FileBatch {
        id: FileBatchId::from_uuid(row.id),
        collection: CollectionId::from_uuid(row.collection_id),
        files: of_json(row.files, "batch of files")?,
        cancelled: of_json(row.cancelled, "batch of files")?,
        is_cancelled: row.is_cancelled,
        created_at: instant(row.created_at, "batch's time")?,
    })
}
