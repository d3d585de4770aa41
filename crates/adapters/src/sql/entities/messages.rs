use crate::sql::fault::corrupt;
use crate::sql::record::{Record, all_columns};
use crate::sql::values::{counted, instant, micros, number};
use docent_domain::chat::AgentName;
use docent_domain::chunk::PageStart;
use docent_domain::conversation::{ConversationMessage, MessageRole};
use docent_domain::fault::Result;
use docent_domain::id::{ChunkId, ConversationId, DocumentId, MessageId};
use docent_domain::retrieval::ScoredChunk;
use docent_domain::usage::TokenUsage;
use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "messages")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub conversation_id: Uuid,
    pub ordinal: i64,
    pub agent: Option<String>,
    pub content: String,
    pub sources: Json,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
    pub is_complete: bool,
    pub created_at: i64,
}

no_relations!();

impl Record for ConversationMessage {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        let (agent, sources, tokens, is_complete) = match &self.role {
            MessageRole::User => (None, &[][..], TokenUsage::default(), true),
            MessageRole::Agent { name, sources, tokens, is_complete } => {
                (Some(name.as_str().to_owned()), sources.as_slice(), *tokens, *is_complete)
            }
        };
        let sources: Vec<Source> = sources.iter().map(Source::of).collect();
        Ok(all_columns(Model {
            id: self.id.as_uuid(),
            conversation_id: self.conversation.as_uuid(),
            ordinal: i64::from(self.ordinal),
            agent,
            content: self.content.clone(),
            sources: serde_json::to_value(sources).map_err(|_| corrupt("sources of a message"))?,
            prompt_tokens: number(tokens.prompt, "a number of tokens")?,
            completion_tokens: number(tokens.completion, "a number of tokens")?,
            is_complete,
            created_at: micros(self.at),
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
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
}

/// A passage that an answer rests on, as the column holds it.
#[derive(Serialize, Deserialize)]
struct Source {
    chunk: Uuid,
    document: Uuid,
    /// Missing in messages stored before there were versions.
    #[serde(default = "first_version")]
    version: u32,
    title: String,
    text: String,
    /// Page and byte, of its beginning and of what comes after its end.
    span: [u32; 4],
    /// Page and byte in the text.
    pages: Vec<[u32; 2]>,
    score: f32,
    /// Missing unless it is true.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    recognized: bool,
    /// Missing for PDFs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
}

const fn first_version() -> u32 {
    1
}

impl Source {
    fn of(chunk: &ScoredChunk) -> Self {
        Self {
            chunk: chunk.id.as_uuid(),
            document: chunk.document_id.as_uuid(),
            version: chunk.version,
            title: chunk.title.clone(),
            text: chunk.text.clone(),
            span: chunk.span.into(),
            pages: chunk.pages.iter().copied().map(Into::into).collect(),
            score: chunk.score,
            recognized: chunk.recognized,
            label: chunk.label.clone(),
        }
    }

    fn chunk(self) -> ScoredChunk {
        ScoredChunk {
            id: ChunkId::from_uuid(self.chunk),
            document_id: DocumentId::from_uuid(self.document),
            version: self.version,
            title: self.title,
            text: self.text,
            span: self.span.into(),
            pages: self.pages.into_iter().map(PageStart::from).collect(),
            score: self.score,
            recognized: self.recognized,
            label: self.label,
        }
    }
}
