//! Conversations in the relational store.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::conversation::{Conversation, ConversationMessage};
use docent_domain::fault::Result;
use docent_domain::feedback::Feedback;
use docent_domain::id::{CollectionId, ConversationId, MessageId, ResponseId, UserId};
use docent_domain::listing::{AnswerFilter, ConversationFilter, Page, PageRequest};
use docent_domain::scope::Scope;
use docent_domain::stored_response::StoredResponse;
use std::collections::{BTreeSet, HashMap};

/// The size of a message in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageSize {
    /// Size of its text, and of the comment on it.
    pub text: u64,
    /// Size of its sources as stored.
    pub sources: u64,
}

impl MessageSize {
    /// The size of the whole message.
    pub const fn total(self) -> u64 {
        self.text.saturating_add(self.sources)
    }
}

/// An answer with its question, as a list of answers contains it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedAnswer {
    /// The answer without its text.
    pub answer: ConversationMessage,
    /// Account that asked.
    pub owner: UserId,
    /// The beginning of the question.
    pub question: String,
}

/// Reads conversations.
#[async_trait]
pub trait ConversationReader: Send {
    /// Returns the conversation with this ID.
    async fn get(&mut self, id: ConversationId) -> Result<Option<Conversation>>;

    /// Lists conversations with their number of messages, last updated first.
    async fn list(
        &mut self,
        filter: &ConversationFilter,
        page: PageRequest,
    ) -> Result<Page<(Conversation, u64)>>;

    /// Returns the sizes of messages without reading them, oldest first. Only feedback on messages
    /// and whether they are replaced ever change, so that a caller can choose from their sizes how many of them to read.
    async fn message_sizes(&mut self, id: ConversationId, page: PageRequest) -> Result<Page<MessageSize>>;

    /// Lists the messages of a conversation, oldest first.
    async fn messages(&mut self, id: ConversationId, page: PageRequest) -> Result<Page<ConversationMessage>>;

    /// Returns the ordinal of an answer of the conversation that is not replaced.
    async fn answer_ordinal(&mut self, id: ConversationId, answer: MessageId) -> Result<Option<u32>>;

    /// Returns the collections that each of these conversations is shared with; without those that are not shared.
    async fn shared_with(
        &mut self,
        ids: &[ConversationId],
    ) -> Result<HashMap<ConversationId, BTreeSet<CollectionId>>>;

    /// Returns the ordinal of the first answer, without replaced ones, that cites a document outside the scope or a deleted one.
    async fn first_unreadable(&mut self, id: ConversationId, scope: &Scope) -> Result<Option<u32>>;

    /// Lists answers of all conversations with at most `question_max` characters of their questions, newest first.
    async fn answers(
        &mut self,
        filter: &AnswerFilter,
        question_max: u32,
        page: PageRequest,
    ) -> Result<Page<ListedAnswer>>;

    /// Returns the stored response with this ID.
    async fn response(&mut self, id: ResponseId) -> Result<Option<StoredResponse>>;
}

/// Reads and changes conversations.
#[async_trait]
pub trait ConversationWriter: ConversationReader {
    /// Adds a conversation. Returns `false` without adding it if the ID exists.
    ///
    /// # Errors
    /// If the owner does not exist.
    async fn insert(&mut self, conversation: &Conversation) -> Result<bool>;

    /// Updates the title, selection and time of a conversation, and whether it is pinned. Returns whether it existed.
    async fn update(&mut self, conversation: &Conversation) -> Result<bool>;

    /// Deletes a conversation with its messages. Returns whether it existed.
    async fn delete(&mut self, id: ConversationId) -> Result<bool>;

    /// Shares a conversation with these collections only.
    ///
    /// # Errors
    /// If the conversation or a collection does not exist.
    async fn share(&mut self, id: ConversationId, collections: &BTreeSet<CollectionId>) -> Result<()>;

    /// Appends messages, ignoring their ordinals. Returns the ordinal of the first one.
    ///
    /// # Errors
    /// If the conversation does not exist.
    async fn append(&mut self, messages: &[ConversationMessage]) -> Result<u32>;

    /// Marks messages from an ordinal on as replaced, except those that are already.
    async fn replace_from(&mut self, id: ConversationId, ordinal: u32, at: DateTime<Utc>) -> Result<()>;

    /// Replaces or removes the feedback on an answer. Returns whether the conversation has an answer with this ID.
    async fn set_feedback(
        &mut self,
        conversation: ConversationId,
        answer: MessageId,
        feedback: Option<&Feedback>,
    ) -> Result<bool>;

    /// Adds a stored response.
    ///
    /// # Errors
    /// If the owner does not exist or the ID exists.
    async fn insert_response(&mut self, response: &StoredResponse) -> Result<()>;

    /// Deletes a stored response. Returns whether it existed.
    async fn delete_response(&mut self, id: ResponseId) -> Result<bool>;

    /// Deletes stored responses created before this time: at most `limit`. Returns how many.
    async fn purge_responses(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64>;
}
