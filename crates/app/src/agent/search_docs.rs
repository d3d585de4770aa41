//! The tool `search_docs`.

use super::AgentRequest;
use super::tool::{Tool, ToolResult};
use crate::search::search_docs::{SPEC, query_of, result};
use crate::search::{self, SearchRequest, SearchResults};
use crate::{App, Error, scope, spans};
use async_trait::async_trait;
use docent_domain::access::ReadDocuments;
use docent_domain::chat::ToolSpec;
use serde_json::Value;
use tracing::Span;

/// Searches the uploaded documents and returns the texts of the best chunks, separated by blank lines.
#[derive(Clone, Copy, Debug)]
pub struct SearchDocs;

#[async_trait]
impl Tool for SearchDocs {
    fn spec(&self) -> ToolSpec {
        SPEC
    }

    async fn run(&self, app: &App, request: &AgentRequest, arguments: &Value) -> ToolResult {
        let Some(query) = query_of(arguments) else {
            return ToolResult::error("Error: search_docs needs a string argument \"query\".");
        };
        match find(app, request, &query).await {
            Ok(found) => result(found),
            Err(error) => {
                tracing::warn!(error = %docent_domain::fault::report(&error), "search_docs failed");
                if let Error::Fault(fault) = &error {
                    app.note(fault);
                    spans::fail(&Span::current(), fault.kind().code());
                }
                ToolResult::error(format!("Error searching documents: {}", public(&error)))
            }
        }
    }
}

/// Searches with the memberships that the actor has now.
async fn find(app: &App, request: &AgentRequest, query: &str) -> Result<SearchResults, Error> {
    let AgentRequest { actor, selection, search_limits, .. } = request;
    let grant = actor.authorize::<ReadDocuments>()?;
    let scope = scope::load(app, actor).await?;
    let limit = search_limits.max_passages.unwrap_or(app.settings.search_limit);
    let mut found =
        search::search(app, grant, SearchRequest { query, scope: &scope, selection, limit }).await?;
    let mut scores = found.scores().into_iter();
    found.passages.retain(|_| scores.next().is_some_and(|score| score >= search_limits.min_score));
    Ok(found)
}

/// The text of an error for the model. The user may get to read it as well, so it has no internal details.
fn public(error: &Error) -> String {
    match error {
        Error::Fault(fault) => fault.public_message(),
        other => other.to_string(),
    }
}
