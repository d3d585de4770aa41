//! Records an answer in its conversation.

use super::request::AgentRequest;
use crate::{App, Error, conversations};
use chrono::{DateTime, Utc};
use docent_domain::chat::AgentName;
use docent_domain::conversation::MessageRole;
use docent_domain::retrieval::ScoredChunk;
use docent_domain::usage::TokenUsage;

/// The answer generated so far.
#[derive(Debug)]
pub(super) struct Transcript {
    asked_at: DateTime<Utc>,
    /// The text of the answer.
    pub(super) text: String,
    /// The passages that were found, in the order found and without duplicates.
    pub(super) sources: Vec<ScoredChunk>,
    /// Whether the answer ended normally.
    pub(super) is_complete: bool,
}

impl Transcript {
    /// Creates an empty transcript.
    pub(super) fn begin(asked_at: DateTime<Utc>) -> Self {
        Self { asked_at, text: String::new(), sources: Vec::new(), is_complete: false }
    }

    /// Adds a passage, unless it is already a source.
    pub(super) fn add_source(&mut self, passage: &ScoredChunk) {
        if self.sources.iter().all(|known| known.id != passage.id) {
            self.sources.push(passage.clone());
        }
    }

    /// Adds question and answer to the request's conversation, if any. A fault is only logged: the answer has already
    /// been sent.
    pub(super) async fn record(
        self,
        app: &App,
        request: &AgentRequest,
        agent: AgentName,
        tokens: TokenUsage,
    ) {
        let Some(conversation) = request.conversation else { return };
        let Self { asked_at, text, sources, is_complete } = self;
        let role = MessageRole::Agent { name: agent, sources, tokens, is_complete };
        let question = request.question().to_owned();
        let selection = (&request.selection).into();
        let append = conversations::append(app, conversation, question, selection, asked_at, text, role);
        if let Err(error) = append.await {
            tracing::error!(error = %docent_domain::fault::report(&error), %conversation, "the question and its answer could not be recorded");
            if let Error::Fault(fault) = &error {
                app.note(fault);
            }
        }
    }
}
