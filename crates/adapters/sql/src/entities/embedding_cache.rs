use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "embedding_cache")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub space: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub text_sha256: Vec<u8>,
    pub vector: Vec<u8>,
    pub used_at: i64,
}

no_relations!();
