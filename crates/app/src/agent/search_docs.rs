//! The tool `search_docs`.

use super::tool::{Tool, ToolResult};
use crate::search::{self, Found, SearchRequest};
use crate::{App, Error, scope, spans};
use async_trait::async_trait;
use docent_domain::access::{Actor, ReadDocuments};
use docent_domain::chat::{ToolCall, ToolSpec};
use docent_domain::selection::Selection;
use docent_domain::spelling::Correction;
use serde_json::Value;
use tracing::Span;

const NOTHING_FOUND: &str = "No relevant documents found.";
/// The argument with the query.
const QUERY: &str = "query";
/// Maximum number of characters of a query that is shown to the user.
const SHOWN_CHARS: usize = 200;
pub(crate) const SPEC: ToolSpec = ToolSpec {
    name: "search_docs",
    description: "Search uploaded documents for information relevant to the query.",
    parameters: r#"{"type":"object","properties":{"query":{"type":"string","description":"What to search for."}},"required":["query"]}"#,
};

/// Searches the uploaded documents and returns the texts of the best chunks, separated by blank lines.
#[derive(Clone, Copy, Debug)]
pub struct SearchDocs;

#[async_trait]
impl Tool for SearchDocs {
    fn spec(&self) -> ToolSpec {
        SPEC
    }

    async fn run(&self, app: &App, actor: &Actor, selection: &Selection, arguments: &Value) -> ToolResult {
        let Some(query) = query_of(arguments) else {
            return ToolResult::text("Error: search_docs needs a string argument \"query\".");
        };
        match find(app, actor, selection, &query).await {
            Ok(found) => result(found),
            Err(error) => {
                tracing::warn!(error = %docent_domain::fault::report(&error), "search_docs failed");
                if let Error::Fault(fault) = &error {
                    app.note(fault);
                    spans::fail(&Span::current(), fault.kind().code());
                }
                ToolResult::text(format!("Error searching documents: {}", public(&error)))
            }
        }
    }
}

/// The output of the tool for what a search found.
pub(crate) fn result(found: Found) -> ToolResult {
    if found.passages.is_empty() {
        return ToolResult::text(NOTHING_FOUND);
    }
    let best_score = found.best_score();
    let Found { passages, corrections, .. } = found;
    let notes = corrections.iter().filter_map(Correction::note);
    let texts: Vec<String> = notes.chain(passages.iter().map(|passage| passage.text.clone())).collect();
    ToolResult { content: texts.join("\n\n"), passages, best_score, corrections }
}

/// The query of a call of the tool, not cut; none if the call is invalid.
pub(crate) fn whole_query(call: &ToolCall) -> Option<String> {
    let arguments = || serde_json::from_str(&call.arguments).ok();
    query_of(&arguments().filter(|_| call.name == SPEC.name)?)
}

/// The query among the arguments of a call: a text, a list of texts, which become one query, or the only text
/// under another name.
fn query_of(arguments: &Value) -> Option<String> {
    let arguments = arguments.as_object()?;
    match arguments.get(QUERY) {
        Some(query) => text_of(query),
        None => {
            let mut texts = arguments.values().filter_map(text_of);
            texts.next().filter(|_| texts.next().is_none())
        }
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(texts) => {
            let texts: Vec<&str> = texts.iter().filter_map(Value::as_str).collect();
            (!texts.is_empty()).then(|| texts.join(" "))
        }
        // Some models describe the argument as its schema does, or repeat the arguments within themselves.
        Value::Object(_) => query_of(value),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// The query of a call of the tool, cut if it is long; none if the call is invalid.
pub(crate) fn query(call: &ToolCall) -> Option<String> {
    Some(whole_query(call)?.chars().take(SHOWN_CHARS).collect())
}

/// Searches with the memberships that the actor has now.
async fn find(app: &App, actor: &Actor, selection: &Selection, query: &str) -> Result<Found, Error> {
    let grant = actor.authorize::<ReadDocuments>()?;
    let scope = scope::of(app, actor).await?;
    let limit = app.settings.search_limit;
    search::search(app, grant, SearchRequest { query, scope: &scope, selection, limit }).await
}

/// The text of an error for the model. The user may get to read it as well, so it has no internal details.
fn public(error: &Error) -> String {
    match error {
        Error::Fault(fault) => fault.public_message(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_is_found_in_every_form_of_the_arguments() {
        for (arguments, query) in [
            (r#"{"query":"pump"}"#, Some("pump")),
            (r#"{"query":"pump","limit":5}"#, Some("pump")),
            (r#"{"query":["pump","service interval"]}"#, Some("pump service interval")),
            (r#"{"queries":["pump","service"]}"#, Some("pump service")),
            (r#"{"q":"pump","limit":5}"#, Some("pump")),
            (r#"{"arguments":{"query":"pump"}}"#, Some("pump")),
            (r#"{"query":{"query":"pump"}}"#, Some("pump")),
            (r#"{"a":"pump","b":"valve"}"#, None),
            (r#"{"query":7}"#, None),
            (r#"{"query":[]}"#, None),
            ("{}", None),
        ] {
            let call =
                ToolCall { id: "a".to_owned(), name: SPEC.name.to_owned(), arguments: arguments.to_owned() };
            assert_eq!(whole_query(&call).as_deref(), query, "{arguments}");
        }
    }
}
