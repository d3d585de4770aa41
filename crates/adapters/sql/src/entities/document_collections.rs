use sea_orm::entity::prelude::*;

/// Written by triggers from the lists in `documents`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "document_collections")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub document_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub collection_id: Uuid,
}

no_relations!();
