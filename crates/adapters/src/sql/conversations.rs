//! Conversations in SQL.

use super::{
    entities::{
        conversations::{self, Column, Entity, Model},
        messages,
    },
    fault::corrupt,
    listing::{contains, on},
    session::Session,
    values::{counted, instant, micros, number},
};
use async_trait::async_trait;
use docent_domain::{
    chat::AgentName,
    chunk::{PageStart, Position, Span},
    conversation::{Conversation, ConversationMessage, ConversationTitle, MessageRole},
    id::{ChunkId, ConversationId, DocumentId, MessageId, UserId},
    retrieval::ScoredChunk,
    usage::TokenUsage,
};
use docent_ports::{
    conversations::{ConversationFilter, ConversationReader, ConversationWriter},
    error::Result,
    page::{Page, PageRequest},
};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, ExprTrait, IntoActiveModel, QueryFilter, QueryOrder,
    QuerySelect, Select,
    sea_query::{Expr, OnConflict},
};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use uuid::Uuid;

#[async_trait]
impl ConversationReader for Session {
    async fn get(&mut self, id: ConversationId) -> Result<Option<Conversation>> {
        let query = self.hold(Entity::find_by_id(id.as_uuid()));
        let row = self.run("read a conversation", |db| Box::pin(query.one(db))).await?;
        row.map(from_row).transpose()
    }

    async fn list(
        &mut self,
        filter: &ConversationFilter,
        page: PageRequest,
    ) -> Result<Page<(Conversation, u64)>> {
        let mut rows = Entity::find();
        if let Some(owner) = filter.owner {
            rows = rows.filter(Column::OwnerId.eq(owner.as_uuid()));
        }
        if let Some(text) = &filter.text {
            rows = rows.filter(contains(Expr::col(Column::Title), text, self.backend()));
        }
        if let Some(after) = filter.after {
            let updated_at = micros(after.updated_at);
            let same = Column::UpdatedAt.eq(updated_at).and(Column::Id.lt(after.id.as_uuid()));
            rows = rows.filter(Column::UpdatedAt.lt(updated_at).or(same));
        }
        let order = |rows: Select<Entity>| rows.order_by_desc(Column::UpdatedAt).order_by_desc(Column::Id);
        let listed = self.listed("list conversations", rows, order, page, from_row).await?;
        let ids = listed.records.iter().map(|conversation| conversation.id.as_uuid());
        let sizes = messages::Entity::find()
            .select_only()
            .column(messages::Column::ConversationId)
            .column_as(messages::Column::Id.count(), "messages")
            .filter(messages::Column::ConversationId.is_in(ids))
            .group_by(messages::Column::ConversationId)
            .into_tuple::<(Uuid, i64)>();
        let sizes = self.run("count messages", |db| Box::pin(sizes.all(db))).await?;
        let sizes: HashMap<Uuid, i64> = sizes.into_iter().collect();
        let sized = |conversation: Conversation| {
            let size = sizes.get(&conversation.id.as_uuid()).copied().unwrap_or(0);
            Ok((conversation, counted(size, "count of messages")?))
        };
        Ok(Page {
            records: listed.records.into_iter().map(sized).collect::<Result<_>>()?,
            total: listed.total,
        })
    }

    async fn messages(&mut self, id: ConversationId, page: PageRequest) -> Result<Page<ConversationMessage>> {
        let rows = messages::Entity::find().filter(messages::Column::ConversationId.eq(id.as_uuid()));
        let order = |rows: Select<messages::Entity>| rows.order_by_asc(messages::Column::Ordinal);
        self.listed("read messages", rows, order, page, message).await
    }
}

#[async_trait]
impl ConversationWriter for Session {
    async fn insert(&mut self, conversation: &Conversation) -> Result<bool> {
        let taken = OnConflict::column(Column::Id).do_nothing().to_owned();
        let insert = Entity::insert(to_row(conversation)).on_conflict(taken);
        let inserted =
            self.run("add a conversation", |db| Box::pin(insert.exec_without_returning(db))).await?;
        Ok(inserted > 0)
    }

    async fn update(&mut self, conversation: &Conversation) -> Result<bool> {
        let update = Entity::update_many()
            .col_expr(Column::Title, Expr::val(conversation.title.as_str()))
            .col_expr(Column::UpdatedAt, Expr::val(micros(conversation.updated_at)))
            .filter(Column::Id.eq(conversation.id.as_uuid()));
        let result = self.run("change a conversation", |db| Box::pin(update.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }

    async fn delete(&mut self, id: ConversationId) -> Result<bool> {
        let delete = Entity::delete_by_id(id.as_uuid());
        let result = self.run("remove a conversation", |db| Box::pin(delete.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }

    async fn append(&mut self, added: &[ConversationMessage]) -> Result<u32> {
        let Some(conversation) = added.first().map(|message| message.conversation) else { return Ok(0) };
        // Holds the conversation, so that two who append take turns.
        ConversationReader::get(self, conversation).await?;
        let last = messages::Entity::find()
            .filter(messages::Column::ConversationId.eq(conversation.as_uuid()))
            .order_by_desc(messages::Column::Ordinal);
        let last = on(last, PageRequest { offset: 0, limit: 1 })
            .select_only()
            .column(messages::Column::Ordinal)
            .into_tuple::<i64>();
        let last = self.run("read the last message", |db| Box::pin(last.one(db))).await?;
        let first = last.map_or(0, |last| last + 1);
        let rows = added.iter().zip(first..).map(|(message, ordinal)| to_message_row(message, ordinal));
        let insert = messages::Entity::insert_many(rows.collect::<Result<Vec<_>>>()?);
        self.run("add messages", |db| Box::pin(insert.exec_without_returning(db))).await?;
        counted(first, "message's place")
    }
}

fn to_row(conversation: &Conversation) -> conversations::ActiveModel {
    let row = Model {
        id: conversation.id.as_uuid(),
        owner_id: conversation.owner.as_uuid(),
        title: conversation.title.as_str().to_owned(),
        created_at: micros(conversation.created_at),
        updated_at: micros(conversation.updated_at),
    };
    row.into_active_model().reset_all()
}

pub(super) fn from_row(row: Model) -> Result<Conversation> {
    Ok(Conversation {
        id: ConversationId::from_uuid(row.id),
        owner: UserId::from_uuid(row.owner_id),
        title: ConversationTitle::parse(&row.title).map_err(|_| corrupt("conversation's title"))?,
        created_at: instant(row.created_at, "conversation's time")?,
        updated_at: instant(row.updated_at, "conversation's time")?,
    })
}

fn to_message_row(message: &ConversationMessage, ordinal: i64) -> Result<messages::ActiveModel> {
    let (agent, sources, tokens, is_complete) = match &message.role {
        MessageRole::User => (None, &[][..], TokenUsage::default(), true),
        MessageRole::Agent { name, sources, tokens, is_complete } => {
            (Some(name.as_str().to_owned()), sources.as_slice(), *tokens, *is_complete)
        }
    };
    let sources: Vec<Source> = sources.iter().map(Source::of).collect();
    let row = messages::Model {
        id: message.id.as_uuid(),
        conversation_id: message.conversation.as_uuid(),
        ordinal,
        agent,
        content: message.content.clone(),
        sources: serde_json::to_value(sources).map_err(|_| corrupt("sources of a message"))?,
        prompt_tokens: number(tokens.prompt, "a number of tokens")?,
        completion_tokens: number(tokens.completion, "a number of tokens")?,
        is_complete,
        created_at: micros(message.at),
    };
    Ok(row.into_active_model().reset_all())
}

fn message(row: messages::Model) -> Result<ConversationMessage> {
    let role = match row.agent {
        None => MessageRole::User,
        Some(agent) => {
            let sources: Vec<Source> =
                serde_json::from_value(row.sources).map_err(|_| corrupt("sources of a message"))?;
            MessageRole::Agent {
                name: AgentName::parse(&agent).map_err(|_| corrupt("agent's name"))?,
                sources: sources.into_iter().map(Source::chunk).collect(),
                tokens: TokenUsage {
                    prompt: counted(row.prompt_tokens, "number of tokens")?,
                    completion: counted(row.completion_tokens, "number of tokens")?,
                },
                is_complete: row.is_complete,
            }
        }
    };
    Ok(ConversationMessage {
        id: MessageId::from_uuid(row.id),
        conversation: ConversationId::from_uuid(row.conversation_id),
        ordinal: counted(row.ordinal, "message's place")?,
        role,
        content: row.content,
        at: instant(row.created_at, "message's time")?,
    })
}

/// A passage that an answer rests on, as the column holds it.
#[derive(Serialize, Deserialize)]
struct Source {
    chunk: Uuid,
    document: Uuid,
    title: String,
    text: String,
    /// Page and byte, of its beginning and of what comes after its end.
    span: [u32; 4],
    /// Page and byte in the text.
    pages: Vec<[u32; 2]>,
    score: f32,
}

impl Source {
    fn of(chunk: &ScoredChunk) -> Self {
        let Span { start, end } = chunk.span;
        Self {
            chunk: chunk.id.as_uuid(),
            document: chunk.document_id.as_uuid(),
            title: chunk.title.clone(),
            text: chunk.text.clone(),
            span: [start.page, start.offset, end.page, end.offset],
            pages: chunk.pages.iter().map(|start| [start.page, start.at]).collect(),
            score: chunk.score,
        }
    }

    fn chunk(self) -> ScoredChunk {
        let [start_page, start, end_page, end] = self.span;
        ScoredChunk {
            id: ChunkId::from_uuid(self.chunk),
            document_id: DocumentId::from_uuid(self.document),
            title: self.title,
            text: self.text,
            span: Span {
                start: Position { page: start_page, offset: start },
                end: Position { page: end_page, offset: end },
            },
            pages: self.pages.into_iter().map(|[page, at]| PageStart { page, at }).collect(),
            score: self.score,
        }
    }
}
