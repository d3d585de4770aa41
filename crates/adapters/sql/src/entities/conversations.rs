use crate::fault::corrupt;
use crate::record::{Record, all_columns};
use crate::values::{instant, json, micros, of_json_text, stored};
use docent_domain::conversation::{Conversation, ConversationSelection};
use docent_domain::fault::Result;
use docent_domain::id::{ApiKeyId, ConversationId, UserId};
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "conversations")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub owner_id: Uuid,
    pub title: String,
    pub selection: Option<String>,
    pub created_at: i64,
    pub updated_at: i64,
    pub is_pinned: bool,
    pub limited_key_id: Option<Uuid>,
}

no_relations!();

impl Record for Conversation {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        Ok(all_columns(Model {
            id: self.id.as_uuid(),
            owner_id: self.owner.as_uuid(),
            title: self.title.as_str().to_owned(),
            selection: selection_text(&self.selection)?,
            created_at: micros(self.created_at),
            updated_at: micros(self.updated_at),
            is_pinned: self.is_pinned,
            limited_key_id: self.limited_key.map(|key| key.as_uuid()),
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        Ok(Conversation {
            id: ConversationId::from_uuid(row.id),
            owner: UserId::from_uuid(row.owner_id),
            title: stored(row.title, "conversation's title")?,
            selection: row.selection.as_deref().map(selection).transpose()?.unwrap_or_default(),
            is_pinned: row.is_pinned,
            limited_key: row.limited_key_id.map(ApiKeyId::from_uuid),
            created_at: instant(row.created_at, "conversation's time")?,
            updated_at: instant(row.updated_at, "conversation's time")?,
        })
    }
}

/// Column value of a selection; none for all documents.
pub fn selection_text(selection: &ConversationSelection) -> Result<Option<String>> {
    (!selection.is_everything()).then(|| Ok(json(selection)?.to_string())).transpose()
}

fn selection(text: &str) -> Result<ConversationSelection> {
    let what = "conversation's selection";
    let selection: ConversationSelection = of_json_text(text, what)?;
    // A value without any choice would select everything.
    if selection.is_everything() { Err(corrupt(what)) } else { Ok(selection) }
}
