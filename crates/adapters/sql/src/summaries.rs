//! Summaries of documents in SQL.

use super::entities::document_summaries::{Column, Entity, Model};
use super::record::all_columns;
use super::transaction::Transaction;
use super::values::{json, micros, of_json};
use docent_domain::fault::Result;
use docent_domain::id::DocumentId;
use docent_domain::summary::DocumentSummary;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

impl Transaction {
    pub(super) async fn find_summary(&mut self, id: DocumentId) -> Result<Option<DocumentSummary>> {
        let query = Entity::find_by_id(id.as_uuid());
        let row = self.run("read a summary", |db| Box::pin(query.one(db))).await?;
        row.map(of_row).transpose()
    }

    pub(super) async fn put_summary(
        &mut self,
        id: DocumentId,
        summary: Option<&DocumentSummary>,
    ) -> Result<()> {
        let Some(summary) = summary else {
            let delete = Entity::delete_many().filter(Column::DocumentId.eq(id.as_uuid()));
            return self.delete_rows("remove a summary", delete).await.map(drop);
        };
        let replace = OnConflict::column(Column::DocumentId)
            .update_columns([Column::VersionId, Column::IngestedAt, Column::CreatedAt, Column::Content])
            .to_owned();
        let insert = Entity::insert_many([all_columns(row(id, summary)?)]).on_conflict(replace);
        self.insert_many_rows("store a summary", insert).await
    }
}

fn row(id: DocumentId, summary: &DocumentSummary) -> Result<Model> {
    Ok(Model {
        document_id: id.as_uuid(),
        version_id: summary.version.as_uuid(),
        ingested_at: micros(summary.ingested_at),
        created_at: micros(summary.created_at),
        content: json(summary)?,
    })
}

fn of_row(row: Model) -> Result<DocumentSummary> {
    let mut content = row.content;
    // Earlier releases do not store these in the content.
    if let Some(fields) = content.as_object_mut() {
        fields.insert("version_id".to_owned(), row.version_id.to_string().into());
        fields.insert("ingested_at".to_owned(), row.ingested_at.into());
        fields.insert("created_at".to_owned(), row.created_at.into());
    }
    of_json(content, "summary")
}
