//! Conversations in the relational store.

use crate::{
    error::Result,
    page::{Page, PageRequest},
};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::{
    conversation::{Conversation, ConversationMessage},
    id::{ConversationId, UserId},
};

/// Which conversations to list.
#[derive(Clone, Debug, Default)]
pub struct ConversationFilter {
    /// Only this account's.
    pub owner: Option<UserId>,
    /// Only those whose title holds this text, ASCII letters in either case.
    pub text: Option<String>,
    /// Only those behind this place of the list.
    pub after: Option<ConversationPosition>,
}

/// A place in the list of conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConversationPosition {
    /// When something was last said in the conversation there.
    pub updated_at: DateTime<Utc>,
    /// Its id.
    pub id: ConversationId,
}

/// Reads conversations.
#[async_trait]
pub trait ConversationReader: Send {
    /// The conversation with this id.
    async fn get(&mut self, id: ConversationId) -> Result<Option<Conversation>>;

    /// Conversations, the one that something was said in last first, each with the number of its messages.
    async fn list(
        &mut self,
        filter: &ConversationFilter,
        page: PageRequest,
    ) -> Result<Page<(Conversation, u64)>>;

    /// Messages of a conversation, the first one first.
    async fn messages(&mut self, id: ConversationId, page: PageRequest) -> Result<Page<ConversationMessage>>;
}

/// Reads and changes conversations.
#[async_trait]
pub trait ConversationWriter: ConversationReader {
    /// Adds a conversation; `false`, and nothing added, when there is one with its id.
    ///
    /// # Errors
    /// When its owner does not exist.
    async fn insert(&mut self, conversation: &Conversation) -> Result<bool>;

    /// Writes the conversation's present title and time; says whether there was one with its id.
    async fn update(&mut self, conversation: &Conversation) -> Result<bool>;

    /// Removes a conversation with its messages; says whether there was one.
    async fn delete(&mut self, id: ConversationId) -> Result<bool>;

    /// Adds messages after those that are there, whatever ordinals they carry, and gives the ordinal of the first.
    ///
    /// # Errors
    /// When the conversation does not exist.
    async fn append(&mut self, messages: &[ConversationMessage]) -> Result<u32>;
}
