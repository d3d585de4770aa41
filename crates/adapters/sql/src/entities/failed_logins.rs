use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "failed_logins")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub network: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub hour: i64,
    pub attempts: i64,
}

no_relations!();
