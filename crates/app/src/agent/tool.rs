//! Tools that a model may call.

pub use crate::tool_result::ToolResult;

use super::AgentRequest;
use crate::{App, spans};
use async_trait::async_trait;
use docent_domain::chat::{ToolCall, ToolOutput, ToolSpec};
use serde_json::Value;
use tracing::Instrument;

/// A tool of an agent.
#[async_trait]
pub trait Tool: Send + Sync {
    /// The name, description and parameters for the model.
    fn spec(&self) -> ToolSpec;

    /// Runs the tool with the permissions of the request's actor, on the documents of its selection. Errors are returned as text for
    /// the model: a failed tool never fails the request.
    async fn run(&self, app: &App, request: &AgentRequest, arguments: &Value) -> ToolResult;
}

/// Runs the tool that a model has called. An unknown tool and arguments that are not a JSON object return an error
/// message for the model.
pub(super) async fn run(
    tools: &[std::sync::Arc<dyn Tool>],
    app: &App,
    request: &AgentRequest,
    call: &ToolCall,
) -> ToolOutput {
    let result = match tools.iter().find(|tool| tool.spec().name == call.name) {
        None => {
            let names: Vec<_> = tools.iter().map(|tool| tool.spec().name).collect();
            ToolResult::error(format!(
                "Error: there is no tool named {:?}. Tools: {}.",
                call.name,
                names.join(", ")
            ))
        }
        Some(tool) => match serde_json::from_str::<Value>(&call.arguments) {
            Ok(arguments) if arguments.is_object() => {
                let span = spans::execute_tool(tool.spec().name);
                let run = tool.run(app, request, &arguments);
                let result = run.instrument(span.clone()).await;
                span.record("docent.search.results", result.passages.len());
                result
            }
            Ok(_) => ToolResult::error("Error: the arguments must be a JSON object."),
            Err(error) => ToolResult::error(format!("Error: the arguments are not valid JSON: {error}.")),
        },
    };
    result.into_output(call.id.clone())
}

/// The arguments of a call as a JSON object where models deviate from it: JSON within a JSON string, or the
/// notation of Python. Other arguments are unchanged.
pub(crate) fn normalized(arguments: String) -> String {
    let object = |text: &str| match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Some(Value::Object(object).to_string()),
        Ok(Value::String(inner)) => inner_object(&inner),
        Ok(_) | Err(_) => None,
    };
    match serde_json::from_str::<Value>(&arguments) {
        Ok(Value::Object(_)) => arguments,
        Ok(Value::String(inner)) => object(&inner).unwrap_or(arguments),
        Ok(_) => arguments,
        Err(_) => object(&without_python(&arguments)).unwrap_or(arguments),
    }
}

fn inner_object(text: &str) -> Option<String> {
    let value = serde_json::from_str::<Value>(text).ok()?;
    value.is_object().then(|| value.to_string())
}

/// Converts a dictionary of Python to JSON, if its texts contain no double quotes.
fn without_python(text: &str) -> String {
    let text = if text.contains('"') { text.to_owned() } else { text.replace('\'', "\"") };
    let mut json = String::with_capacity(text.len());
    let mut rest = text.as_str();
    // A comma after the last item is no JSON.
    while let Some((before, after)) = rest.split_once(',') {
        json.push_str(before);
        if !after.trim_start().starts_with(['}', ']']) {
            json.push(',');
        }
        rest = after;
    }
    json.push_str(rest);
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_and_python_arguments_become_an_object() {
        for arguments in [
            r#"{"query":"a, b"}"#,
            r#""{\"query\":\"a, b\"}""#,
            r#""\"{\\\"query\\\":\\\"a, b\\\"}\"""#,
            "{'query': 'a, b',}",
            r#"{"query": "a, b",}"#,
        ] {
            assert_eq!(normalized(arguments.to_owned()), r#"{"query":"a, b"}"#, "{arguments}");
        }
        for invalid in ["warranty", "", "[1]", "\"warranty\"", r#"{"query":"#] {
            assert_eq!(normalized(invalid.to_owned()), invalid);
        }
    }
}
