use crate::sql::fault::corrupt;
use crate::sql::record::{Record, all_columns};
use crate::sql::values::{instant, micros};
use docent_domain::conversation::{Conversation, ConversationTitle};
use docent_domain::fault::Result;
use docent_domain::id::{ConversationId, UserId};
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "conversations")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub owner_id: Uuid,
    pub title: String,
    pub created_at: i64,
    pub updated_at: i64,
}

no_relations!();

impl Record for Conversation {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        Ok(all_columns(Model {
            id: self.id.as_uuid(),
            owner_id: self.owner.as_uuid(),
            title: self.title.as_str().to_owned(),
            created_at: micros(self.created_at),
            updated_at: micros(self.updated_at),
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        Ok(Conversation {
            id: ConversationId::from_uuid(row.id),
            owner: UserId::from_uuid(row.owner_id),
            title: ConversationTitle::parse(&row.title).map_err(|_| corrupt("conversation's title"))?,
            created_at: instant(row.created_at, "conversation's time")?,
            updated_at: instant(row.updated_at, "conversation's time")?,
        })
    }
}
