use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "document_summaries")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub document_id: Uuid,
    pub version_id: Uuid,
    pub ingested_at: i64,
    pub created_at: i64,
    pub content: Json,
}

no_relations!();
