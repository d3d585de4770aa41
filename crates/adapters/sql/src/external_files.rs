//! IDs that other programs gave to files, in SQL.

use super::entities::external_files::{Column, Entity};
use super::record::Record;
use super::transaction::Transaction;
use docent_domain::external_file::{ExternalFile, ExternalId};
use docent_domain::fault::Result;
use docent_domain::id::DocumentId;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

impl Transaction {
    pub(super) async fn find_external_files(&mut self, ids: &[ExternalId]) -> Result<Vec<ExternalFile>> {
        let ids = ids.iter().map(ExternalId::as_str);
        // Document IDs are ordered by time.
        let query = Entity::find().filter(Column::ExternalId.is_in(ids)).order_by_asc(Column::DocumentId);
        self.fetch_all("find files by their external IDs", query).await
    }

    pub(super) async fn find_external_file(&mut self, id: DocumentId) -> Result<Option<ExternalFile>> {
        self.fetch_one("read the external ID of a file", Entity::find_by_id(id.as_uuid())).await
    }

    pub(super) async fn put_external_file(&mut self, file: &ExternalFile) -> Result<()> {
        let replace = OnConflict::column(Column::DocumentId)
            .update_columns([Column::ExternalId, Column::Entity])
            .to_owned();
        let insert = Entity::insert_many([file.to_row()?]).on_conflict(replace);
        self.insert_many_rows("store the external ID of a file", insert).await
    }

    pub(super) async fn remove_external_file(&mut self, id: DocumentId) -> Result<()> {
        let delete = Entity::delete_many().filter(Column::DocumentId.eq(id.as_uuid()));
        self.delete_rows("remove the external ID of a file", delete).await.map(drop)
    }
}
