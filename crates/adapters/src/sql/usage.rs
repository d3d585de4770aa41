//! The usage ledger in SQL.

use super::{
    entities::usage_records::{Column, Entity, Model},
    fault::corrupt,
    session::Session,
    values::{counted, instant, micros, number},
};
use async_trait::async_trait;
use docent_domain::{
    chat::AgentName,
    id::{ApiKeyId, ConversationId, UsageId, UserId},
    usage::{TokenUsage, UsageRecord},
};
use docent_ports::{error::Result, usage::UsageWriter};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QuerySelect,
    sea_query::{Expr, ExprTrait, Func},
};

#[async_trait]
impl UsageWriter for Session {
    async fn insert(&mut self, record: &UsageRecord) -> Result<()> {
        let row = Model {
            id: record.id.as_uuid(),
            user_id: record.user.as_uuid(),
            api_key_id: record.api_key.map(|id| id.as_uuid()),
            conversation_id: record.conversation.map(|id| id.as_uuid()),
            agent: record.agent.as_str().to_owned(),
            model: record.model.clone(),
            prompt_tokens: number(record.tokens.prompt, "a number of tokens")?,
            completion_tokens: number(record.tokens.completion, "a number of tokens")?,
            recorded_at: micros(record.at),
        };
        let insert = Entity::insert(row.into_active_model().reset_all());
        self.run("record usage", |db| Box::pin(insert.exec_without_returning(db))).await?;
        Ok(())
    }

    async fn total_of(&mut self, user: UserId) -> Result<TokenUsage> {
        // PostgreSQL's sum of big integers is a decimal number, hence the cast.
        let sum = |column: Column| Func::coalesce([column.sum(), Expr::val(0)]).cast_as("bigint");
        let query = Entity::find()
            .select_only()
            .expr_as(sum(Column::PromptTokens), "prompt")
            .expr_as(sum(Column::CompletionTokens), "completion")
            .filter(Column::UserId.eq(user.as_uuid()))
            .into_tuple::<(i64, i64)>();
        let sums = self.run("sum up usage", |db| Box::pin(query.one(db))).await?;
        let (prompt, completion) = sums.unwrap_or_default();
        Ok(TokenUsage {
            prompt: counted(prompt, "usage sum")?,
            completion: counted(completion, "usage sum")?,
        })
    }
}

pub(super) fn from_row(row: Model) -> Result<UsageRecord> {
    Ok(UsageRecord {
        id: UsageId::from_uuid(row.id),
        user: UserId::from_uuid(row.user_id),
        api_key: row.api_key_id.map(ApiKeyId::from_uuid),
        conversation: row.conversation_id.map(ConversationId::from_uuid),
        agent: AgentName::parse(&row.agent).map_err(|_| corrupt("agent's name"))?,
        model: row.model,
        tokens: TokenUsage {
            prompt: counted(row.prompt_tokens, "number of tokens")?,
            completion: counted(row.completion_tokens, "number of tokens")?,
        },
        at: instant(row.recorded_at, "time of use")?,
    })
}
