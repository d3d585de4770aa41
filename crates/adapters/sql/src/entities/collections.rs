use crate::record::{Record, all_columns};
use crate::values::{instant, micros, stored};
use docent_domain::collection::{Collection, CollectionRole};
use docent_domain::fault::Result;
use docent_domain::id::{CollectionId, UserId};
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "collections")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub kind: String,
    pub name: String,
    pub description: String,
    pub owner_id: Option<Uuid>,
    pub role_of_all: Option<String>,
    pub created_at: i64,
    pub updated_at: i64,
}

no_relations!();

impl Record for Collection {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        Ok(all_columns(Model {
            id: self.id.as_uuid(),
            kind: self.kind.name().to_owned(),
            name: self.name.as_str().to_owned(),
            description: self.description.as_str().to_owned(),
            owner_id: self.owner.map(UserId::as_uuid),
            role_of_all: self.role_of_all.map(|role| role.name().to_owned()),
            created_at: micros(self.created_at),
            updated_at: micros(self.updated_at),
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        Ok(Collection {
            id: CollectionId::from_uuid(row.id),
            kind: stored(row.kind, "collection's kind")?,
            name: stored(row.name, "collection's name")?,
            description: stored(row.description, "collection's description")?,
            owner: row.owner_id.map(UserId::from_uuid),
            role_of_all: stored(row.role_of_all, "role")?,
            created_at: instant(row.created_at, "collection's time")?,
            updated_at: instant(row.updated_at, "collection's time")?,
        })
    }
}

/// The role with this name.
pub fn role(name: &str) -> Result<CollectionRole> {
    stored(name.to_owned(), "role")
}
