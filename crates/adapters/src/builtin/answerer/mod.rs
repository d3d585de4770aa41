//! The built-in answerer: an extractive chat model.
//!
//! It searches for the user's question, selects the best sentence of each passage and quotes these sentences with title
//! and page. A name in the question that no passage contains is searched for separately. If the question is out of scope,
//! the answer says so. Passages are only quoted, so instructions in them have no effect.

mod dialogue;
mod relevance;
mod scope;
mod sentences;

use super::spans;
use async_trait::async_trait;
use dialogue::{Action, next_action};
use docent_domain::chat::{FinishReason, ToolCall};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_ports::chat_model::{ChatEvent, ChatModel, ChatRequest, ChatStream};
use futures::stream;
use relevance::{Quote, Selection};
use tokio::task::spawn_blocking;
use tracing::Instrument;

/// The name of the search tool.
const SEARCH_TOOL: &str = "search_docs";

const ABILITY: &str = "I answer questions about the documents that were uploaded here: I look for the passages \
    that fit, and quote them with their pages.";
const GREETING: &str = "Hello! ";
const ASK: &str = " What would you like to know?";
const NO_SEARCH: &str =
    "I can only answer by quoting documents, and no document search is available to me here.";
const NOT_SAID: &str = "The documents do not say. Nothing that I found in them fits this question.";
const SEARCH_FAILED: &str = "I could not search the documents right now. Please try again in a moment.";

/// A chat model that answers by quoting passages.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltinAnswerer;

#[async_trait]
impl ChatModel for BuiltinAnswerer {
    async fn stream(&self, request: ChatRequest) -> Result<ChatStream> {
        // A few passages take a millisecond, but their number is not limited.
        let span = spans::chat(self.model());
        let events = spawn_blocking(move || answer(&request)).instrument(span.clone()).await;
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
        "builtin-extractive-2"
    }
}

fn answer(request: &ChatRequest) -> Vec<ChatEvent> {
    let text = match next_action(request) {
        Action::Search { query, call_id } => return search(&query, call_id),
        Action::Greet => format!("{GREETING}{ABILITY}{ASK}"),
        Action::Introduce => format!("{ABILITY}{ASK}"),
        Action::RefuseWithoutSearch => NO_SEARCH.to_owned(),
        Action::ReportFailure => SEARCH_FAILED.to_owned(),
        Action::Quote { question, passages, name_results, call_id } => {
            match (relevance::select(&question, &passages, name_results.as_deref()), call_id) {
                (Selection::Quotes(quotes), _) => format_quotes(&quotes),
                (Selection::Names(names), Some(call_id)) => return search(&names.join(" "), call_id),
                (Selection::Names(_), None) => NOT_SAID.to_owned(),
            }
        }
    };
    let reason = if is_declined(&text) { FinishReason::Declined } else { FinishReason::Stop };
    let words = text.split_inclusive(char::is_whitespace).map(|word| ChatEvent::Text(word.to_owned()));
    words.chain([finished(reason)]).collect()
}

fn search(query: &str, call_id: String) -> Vec<ChatEvent> {
    let arguments = serde_json::json!({ "query": query }).to_string();
    let call = ToolCall { id: call_id, name: SEARCH_TOOL.to_owned(), arguments };
    vec![ChatEvent::ToolCall(call), finished(FinishReason::ToolCalls)]
}

/// Creates the last event. It reports no usage, so tokens are counted from the text.
fn finished(reason: FinishReason) -> ChatEvent {
    ChatEvent::Finished { reason, usage: None }
}

/// Whether an answer of [`BuiltinAnswerer`] quotes this page of the document with this title.
pub fn quotes_page(answer: &str, title: &str, page: u32) -> bool {
    answer.contains(&format_source(title, page))
}

/// Whether an answer of [`BuiltinAnswerer`] says that the documents do not contain the answer.
pub fn is_declined(answer: &str) -> bool {
    answer == NOT_SAID
}

fn format_source(title: &str, page: u32) -> String {
    format!("({title}, page {page})")
}

fn format_quotes(quotes: &[Quote]) -> String {
    if quotes.is_empty() {
        return NOT_SAID.to_owned();
    }
    let quoted = |quote: &Quote| {
        let source = format_source(&quote.title, quote.page);
        if quote.is_table {
            format!("{}\n\n{source}", quote.text)
        } else {
            format!("“{}” {source}", quote.text)
        }
    };
    quotes.iter().map(quoted).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests;
