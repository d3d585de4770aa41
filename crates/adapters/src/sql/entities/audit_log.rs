use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "audit_log")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub at: i64,
    pub author: String,
    pub user_id: Option<Uuid>,
    pub user_email: Option<String>,
    pub api_key_id: Option<Uuid>,
    pub address: Option<String>,
    pub deed: String,
    pub record_kind: String,
    pub record_id: String,
    pub record_label: String,
    pub changes: Json,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
