//! Conversations in the archive format.

use super::lines::{id, instant, invalid};
use super::{BackupError, invalid_archive};
use docent_domain::chat::AgentName;
use docent_domain::chunk::PageStart;
use docent_domain::conversation::{
    Conversation, ConversationMessage, ConversationSelection, ConversationTitle, MessageRole,
};
use docent_domain::fallback::FallbackCause;
use docent_domain::feedback::{Feedback, FeedbackComment, FeedbackReason, Rating};
use docent_domain::id::{ChunkId, CollectionId};
use docent_domain::retrieval::ScoredChunk;
use docent_domain::usage::TokenUsage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ConversationLine {
    id: String,
    owner: String,
    title: String,
    /// None in archives of earlier versions and for all documents.
    collections: Option<Vec<String>>,
    documents: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_pinned: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limited_key: Option<String>,
    /// Collections that it is shared with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    shared_with: Vec<String>,
    created_at: i64,
    updated_at: i64,
}

/// A message. Messages are in order.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MessageLine {
    id: String,
    conversation: String,
    content: String,
    at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replaced_at: Option<i64>,
    /// None for a message of the user.
    answer: Option<AnswerLine>,
}

#[derive(Debug, Serialize, Deserialize)]
struct AnswerLine {
    agent: String,
    sources: Vec<SourceLine>,
    prompt: u64,
    completion: u64,
    is_complete: bool,
    #[serde(default)]
    is_declined: bool,
    best_score: Option<f32>,
    /// Code of the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fallback: Option<String>,
    feedback: Option<FeedbackLine>,
}

#[derive(Debug, Serialize, Deserialize)]
struct FeedbackLine {
    rating: String,
    reason: Option<String>,
    comment: Option<String>,
    at: i64,
}

#[derive(Debug, Serialize, Deserialize)]
struct SourceLine {
    chunk: String,
    document: String,
    #[serde(default = "first_version")]
    version: u32,
    title: String,
    text: String,
    /// Start page and offset, end page and offset.
    span: [u32; 4],
    /// The number and start offset of each page.
    pages: Vec<[u32; 2]>,
    score: f32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    recognized: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
}

/// The version that archives of earlier versions do not name.
pub(super) const fn first_version() -> u32 {
    1
}

impl ConversationLine {
    pub(super) fn of(conversation: &Conversation, shared_with: Option<&BTreeSet<CollectionId>>) -> Self {
        Self {
            id: conversation.id.to_string(),
            owner: conversation.owner.to_string(),
            title: conversation.title.as_str().to_owned(),
            collections: conversation.selection.collections.as_deref().map(texts),
            documents: conversation.selection.documents.as_deref().map(texts),
            is_pinned: conversation.is_pinned,
            limited_key: conversation.limited_key.map(|key| key.to_string()),
            shared_with: shared_with.into_iter().flatten().map(ToString::to_string).collect(),
            created_at: conversation.created_at.timestamp_micros(),
            updated_at: conversation.updated_at.timestamp_micros(),
        }
    }

    pub(super) fn conversation(self) -> Result<(Conversation, BTreeSet<CollectionId>), BackupError> {
        let conversation = Conversation {
            id: id(&self.id)?,
            owner: id(&self.owner)?,
            title: ConversationTitle::parse(&self.title).map_err(invalid)?,
            selection: ConversationSelection {
                collections: self.collections.as_deref().map(ids).transpose()?,
                documents: self.documents.as_deref().map(ids).transpose()?,
            },
            is_pinned: self.is_pinned,
            limited_key: self.limited_key.as_deref().map(id).transpose()?,
            created_at: instant(self.created_at)?,
            updated_at: instant(self.updated_at)?,
        };
        Ok((conversation, ids(&self.shared_with)?.into_iter().collect()))
    }
}

fn texts<T: ToString>(ids: &[T]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

fn ids<T: std::str::FromStr>(texts: &[String]) -> Result<Vec<T>, BackupError> {
    texts.iter().map(|text| id(text)).collect()
}

impl MessageLine {
    pub(super) fn of(message: &ConversationMessage) -> Self {
        let answer = match &message.role {
            MessageRole::User => None,
            MessageRole::Agent {
                name,
                sources,
                tokens,
                is_complete,
                is_declined,
                best_score,
                fallback,
                feedback,
            } => Some(AnswerLine {
                agent: name.as_str().to_owned(),
                sources: sources.iter().map(SourceLine::of).collect(),
                prompt: tokens.prompt,
                completion: tokens.completion,
                is_complete: *is_complete,
                is_declined: *is_declined,
                best_score: *best_score,
                fallback: fallback.map(|cause| cause.code().to_owned()),
                feedback: feedback.as_ref().map(FeedbackLine::of),
            }),
        };
        Self {
            id: message.id.to_string(),
            conversation: message.conversation.to_string(),
            content: message.content.clone(),
            at: message.at.timestamp_micros(),
            replaced_at: message.replaced_at.map(|at| at.timestamp_micros()),
            answer,
        }
    }

    /// The message. Its ordinal is assigned when it is appended.
    pub(super) fn message(self) -> Result<ConversationMessage, BackupError> {
        let role = match self.answer {
            None => MessageRole::User,
            Some(answer) => MessageRole::Agent {
                name: AgentName::parse(&answer.agent).map_err(invalid)?,
                sources: answer.sources.into_iter().map(SourceLine::chunk).collect::<Result<_, _>>()?,
                tokens: TokenUsage { prompt: answer.prompt, completion: answer.completion },
                is_complete: answer.is_complete,
                is_declined: answer.is_declined,
                best_score: answer.best_score,
                fallback: answer.fallback.as_deref().map(fallback).transpose()?,
                feedback: answer.feedback.map(FeedbackLine::feedback).transpose()?,
            },
        };
        Ok(ConversationMessage {
            id: id(&self.id)?,
            conversation: id(&self.conversation)?,
            ordinal: 0,
            role,
            content: self.content,
            at: instant(self.at)?,
            replaced_at: self.replaced_at.map(instant).transpose()?,
        })
    }
}

fn fallback(code: &str) -> Result<FallbackCause, BackupError> {
    let unknown = || invalid_archive(format!("{code:?} is not a cause of a fallback"));
    FallbackCause::parse(code).ok_or_else(unknown)
}

impl FeedbackLine {
    fn of(feedback: &Feedback) -> Self {
        Self {
            rating: feedback.rating.name().to_owned(),
            reason: feedback.rating.reason().map(|reason| reason.name().to_owned()),
            comment: feedback.comment.as_ref().map(|comment| comment.as_str().to_owned()),
            at: feedback.at.timestamp_micros(),
        }
    }

    fn feedback(self) -> Result<Feedback, BackupError> {
        let reason = |name: String| {
            FeedbackReason::parse(&name).ok_or_else(|| invalid_archive(format!("{name:?} is not a reason")))
        };
        let reason = self.reason.map(reason).transpose()?;
        Ok(Feedback {
            rating: Rating::parse(&self.rating, reason).map_err(invalid)?,
            comment: self.comment.as_deref().map(FeedbackComment::parse).transpose().map_err(invalid)?,
            at: instant(self.at)?,
        })
    }
}

impl SourceLine {
    fn of(chunk: &ScoredChunk) -> Self {
        Self {
            chunk: chunk.id.to_string(),
            document: chunk.document_id.to_string(),
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

    fn chunk(self) -> Result<ScoredChunk, BackupError> {
        Ok(ScoredChunk {
            headings: String::new(),
            id: id::<ChunkId>(&self.chunk)?,
            document_id: id(&self.document)?,
            version: self.version,
            title: self.title,
            text: self.text,
            span: self.span.into(),
            pages: self.pages.into_iter().map(PageStart::from).collect(),
            score: self.score,
            recognized: self.recognized,
            label: self.label,
        })
    }
}
