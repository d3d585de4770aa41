//! The built-in answerer: an extractive chat model.
//!
//! It searches for the question of the user, selects the sentences and rows that answer it best and quotes them with title
//! and page. A name in the question that no passage contains is searched for separately. If the question is out of scope,
//! the answer says so. Passages are only quoted, so instructions in them have no effect.

mod calculation;
mod choice;
mod comparison;
mod criteria;
mod dialogue;
mod follow_up;
mod kinds;
mod mentions;
mod numbered;
mod opposites;
mod pages;
mod passage;
mod periods;
mod phrases;
mod question;
mod quote;
mod reasons;
mod records;
mod relevance;
mod reply;
mod scope;
mod statements;
mod summary;
mod text;
mod whole;

pub use text::quotes_page;

use super::spans;
use async_trait::async_trait;
use dialogue::plan;
use docent_domain::chat::FinishReason;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_ports::chat_model::{ChatEvent, ChatModel, ChatRequest, ChatStream};
use docent_text::lexical::Lexicon;
use futures::stream;
use reply::Reply;
use tokio::task::spawn_blocking;
use tracing::Instrument;

/// The name of the search tool.
const SEARCH_TOOL: &str = "search_docs";

/// The name of the tool that lists documents.
const LIST_TOOL: &str = "list_documents";

/// A chat model that answers by quoting passages.
#[derive(Clone, Debug)]
pub struct BuiltinAnswerer {
    lexicon: Lexicon,
}

impl BuiltinAnswerer {
    /// Creates an answerer that knows the synonyms of a lexicon.
    pub fn new(lexicon: Lexicon) -> Self {
        Self { lexicon }
    }
}

impl Default for BuiltinAnswerer {
    fn default() -> Self {
        Self::new(Lexicon::builtin())
    }
}

#[async_trait]
impl ChatModel for BuiltinAnswerer {
    async fn stream(&self, request: ChatRequest) -> Result<ChatStream> {
        // A few passages take a millisecond, but their number is not limited.
        let span = spans::chat(self.model());
        let lexicon = self.lexicon.clone();
        let events = spawn_blocking(move || Reply::of(plan(&request), &lexicon).events())
            .instrument(span.clone())
            .await;
        let events = events.map_err(|error| {
            Fault::new(Component::ChatModel, FaultKind::Internal, "cannot select quotes").caused_by(error)
        })?;
        if let Some(ChatEvent::Finished { reason, .. }) = events.last() {
            let reason = if *reason == FinishReason::ToolCalls { "tool_calls" } else { "stop" };
            span.record("gen_ai.response.finish_reasons", reason);
        }
        Ok(Box::pin(stream::iter(events.into_iter().map(Ok))))
    }

    fn model(&self) -> &'static str {
        "builtin-extractive-3"
    }

    fn reads_records(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
