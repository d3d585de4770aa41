use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "jobs")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub kind: String,
    pub document_id: Uuid,
    pub owner_id: Option<Uuid>,
    pub state: String,
    pub lease_id: Option<Uuid>,
    pub due_at: Option<i64>,
    pub attempts: i64,
    pub interruptions: i64,
    pub run_at: i64,
    pub last_error: Option<String>,
    pub traceparent: Option<String>,
    pub created_at: i64,
    pub updated_at: i64,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
