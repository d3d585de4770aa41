//! The request that an agent answers.

use super::text_limits::TextLimits;
use docent_domain::access::Actor;
use docent_domain::chat::Message;
use docent_domain::id::{ConversationId, MessageId};
use docent_domain::selection::Selection;

/// Who decides that documents are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchMode {
    /// The model: it calls `search_docs` when it wants to.
    Model,
    /// The service: it searches for the question before the first model call. The model can search further.
    First,
}

/// A request to an agent.
#[derive(Clone, Debug)]
pub struct AgentRequest {
    /// The user or API key that sent the request.
    pub actor: Actor,
    /// The messages sent: instructions, earlier messages if the client stores them, and the question last.
    pub messages: Vec<Message>,
    /// The documents that tools may use, within the actor's scope.
    pub selection: Selection,
    /// The conversation that question and answer are recorded in, if any. Its earlier messages are sent to the model
    /// if `messages` has none.
    pub conversation: Option<ConversationId>,
    /// The answer of the conversation that this one replaces, with its question and everything after it.
    pub replaces: Option<MessageId>,
    /// Limits of the text of the answer.
    pub limits: TextLimits,
    /// Who decides on the first search, unless it is as the service is set up.
    pub search: Option<SearchMode>,
    /// Whether documents are quoted if the chat model fails before the first text of its answer.
    pub quotes_as_fallback: bool,
    /// Whether the stream has the reasoning of the model.
    pub includes_reasoning: bool,
}

impl AgentRequest {
    /// A request about all documents that belongs to no conversation, with the defaults of the service.
    pub fn new(actor: Actor, messages: Vec<Message>) -> Self {
        Self {
            actor,
            messages,
            selection: Selection::default(),
            conversation: None,
            replaces: None,
            limits: TextLimits::default(),
            search: None,
            quotes_as_fallback: false,
            includes_reasoning: false,
        }
    }

    /// The text of the last message, if the user wrote it.
    pub(super) fn question(&self) -> &str {
        match self.messages.last() {
            Some(Message::User(text)) => text,
            _ => "",
        }
    }
}
