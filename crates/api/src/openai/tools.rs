//! Functions of the client in chat completions, and calls of them.

use super::functions;
use deserr::{Deserr, ValuePointerRef};
use docent_domain::chat::{FunctionSpec, ToolCall};
use docent_domain::error::ValidationError;
use docent_http::BodyErrors;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// The only type of tools.
const FUNCTION: &str = "function";

/// A tool of the client.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, validate = FunctionTool::require_function -> BodyErrors)]
pub(crate) struct FunctionTool {
    /// Always `function`.
    #[deserr(rename = "type")]
    #[schema(pattern = "^function$")]
    r#type: String,
    /// The function.
    #[deserr(default)]
    #[schema(value_type = FunctionDefinition)]
    function: Option<FunctionDefinition>,
}

impl FunctionTool {
    fn require_function(self, location: ValuePointerRef<'_>) -> Result<Self, BodyErrors> {
        match &self.function {
            _ if self.r#type != FUNCTION => Err(not_a_function(&self.r#type, location)),
            Some(_) => Ok(self),
            None => Err(BodyErrors::at(location.push_key("function"), "is required")),
        }
    }

    /// The functions as the model receives them.
    pub(super) fn specs(tools: Option<Vec<Self>>) -> Vec<FunctionSpec> {
        let functions = tools.into_iter().flatten().filter_map(|tool| tool.function);
        functions
            .map(|FunctionDefinition { name, description, parameters, strict: _ }| {
                functions::spec(name, description, parameters.as_ref())
            })
            .collect()
    }
}

fn not_a_function(found: &str, location: ValuePointerRef<'_>) -> BodyErrors {
    let found: String = found.chars().take(100).collect();
    BodyErrors::at(location.push_key("type"), format!("must be function: {found:?} is not supported"))
}

/// A function that the client runs. The built-in answerer calls none.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
pub(crate) struct FunctionDefinition {
    /// Name of the function.
    #[deserr(try_from(String) = functions::parse_name -> ValidationError)]
    #[schema(min_length = 1, max_length = 64, pattern = "^[a-zA-Z0-9_-]+$")]
    name: String,
    /// What the function does.
    #[deserr(default)]
    description: Option<String>,
    /// JSON Schema of the arguments.
    #[deserr(default, try_from(Option<Value>) = functions::parse_parameters -> ValidationError)]
    #[schema(value_type = Option<Object>)]
    parameters: Option<Value>,
    /// Whether arguments must match the schema. The service does not check it.
    #[deserr(default)]
    #[expect(dead_code, reason = "only validated")]
    strict: Option<bool>,
}

/// A call of a function of the client.
#[derive(Deserr, Serialize, ToSchema)]
#[deserr(error = BodyErrors, validate = FunctionToolCall::require_function -> BodyErrors)]
pub(crate) struct FunctionToolCall {
    /// ID of the call, which the message with its output repeats.
    id: String,
    /// Always `function`.
    #[deserr(rename = "type")]
    #[schema(pattern = "^function$")]
    r#type: String,
    /// What is called.
    function: CalledFunction,
}

/// A called function.
#[derive(Deserr, Serialize, ToSchema)]
#[deserr(error = BodyErrors)]
pub(crate) struct CalledFunction {
    /// Name of the function.
    name: String,
    /// Arguments as JSON, as the model wrote them.
    arguments: String,
}

impl FunctionToolCall {
    fn require_function(self, location: ValuePointerRef<'_>) -> Result<Self, BodyErrors> {
        if self.r#type == FUNCTION { Ok(self) } else { Err(not_a_function(&self.r#type, location)) }
    }
}

impl From<ToolCall> for FunctionToolCall {
    fn from(ToolCall { id, name, arguments }: ToolCall) -> Self {
        Self { id, r#type: FUNCTION.to_owned(), function: CalledFunction { name, arguments } }
    }
}

impl From<FunctionToolCall> for ToolCall {
    fn from(FunctionToolCall { id, r#type: _, function }: FunctionToolCall) -> Self {
        let CalledFunction { name, arguments } = function;
        Self { id, name, arguments }
    }
}
