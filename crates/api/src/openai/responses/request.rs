//! The request body of `POST /v1/responses`.

use super::items::{ITEMS_MAX, ResponseInputItem};
use super::object::{Reasoning, ResponseObject, ResponseStatus, TextConfig};
use super::tools::{KnownTool, ResponseTool, ToolChoice, Tools};
use crate::openai::request::TOKENS_MAX;
use crate::openai::vector_stores::stores::MetadataBody;
use deserr::Deserr;
use docent_domain::chat::Sampling;
use docent_domain::error::ValidationError;
use docent_http::BodyErrors;
use docent_http::extract::deserialize::Whole;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A question, with what continues it and what it may use. Unknown fields are refused.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, deny_unknown_fields)]
#[schema(example = json!({
    "model": "chat",
    "input": "How long is the warranty?",
    "tools": [{ "type": "file_search", "vector_store_ids": ["vs_00000000000000000000000000000001"] }],
    "include": ["file_search_call.results"],
}))]
pub(crate) struct ResponseRequest {
    /// Name of the agent.
    pub(super) model: String,
    /// The question, or items of which the last is a question or the output of a function.
    #[deserr(try_from(Value) = parse_input -> ValidationError)]
    #[schema(value_type = ResponseInput)]
    pub(super) input: Vec<ResponseInputItem>,
    /// Instructions for this response only.
    #[deserr(default)]
    pub(super) instructions: Option<String>,
    /// ID of a stored response that this one continues.
    #[deserr(default)]
    pub(super) previous_response_id: Option<String>,
    /// The search and functions of the client.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<ResponseTool>>)]
    pub(super) tools: Option<Vec<KnownTool>>,
    /// `auto`; `required` or the type `file_search` to search before the model is called; `none` to call no functions.
    #[deserr(default, try_from(Option<Value>) = ToolChoice::parse -> ValidationError)]
    #[schema(value_type = Option<Object>)]
    pub(super) tool_choice: ToolChoice,
    /// Whether the model can call several functions at once. Default: true.
    #[deserr(default)]
    pub(super) parallel_tool_calls: Option<bool>,
    /// What the response has besides: `file_search_call.results`.
    #[deserr(default, try_from(Option<Vec<String>>) = parse_include -> ValidationError)]
    #[schema(value_type = Option<Vec<String>>)]
    pub(super) include: Include,
    /// Whether to stream the response.
    #[deserr(default)]
    pub(super) stream: Option<bool>,
    /// Options of a streamed response.
    #[deserr(default)]
    #[expect(dead_code, reason = "only validated")]
    stream_options: Option<ResponseStreamOptions>,
    /// Whether to store the response. Default: true.
    #[deserr(default)]
    pub(super) store: Option<bool>,
    /// Texts of the client.
    #[deserr(default)]
    #[schema(value_type = Option<std::collections::BTreeMap<String, String>>)]
    pub(super) metadata: Option<MetadataBody>,
    /// Maximum number of tokens of the answer's text, counted with the vocabulary `cl100k_base`. A longer answer is `incomplete`.
    #[deserr(default)]
    #[schema(value_type = Option<u64>, minimum = 1)]
    pub(super) max_output_tokens: Option<Whole<1, TOKENS_MAX>>,
    /// Randomness of the answer; the built-in answerer has none.
    #[deserr(default, try_from(Option<f64>) = parse_temperature -> ValidationError)]
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 2)]
    pub(super) temperature: Option<f64>,
    /// Share of the probability whose tokens are considered.
    #[deserr(default, try_from(Option<f64>) = parse_top_p -> ValidationError)]
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1)]
    pub(super) top_p: Option<f64>,
    /// `auto` leaves out the oldest messages if they exceed `history_tokens`; `disabled` refuses such a request.
    #[deserr(default)]
    pub(super) truncation: Option<Truncation>,
    /// Format of the answer. Only text is supported.
    #[deserr(default)]
    #[expect(dead_code, reason = "only validated")]
    text: Option<ResponseText>,
    /// Must be 0.
    #[deserr(default)]
    #[expect(dead_code, reason = "only validated")]
    #[schema(value_type = Option<u64>, maximum = 0)]
    top_logprobs: Option<Whole<0, 0>>,
    /// `auto` or `default`.
    #[deserr(default)]
    #[expect(dead_code, reason = "only validated")]
    service_tier: Option<ServiceTier>,
    /// ID of a user of the client. Without a use here.
    #[deserr(default)]
    pub(super) user: Option<String>,
    /// ID of a user of the client. Without a use here.
    #[deserr(default)]
    pub(super) safety_identifier: Option<String>,
    /// Key of the client for its prompts. Without a use here.
    #[deserr(default)]
    pub(super) prompt_cache_key: Option<String>,
    /// How long prompts are kept. Without a use here.
    #[deserr(default)]
    #[expect(dead_code, reason = "without a use")]
    prompt_cache_retention: Option<String>,
    /// Not supported: must be `false`.
    #[deserr(default, try_from(Option<bool>) = refuse_background -> ValidationError)]
    #[expect(dead_code, reason = "only validated")]
    #[schema(value_type = Option<bool>)]
    background: (),
    /// Not supported: must be null. `previous_response_id` continues a response.
    #[deserr(default, try_from(Option<Value>) = refuse_conversation -> ValidationError)]
    #[expect(dead_code, reason = "only validated")]
    #[schema(value_type = Option<Object>)]
    conversation: (),
    /// Not supported: must be null.
    #[deserr(default, try_from(Option<Value>) = refuse_max_tool_calls -> ValidationError)]
    #[expect(dead_code, reason = "only validated")]
    #[schema(value_type = Option<u64>)]
    max_tool_calls: (),
    /// Not supported: must be null.
    #[deserr(default, try_from(Option<Value>) = refuse_prompt -> ValidationError)]
    #[expect(dead_code, reason = "only validated")]
    #[schema(value_type = Option<Object>)]
    prompt: (),
    /// Not supported: its values must be null.
    #[deserr(default, try_from(Option<Value>) = refuse_reasoning -> ValidationError)]
    #[expect(dead_code, reason = "only validated")]
    #[schema(value_type = Option<Object>)]
    reasoning: (),
    /// Not supported: must be null.
    #[deserr(default, try_from(Option<Value>) = refuse_context_management -> ValidationError)]
    #[expect(dead_code, reason = "only validated")]
    #[schema(value_type = Option<Vec<Object>>)]
    context_management: (),
    /// Not supported: must be null.
    #[deserr(default, try_from(Option<Value>) = refuse_access_programs -> ValidationError)]
    #[expect(dead_code, reason = "only validated")]
    #[schema(value_type = Option<Object>)]
    access_programs: (),
    /// Not supported: must be null.
    #[deserr(default, try_from(Option<Value>) = refuse_image -> ValidationError)]
    #[expect(dead_code, reason = "only validated")]
    #[schema(value_type = Option<Object>)]
    image: (),
    /// Not supported: must be null.
    #[deserr(default, try_from(Option<Value>) = refuse_moderation -> ValidationError)]
    #[expect(dead_code, reason = "only validated")]
    #[schema(value_type = Option<Object>)]
    moderation: (),
    /// Not supported: must be null.
    #[deserr(default, try_from(Option<Value>) = refuse_cache_options -> ValidationError)]
    #[expect(dead_code, reason = "only validated")]
    #[schema(value_type = Option<Object>)]
    prompt_cache_options: (),
}

impl ResponseRequest {
    /// How the model chooses among likely tokens.
    pub(super) const fn sampling(&self) -> Sampling {
        Sampling { temperature: self.temperature, top_p: self.top_p }
    }

    /// A response to this request, before its answer.
    pub(super) fn response(&self, id: String, created_at: i64, tools: &Tools) -> ResponseObject {
        let metadata = self.metadata.as_ref().map(|MetadataBody(of)| of.entries().clone());
        ResponseObject {
            id,
            object: "response",
            created_at,
            status: ResponseStatus::InProgress,
            completed_at: None,
            error: None,
            incomplete_details: None,
            output: Vec::new(),
            usage: None,
            model: self.model.clone(),
            instructions: self.instructions.clone(),
            max_output_tokens: self.max_output_tokens.map(|Whole(max)| max),
            metadata: metadata.unwrap_or_default(),
            parallel_tool_calls: self.parallel_tool_calls.unwrap_or(true),
            previous_response_id: self.previous_response_id.clone(),
            prompt_cache_key: self.prompt_cache_key.clone(),
            safety_identifier: self.safety_identifier.clone(),
            store: self.store.unwrap_or(true),
            temperature: self.temperature,
            tool_choice: self.tool_choice.to_json(),
            tools: tools.echo.clone(),
            top_p: self.top_p,
            truncation: match self.truncation {
                Some(Truncation::Disabled) => "disabled",
                Some(Truncation::Auto) | None => "auto",
            },
            user: self.user.clone(),
            background: false,
            conversation: None,
            max_tool_calls: None,
            moderation: None,
            prompt: None,
            prompt_cache_diagnostics: None,
            prompt_cache_options: None,
            prompt_cache_retention: None,
            reasoning: Reasoning::NONE,
            service_tier: "default",
            text: TextConfig::PLAIN,
            top_logprobs: 0,
        }
    }
}

/// A question as text, or items.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents what `parse_input` reads")]
#[serde(untagged)]
pub(crate) enum ResponseInput {
    /// A question.
    Text(String),
    /// At most 10,000 items.
    Items(Vec<ResponseInputItem>),
}

fn parse_input(value: Value) -> Result<Vec<ResponseInputItem>, ValidationError> {
    let invalid = |reason: String| ValidationError::new("input", reason);
    match value {
        Value::String(text) => Ok(vec![ResponseInputItem::question(text)]),
        Value::Array(items) if items.len() > ITEMS_MAX => {
            Err(invalid(format!("must have at most {ITEMS_MAX} items")))
        }
        Value::Array(items) => {
            let parse = |(n, item)| {
                ResponseInputItem::parse(item)
                    .map_err(|reason| invalid(format!("has an invalid item {n}: {reason}")))
            };
            items.into_iter().enumerate().map(parse).collect()
        }
        _ => Err(invalid("must be a string or a list of items".to_owned())),
    }
}

/// What a response has besides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Include {
    /// Whether searches have their results.
    pub(super) results: bool,
}

impl Include {
    const RESULTS: &str = "file_search_call.results";
    /// Nothing to include: there are no items of this type.
    const REASONING: &str = "reasoning.encrypted_content";

    /// Parses names.
    ///
    /// # Errors
    /// If a name is not supported.
    pub(super) fn parse<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, ValidationError> {
        let mut include = Self::default();
        for name in names {
            match name {
                Self::RESULTS => include.results = true,
                Self::REASONING => {}
                other => {
                    let other: String = other.chars().take(100).collect();
                    let reason = format!("has {other:?}, which is not supported: only {}", Self::RESULTS);
                    return Err(ValidationError::new("include", reason));
                }
            }
        }
        Ok(include)
    }
}

fn parse_include(names: Option<Vec<String>>) -> Result<Include, ValidationError> {
    Include::parse(names.iter().flatten().map(String::as_str))
}

/// Options of a streamed response.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, deny_unknown_fields)]
pub(crate) struct ResponseStreamOptions {
    /// Not supported: must be `false`.
    #[deserr(default, try_from(Option<bool>) = refuse_obfuscation -> ValidationError)]
    #[expect(dead_code, reason = "only validated")]
    #[schema(value_type = Option<bool>)]
    include_obfuscation: (),
}

/// What happens to a conversation that is too long.
#[derive(Clone, Copy, Deserr, ToSchema)]
#[deserr(error = BodyErrors, rename_all = lowercase)]
#[schema(rename_all = "lowercase")]
pub(crate) enum Truncation {
    /// The oldest messages are left out.
    Auto,
    /// The request is refused.
    Disabled,
}

/// Processing of a request. There is only one.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, rename_all = lowercase)]
#[schema(rename_all = "lowercase")]
pub(crate) enum ServiceTier {
    /// The only one.
    Auto,
    /// The only one.
    Default,
}

/// Format of the answer.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, deny_unknown_fields)]
pub(crate) struct ResponseText {
    /// The format.
    #[deserr(default, try_from(Option<Value>) = refuse_format -> ValidationError)]
    #[expect(dead_code, reason = "only validated")]
    #[schema(value_type = Option<Object>)]
    format: (),
    /// Must be `medium`.
    #[deserr(default)]
    #[expect(dead_code, reason = "only validated")]
    verbosity: Option<Verbosity>,
}

/// Length of answers.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, rename_all = lowercase)]
#[schema(rename_all = "lowercase")]
pub(crate) enum Verbosity {
    /// As the model answers.
    Medium,
}

#[derive(Deserialize)]
struct Format {
    r#type: String,
}

fn refuse_format(value: Option<Value>) -> Result<(), ValidationError> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(()) };
    let is_text = serde_json::from_value::<Format>(value).is_ok_and(|format| format.r#type == "text");
    if is_text {
        Ok(())
    } else {
        Err(ValidationError::new("format", "must be of the type text: answers are plain text"))
    }
}

fn parse_temperature(value: Option<f64>) -> Result<Option<f64>, ValidationError> {
    within(value, 2.0, "must be from 0 to 2")
}

fn parse_top_p(value: Option<f64>) -> Result<Option<f64>, ValidationError> {
    within(value, 1.0, "must be from 0 to 1")
}

fn within(value: Option<f64>, max: f64, reason: &str) -> Result<Option<f64>, ValidationError> {
    let is_valid = value.is_none_or(|value| (0.0..=max).contains(&value));
    if is_valid { Ok(value) } else { Err(ValidationError::new("value", reason)) }
}

fn refuse_true(value: Option<bool>, reason: &str) -> Result<(), ValidationError> {
    if value == Some(true) { Err(ValidationError::new("value", reason)) } else { Ok(()) }
}

fn refuse_background(value: Option<bool>) -> Result<(), ValidationError> {
    refuse_true(value, "must be false: responses in the background are not supported")
}

fn refuse_obfuscation(value: Option<bool>) -> Result<(), ValidationError> {
    refuse_true(value, "must be false: events are not padded")
}

/// Whether a value asks for nothing: null, or an object of such values.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.values().all(is_empty),
        Value::Array(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

macro_rules! refused {
    ($($parse:ident: $reason:literal;)*) => {$(
        fn $parse(value: Option<Value>) -> Result<(), ValidationError> {
            if value.as_ref().is_none_or(is_empty) { Ok(()) } else { Err(ValidationError::new("value", $reason)) }
        }
    )*};
}

refused! {
    refuse_conversation: "is not supported: use previous_response_id to continue a response";
    refuse_max_tool_calls: "is not supported: the service limits the searches of an answer";
    refuse_prompt: "is not supported: there are no stored prompts";
    refuse_reasoning: "is not supported: the reasoning of the model is as the service is set up";
    refuse_context_management: "is not supported: the oldest messages are left out, unless truncation is disabled";
    refuse_access_programs: "is not supported";
    refuse_image: "is not supported: questions are text";
    refuse_moderation: "is not supported";
    refuse_cache_options: "is not supported";
}
