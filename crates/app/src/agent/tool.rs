//! Tools that a model may ask for.

use crate::{App, spans};
use async_trait::async_trait;
use docent_domain::{
    access::Actor,
    chat::{ToolCall, ToolOutput, ToolSpec},
    retrieval::ScoredChunk,
};
use tracing::Instrument;

/// A tool.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the model is told about it.
    fn spec(&self) -> ToolSpec;

    /// Runs it with the authority of `actor`. Whatever goes wrong becomes text for the model: a
    /// tool never fails a request.
    async fn run(&self, app: &App, actor: &Actor, arguments: &serde_json::Value) -> ToolResult;
}

/// What a tool gives back.
#[derive(Clone, Debug, Default)]
pub struct ToolResult {
    /// What the model reads.
    pub content: String,
    /// The passages behind it.
    pub passages: Vec<ScoredChunk>,
}

impl ToolResult {
    /// A result without passages.
    pub fn text(content: impl Into<String>) -> Self {
        Self { content: content.into(), passages: Vec::new() }
    }
}

/// Runs the tool that a model asked for. A name that is not offered and arguments that are no JSON
/// object give a text that tells the model so.
pub(super) async fn run(
    tools: &[std::sync::Arc<dyn Tool>],
    app: &App,
    actor: &Actor,
    call: &ToolCall,
) -> ToolOutput {
    let result = match tools.iter().find(|tool| tool.spec().name == call.name) {
        None => {
            let names: Vec<_> = tools.iter().map(|tool| tool.spec().name).collect();
            ToolResult::text(format!(
                "Error: there is no tool named {:?}. Tools: {}.",
                call.name,
                names.join(", ")
            ))
        }
        Some(tool) => match serde_json::from_str::<serde_json::Value>(&call.arguments) {
            Ok(arguments) if arguments.is_object() => {
                let span = spans::execute_tool(tool.spec().name);
                let result = tool.run(app, actor, &arguments).instrument(span.clone()).await;
                span.record("docent.search.results", result.passages.len());
                result
            }
            Ok(_) => ToolResult::text("Error: the arguments must be a JSON object."),
            Err(error) => ToolResult::text(format!("Error: the arguments are not valid JSON: {error}.")),
        },
    };
    ToolOutput { call_id: call.id.clone(), content: result.content, passages: result.passages }
}
