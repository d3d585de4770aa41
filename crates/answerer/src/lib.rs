#![doc = include_str!("../README.md")]

mod choice;
mod evidence;
mod explain;
mod features;
mod listing;
mod moves;
mod question;
mod quote;
mod reply;
mod weights;
mod words;

pub use choice::{DescribedUnit, rate};
pub use features::{Features, NAMES};
pub use weights::Weights;

use async_trait::async_trait;
use docent_domain::chat::FinishReason;
use docent_domain::explanation::UnitRatings;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::retrieval::ScoredChunk;
use docent_domain::spelling::Correction;
use docent_ports::chat_model::{ChatEvent, ChatModel, ChatRequest, ChatStream};
use docent_text::lexical::Lexicon;
use futures::stream;
use reply::Reply;
use tokio::task::spawn_blocking;
use tracing::Instrument;
use tracing::field::Empty;
use words::Words;

/// The name of the search tool.
const SEARCH_TOOL: &str = "search_docs";
/// The name of the tool that lists documents.
const LIST_TOOL: &str = "list_documents";

/// A chat model that answers with quotes. Passages are only quoted, so instructions in them have no effect.
#[derive(Clone, Debug)]
pub struct Answerer {
    lexicon: Lexicon,
}

impl Answerer {
    /// Creates an answerer that knows the synonyms of a lexicon.
    pub fn new(lexicon: Lexicon) -> Self {
        Self { lexicon }
    }
}

impl Default for Answerer {
    fn default() -> Self {
        Self::new(Lexicon::builtin())
    }
}

#[async_trait]
impl ChatModel for Answerer {
    async fn stream(&self, request: ChatRequest) -> Result<ChatStream> {
        let span = tracing::info_span!(
            "chat",
            otel.name = format_args!("chat {}", self.model()),
            otel.kind = "internal",
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = "docent",
            gen_ai.request.model = self.model(),
            gen_ai.response.finish_reasons = Empty,
        );
        let lexicon = self.lexicon.clone();
        // A few passages take a millisecond, but their number is not limited.
        let events = spawn_blocking(move || Reply::to(&request, &lexicon).events())
            .instrument(span.clone())
            .await
            .map_err(|error| {
                Fault::new(Component::ChatModel, FaultKind::Internal, "cannot select quotes").caused_by(error)
            })?;
        if let Some(ChatEvent::Finished { reason, .. }) = events.last() {
            let reason = if *reason == FinishReason::ToolCalls { "tool_calls" } else { "stop" };
            span.record("gen_ai.response.finish_reasons", reason);
        }
        Ok(Box::pin(stream::iter(events.into_iter().map(Ok))))
    }

    fn model(&self) -> &'static str {
        "builtin-extractive-4"
    }

    fn reads_records(&self) -> bool {
        true
    }

    async fn rate(
        &self,
        question: &str,
        passages: &[ScoredChunk],
        corrections: &[Correction],
    ) -> Option<UnitRatings> {
        let (lexicon, passages) = (self.lexicon.clone(), passages.to_vec());
        let question = reply::corrected(question, corrections);
        spawn_blocking(move || explain::ratings(&question, &passages, &lexicon)).await.ok()
    }
}

/// Whether an answer of [`Answerer`] quotes this page of the document with this title.
pub fn quotes_page(answer: &str, title: &str, page: u32) -> bool {
    Words::all().iter().any(|words| answer.contains(&quote::source(title, page, &words.phrases)))
}
