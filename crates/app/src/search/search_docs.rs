//! Calls of the tool `search_docs`, and its output.

use super::SearchResults;
use crate::tool_result::ToolResult;
use docent_domain::chat::{ToolCall, ToolSpec};
use docent_domain::spelling::Correction;
use serde_json::Value;

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

/// The output of the tool for what a search found.
pub(crate) fn result(found: SearchResults) -> ToolResult {
    if found.passages.is_empty() {
        return ToolResult::text(NOTHING_FOUND);
    }
    let best_score = found.best_score();
    let scores = found.scores();
    let SearchResults { passages, corrections, .. } = found;
    let notes = corrections.iter().filter_map(Correction::note);
    let texts: Vec<String> = notes.chain(passages.iter().map(|passage| passage.text.clone())).collect();
    let content = texts.join("\n\n");
    ToolResult { content, passages, best_score, scores, corrections, ..ToolResult::default() }
}

/// The query of a call of the tool, not cut; none if the call is invalid.
pub(crate) fn whole_query(call: &ToolCall) -> Option<String> {
    let arguments = || serde_json::from_str(&call.arguments).ok();
    query_of(&arguments().filter(|_| call.name == SPEC.name)?)
}

/// The query among the arguments of a call: a text, a list of texts, which become one query, or the only text
/// under another name.
pub(crate) fn query_of(arguments: &Value) -> Option<String> {
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
