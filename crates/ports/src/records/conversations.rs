//! Forms of conversations, their messages, and stored responses.

use super::Stored;
use chrono::{DateTime, Utc};
use docent_domain::chat::AgentName;
use docent_domain::chunk::{PageStart, Span};
use docent_domain::conversation::{
    Conversation, ConversationMessage, ConversationSelection, ConversationTitle, MessageRole,
};
use docent_domain::error::ValidationError;
use docent_domain::fallback::FallbackCause;
use docent_domain::feedback::{Feedback, FeedbackComment, FeedbackReason, Rating};
use docent_domain::id::{
    ApiKeyId, ChunkId, CollectionId, ConversationId, DocumentId, MessageId, ResponseId, UserId,
};
use docent_domain::retrieval::ScoredChunk;
use docent_domain::stored_response::StoredResponse;
use docent_domain::usage::TokenUsage;
use serde::{Deserialize, Serialize};

record! {
    Conversation {
        id: ConversationId,
        owner: UserId,
        title: ConversationTitle,
        #[serde(flatten)]
        selection: ConversationSelection,
        #[serde(default)]
        is_pinned: bool,
        limited_key: Option<ApiKeyId>,
        created_at: DateTime<Utc>,
        updated_at: DateTime<Utc>,
    }
}

record! {
    ConversationSelection {
        #[serde(skip_serializing_if = "Option::is_none")]
        collections: Option<Vec<CollectionId>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        documents: Option<Vec<DocumentId>>,
    }
}

record! {
    ConversationMessage {
        id: MessageId,
        conversation: ConversationId,
        content: String,
        at: DateTime<Utc>,
        replaced_at: Option<DateTime<Utc>>,
        #[serde(rename = "answer")]
        role: MessageRole,
    } without {
        // Assigned when it is appended.
        ordinal: 0,
    }
}

optional_record! {
    MessageRole: User or Agent {
        #[serde(rename = "agent")]
        name: AgentName,
        sources: Vec<ScoredChunk>,
        #[serde(flatten)]
        tokens: TokenUsage,
        is_complete: bool,
        #[serde(default)]
        is_declined: bool,
        best_score: Option<f32>,
        fallback: Option<FallbackCause>,
        feedback: Option<Feedback>,
    }
}

record! {
    ScoredChunk {
        #[serde(rename = "chunk")]
        id: ChunkId,
        #[serde(rename = "document")]
        document_id: DocumentId,
        #[serde(default = "super::documents::first_version")]
        version: u32,
        title: String,
        text: String,
        span: Span,
        pages: Vec<PageStart>,
        score: f32,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        recognized: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        label: Option<String>,
    } without {
        headings: String::new(),
    }
}

record! {
    Feedback {
        #[serde(flatten)]
        rating: Rating,
        comment: Option<FeedbackComment>,
        at: DateTime<Utc>,
    }
}

/// The form of a [`Rating`].
#[derive(Serialize, Deserialize)]
pub struct RatingForm {
    rating: String,
    reason: Option<String>,
}

impl Stored for Rating {
    type Form = RatingForm;

    fn to_form(&self) -> RatingForm {
        RatingForm { rating: self.name().to_owned(), reason: self.reason().to_form() }
    }

    fn from_form(form: RatingForm) -> Result<Self, ValidationError> {
        Self::parse(&form.rating, Option::<FeedbackReason>::from_form(form.reason)?)
    }
}

record! {
    StoredResponse {
        id: ResponseId,
        owner: UserId,
        limited_key: Option<ApiKeyId>,
        previous: Option<ResponseId>,
        content: String,
        created_at: DateTime<Utc>,
    }
}
