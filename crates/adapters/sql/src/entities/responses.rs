use crate::record::{Record, all_columns};
use crate::values::{instant, micros};
use docent_domain::fault::Result;
use docent_domain::id::{ApiKeyId, ResponseId, UserId};
use docent_domain::stored_response::StoredResponse;
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "responses")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub owner_id: Uuid,
    pub limited_key_id: Option<Uuid>,
    pub previous_id: Option<Uuid>,
    pub content: String,
    pub created_at: i64,
}

no_relations!();

impl Record for StoredResponse {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        Ok(all_columns(Model {
            id: self.id.as_uuid(),
            owner_id: self.owner.as_uuid(),
            limited_key_id: self.limited_key.map(|key| key.as_uuid()),
            previous_id: self.previous.map(|id| id.as_uuid()),
            content: self.content.clone(),
            created_at: micros(self.created_at),
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        Ok(StoredResponse {
            id: ResponseId::from_uuid(row.id),
            owner: UserId::from_uuid(row.owner_id),
            limited_key: row.limited_key_id.map(ApiKeyId::from_uuid),
            previous: row.previous_id.map(ResponseId::from_uuid),
            content: row.content,
            created_at: instant(row.created_at, "response's time")?,
        })
    }
}
