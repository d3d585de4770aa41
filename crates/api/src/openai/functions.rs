//! Functions that the client of a request runs.

use docent_app::App;
use docent_domain::chat::FunctionSpec;
use docent_domain::error::ValidationError;
use docent_http::ApiError;
use serde_json::Value;

/// Maximum number of functions of a request.
const FUNCTIONS_MAX: usize = 128;

/// Parses the name of a function.
pub(super) fn parse_name(name: String) -> Result<String, ValidationError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_valid = (1..=64).contains(&name.len()) && name.chars().all(is_plain);
    let reason = "must have 1 to 64 characters: letters, digits, hyphens and underscores";
    if is_valid { Ok(name) } else { Err(ValidationError::new("name", reason)) }
}

/// Parses the JSON Schema of the arguments of a function.
pub(super) fn parse_parameters(value: Option<Value>) -> Result<Option<Value>, ValidationError> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(schema)) => Ok(Some(Value::Object(schema))),
        Some(_) => Err(ValidationError::new("parameters", "must be a JSON object")),
    }
}

/// A function as the model receives it.
pub(super) fn spec(name: String, description: Option<String>, parameters: Option<&Value>) -> FunctionSpec {
    let parameters =
        parameters.map_or_else(|| r#"{"type":"object","properties":{}}"#.to_owned(), Value::to_string);
    FunctionSpec { name, description: description.unwrap_or_default(), parameters }
}

/// Checks the functions of a request. `taken` are the names of the agent's own tools.
///
/// # Errors
/// 400 for too many functions, and names that are not unique.
pub(super) fn check(functions: &[FunctionSpec], taken: &[&str]) -> Result<(), ApiError> {
    let invalid = |reason: String| Err(ApiError::invalid_field(&["body", "tools"], reason));
    if functions.len() > FUNCTIONS_MAX {
        return invalid(format!("must have at most {FUNCTIONS_MAX} functions"));
    }
    for (n, FunctionSpec { name, .. }) in functions.iter().enumerate() {
        if taken.contains(&name.as_str()) {
            return invalid(format!(
                "must not have a function named {name:?}: the agent has a tool of this name"
            ));
        }
        if functions.iter().take(n).any(|other| other.name == *name) {
            return invalid(format!("must not have two functions named {name:?}"));
        }
    }
    Ok(())
}

/// Checks that the model can be offered these functions.
///
/// # Errors
/// 400 if the server of the chat model supports no tools.
pub(super) fn require_support(app: &App, functions: &[FunctionSpec]) -> Result<(), ApiError> {
    match functions.first().filter(|_| app.model_refuses_tools()) {
        None => Ok(()),
        Some(FunctionSpec { name, .. }) => {
            let reason = format!(
                "has the function `{name}`, which cannot be called: the server of the chat model does not support tools"
            );
            Err(ApiError::invalid_field(&["body", "tools"], reason))
        }
    }
}
