//! The request that an agent answers.

use super::text_limits::TextLimits;
use crate::settings::SearchMode;
use docent_domain::access::Actor;
use docent_domain::chat::{FunctionSpec, Message, Sampling};
use docent_domain::id::{ConversationId, MessageId};
use docent_domain::selection::Selection;

/// Limits of each search of the documents.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SearchLimits {
    /// Maximum number of passages, unless it is that of the service.
    pub max_passages: Option<usize>,
    /// Minimum score of a passage, from 0 to 1.
    pub min_score: f64,
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
    /// What the documents were searched for since the question, in earlier answers that calls of functions ended. The searches are
    /// repeated before the model is called, because the history has neither their passages nor their permissions.
    pub earlier_searches: Vec<String>,
    /// Limits of each search.
    pub search_limits: SearchLimits,
    /// Functions of the client that the model can call beside the agent's tools. None has the name of a tool. A call ends the answer.
    pub functions: Vec<FunctionSpec>,
    /// How the model chooses among likely tokens.
    pub sampling: Sampling,
    /// Whether the stream has the passages that each search found.
    pub includes_passages: bool,
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
            earlier_searches: Vec::new(),
            search_limits: SearchLimits::default(),
            functions: Vec::new(),
            sampling: Sampling::default(),
            includes_passages: false,
            quotes_as_fallback: false,
            includes_reasoning: false,
        }
    }

    /// Whether a function of the client has this name.
    pub(super) fn has_function(&self, name: &str) -> bool {
        self.functions.iter().any(|function| function.name == name)
    }

    /// The text of the last message, if the user wrote it.
    pub(super) fn question(&self) -> &str {
        match self.messages.last() {
            Some(Message::User(text)) => text,
            _ => "",
        }
    }
}
