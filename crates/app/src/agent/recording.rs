//! Writing down what was said.

use super::answer::Question;
use crate::{App, Error, conversations};
use chrono::{DateTime, Utc};
use docent_domain::{chat::AgentName, conversation::MessageRole, retrieval::ScoredChunk, usage::TokenUsage};

/// An answer as far as it has come.
#[derive(Debug)]
pub(super) struct Transcript {
    asked_at: DateTime<Utc>,
    /// What the agent said.
    pub(super) text: String,
    /// What it rests on, best first, each once.
    pub(super) sources: Vec<ScoredChunk>,
    /// Whether it was said to its end.
    pub(super) is_complete: bool,
}

impl Transcript {
    /// An answer of which nothing has been said.
    pub(super) fn begin(asked_at: DateTime<Utc>) -> Self {
        Self { asked_at, text: String::new(), sources: Vec::new(), is_complete: false }
    }

    /// Adds a passage that was found, unless it is there.
    pub(super) fn add_source(&mut self, passage: &ScoredChunk) {
        if self.sources.iter().all(|known| known.id != passage.id) {
            self.sources.push(passage.clone());
        }
    }

    /// Writes question and answer into the conversation, if there is one. A fault is logged: the answer has been
    /// given.
    pub(super) async fn record(self, app: &App, question: &Question, agent: AgentName, tokens: TokenUsage) {
        let Some(conversation) = question.conversation else { return };
        let Self { asked_at, text, sources, is_complete } = self;
        let author = MessageRole::Agent { name: agent, sources, tokens, is_complete };
        let asked = question.words().to_owned();
        if let Err(error) = conversations::append(app, conversation, asked, asked_at, text, author).await {
            tracing::error!(error = %docent_domain::fault::report(&error), %conversation, "what was said could not be recorded");
            if let Error::Fault(fault) = &error {
                app.note(fault);
            }
        }
    }
}
