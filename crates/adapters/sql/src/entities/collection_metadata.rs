use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "collection_metadata")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub collection_id: Uuid,
    pub entries: Json,
    pub expires_after_days: Option<i64>,
    pub last_active_at: i64,
}

no_relations!();
