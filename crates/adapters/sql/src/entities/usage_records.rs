use crate::record::{Record, all_columns};
use crate::values::{counted, instant, micros, number, stored};
use docent_domain::fault::Result;
use docent_domain::id::{ApiKeyId, ConversationId, UsageId, UserId};
use docent_domain::usage::{TokenUsage, UsageRecord};
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "usage_records")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub user_id: Uuid,
    pub api_key_id: Option<Uuid>,
    pub conversation_id: Option<Uuid>,
    pub agent: String,
    pub model: String,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
    pub recorded_at: i64,
}

no_relations!();

impl Record for UsageRecord {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        Ok(all_columns(Model {
            id: self.id.as_uuid(),
            user_id: self.user.as_uuid(),
            api_key_id: self.api_key.map(|id| id.as_uuid()),
            conversation_id: self.conversation.map(|id| id.as_uuid()),
            agent: self.agent.as_str().to_owned(),
            model: self.model.clone(),
            prompt_tokens: number(self.tokens.prompt, "a number of tokens")?,
            completion_tokens: number(self.tokens.completion, "a number of tokens")?,
            recorded_at: micros(self.at),
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        Ok(UsageRecord {
            id: UsageId::from_uuid(row.id),
            user: UserId::from_uuid(row.user_id),
            api_key: row.api_key_id.map(ApiKeyId::from_uuid),
            conversation: row.conversation_id.map(ConversationId::from_uuid),
            agent: stored(row.agent, "agent's name")?,
            model: row.model,
            tokens: TokenUsage {
                prompt: counted(row.prompt_tokens, "number of tokens")?,
                completion: counted(row.completion_tokens, "number of tokens")?,
            },
            at: instant(row.recorded_at, "time of use")?,
        })
    }
}
