use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "documents")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub owner_id: Option<Uuid>,
    pub title: String,
    pub file_path: Option<String>,
    pub file_name: Option<String>,
    pub file_bytes: Option<i64>,
    pub file_sha256: Option<Vec<u8>>,
    pub status: String,
    pub vector_doc_id: Option<String>,
    pub failure_code: Option<String>,
    pub failure_reason: Option<String>,
    pub ended_at: Option<i64>,
    pub pages: Option<i64>,
    pub empty_pages: Option<Json>,
    pub unreliable_pages: Option<Json>,
    pub truncated_pages: Option<Json>,
    pub characters: Option<i64>,
    pub chunks: Option<i64>,
    pub tokens: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
    pub deleted_at: Option<i64>,
    pub effort: Option<Json>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
