use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "open_collections")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub version: Uuid,
}

no_relations!();
