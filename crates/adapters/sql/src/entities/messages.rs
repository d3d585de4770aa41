use crate::fault::corrupt;
use crate::record::{Record, all_columns};
use crate::values::{counted, instant, json, micros, number, of_json, stored};
use docent_domain::conversation::{ConversationMessage, MessageRole};
use docent_domain::fault::Result;
use docent_domain::feedback::{Feedback, Rating};
use docent_domain::id::{ConversationId, MessageId};
use docent_domain::usage::TokenUsage;
use sea_orm::entity::prelude::*;

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
    pub is_declined: bool,
    pub best_score: Option<f32>,
    pub rating: Option<String>,
    pub feedback_reason: Option<String>,
    pub feedback_comment: Option<String>,
    pub feedback_at: Option<i64>,
    pub replaced_at: Option<i64>,
    pub fallback: Option<String>,
}

no_relations!();

impl Record for ConversationMessage {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        let question = Model {
            id: self.id.as_uuid(),
            conversation_id: self.conversation.as_uuid(),
            ordinal: i64::from(self.ordinal),
            agent: None,
            content: self.content.clone(),
            sources: Json::Array(Vec::new()),
            prompt_tokens: 0,
            completion_tokens: 0,
            is_complete: true,
            created_at: micros(self.at),
            is_declined: false,
            best_score: None,
            rating: None,
            feedback_reason: None,
            feedback_comment: None,
            feedback_at: None,
            replaced_at: self.replaced_at.map(micros),
            fallback: None,
        };
        let row = match &self.role {
            MessageRole::User => question,
            MessageRole::Agent {
                name,
                sources,
                tokens,
                is_complete,
                is_declined,
                best_score,
                fallback,
                feedback,
            } => {
                let feedback = FeedbackColumns::of(feedback.as_ref());
                Model {
                    agent: Some(name.as_str().to_owned()),
                    sources: json(sources)?,
                    prompt_tokens: number(tokens.prompt, "a number of tokens")?,
                    completion_tokens: number(tokens.completion, "a number of tokens")?,
                    is_complete: *is_complete,
                    is_declined: *is_declined,
                    best_score: *best_score,
                    rating: feedback.rating,
                    feedback_reason: feedback.reason,
                    feedback_comment: feedback.comment,
                    feedback_at: feedback.at,
                    fallback: fallback.map(|cause| cause.code().to_owned()),
                    ..question
                }
            }
        };
        Ok(all_columns(row))
    }

    fn from_row(row: Model) -> Result<Self> {
        let role = match row.agent {
            None => MessageRole::User,
            Some(agent) => MessageRole::Agent {
                name: stored(agent, "agent's name")?,
                sources: of_json(row.sources, "sources of a message")?,
                tokens: TokenUsage {
                    prompt: counted(row.prompt_tokens, "number of tokens")?,
                    completion: counted(row.completion_tokens, "number of tokens")?,
                },
                is_complete: row.is_complete,
                is_declined: row.is_declined,
                best_score: row.best_score,
                fallback: stored(row.fallback, "cause of a fallback")?,
                feedback: FeedbackColumns {
                    rating: row.rating,
                    reason: row.feedback_reason,
                    comment: row.feedback_comment,
                    at: row.feedback_at,
                }
                .feedback()?,
            },
        };
        Ok(ConversationMessage {
            id: MessageId::from_uuid(row.id),
            conversation: ConversationId::from_uuid(row.conversation_id),
            ordinal: counted(row.ordinal, "message's place")?,
            role,
            content: row.content,
            at: instant(row.created_at, "message's time")?,
            replaced_at: row.replaced_at.map(|at| instant(at, "message's time")).transpose()?,
        })
    }
}

/// Column values of feedback.
#[derive(Default)]
pub struct FeedbackColumns {
    pub rating: Option<String>,
    pub reason: Option<String>,
    pub comment: Option<String>,
    pub at: Option<i64>,
}

impl FeedbackColumns {
    pub fn of(feedback: Option<&Feedback>) -> Self {
        let Some(Feedback { rating, comment, at }) = feedback else { return Self::default() };
        Self {
            rating: Some(rating.name().to_owned()),
            reason: rating.reason().map(|reason| reason.name().to_owned()),
            comment: comment.as_ref().map(|comment| comment.as_str().to_owned()),
            at: Some(micros(*at)),
        }
    }

    fn feedback(self) -> Result<Option<Feedback>> {
        let what = "feedback on a message";
        let Some(rating) = self.rating else { return Ok(None) };
        let rating = Rating::parse(&rating, stored(self.reason, what)?).map_err(|_| corrupt(what))?;
        let at = self.at.ok_or_else(|| corrupt(what))?;
        Ok(Some(Feedback { rating, comment: stored(self.comment, what)?, at: instant(at, what)? }))
    }
}
