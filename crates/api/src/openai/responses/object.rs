//! A response and the items of its output.

use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A response.
#[derive(Clone, Serialize, ToSchema)]
#[schema(as = Response)]
pub(crate) struct ResponseObject {
    /// ID of the response.
    #[schema(pattern = "^resp_[0-9a-f]{32}$")]
    pub(super) id: String,
    /// Always `response`.
    pub(super) object: &'static str,
    /// Creation time in seconds since 1970.
    pub(super) created_at: i64,
    /// Whether the response is complete.
    pub(super) status: ResponseStatus,
    /// Time of the end in seconds since 1970, if the response is complete.
    #[schema(required)]
    pub(super) completed_at: Option<i64>,
    /// Why the response failed.
    #[schema(required)]
    pub(super) error: Option<ResponseError>,
    /// Why the response is incomplete.
    #[schema(required)]
    pub(super) incomplete_details: Option<IncompleteDetails>,
    /// Searches, the message with the answer, and calls of functions of the client.
    pub(super) output: Vec<ResponseOutputItem>,
    /// Token usage, at the end of the response.
    #[schema(required)]
    pub(super) usage: Option<ResponseUsage>,
    /// Name of the agent.
    pub(super) model: String,
    /// Instructions of the request.
    #[schema(required)]
    pub(super) instructions: Option<String>,
    /// Maximum number of tokens of the answer's text.
    #[schema(required)]
    pub(super) max_output_tokens: Option<u64>,
    /// Texts of the client.
    pub(super) metadata: BTreeMap<String, String>,
    /// Whether a response can call several functions.
    pub(super) parallel_tool_calls: bool,
    /// ID of the response that it continues.
    #[schema(required)]
    pub(super) previous_response_id: Option<String>,
    /// Key of the client for its prompts. Without a use here.
    #[schema(required)]
    pub(super) prompt_cache_key: Option<String>,
    /// ID of a user of the client. Without a use here.
    #[schema(required)]
    pub(super) safety_identifier: Option<String>,
    /// Whether the response is stored.
    pub(super) store: bool,
    /// Randomness of the answer, if the request sets it.
    #[schema(required)]
    pub(super) temperature: Option<f64>,
    /// Which tools are called.
    pub(super) tool_choice: Value,
    /// The search and the functions of the client.
    #[schema(value_type = Vec<Object>)]
    pub(super) tools: Vec<Value>,
    /// Share of the probability whose tokens are considered, if the request sets it.
    #[schema(required)]
    pub(super) top_p: Option<f64>,
    /// `auto`: the oldest messages that exceed the limit are left out. `disabled`: such a request is refused.
    pub(super) truncation: &'static str,
    /// ID of a user of the client. Without a use here.
    #[schema(required)]
    pub(super) user: Option<String>,
    /// Always `false`.
    pub(super) background: bool,
    /// Always null.
    #[schema(required)]
    pub(super) conversation: Option<bool>,
    /// Always null.
    #[schema(required)]
    pub(super) max_tool_calls: Option<u64>,
    /// Always null.
    #[schema(required)]
    pub(super) moderation: Option<bool>,
    /// Always null.
    #[schema(required)]
    pub(super) prompt: Option<bool>,
    /// Always null.
    #[schema(required)]
    pub(super) prompt_cache_diagnostics: Option<bool>,
    /// Always null.
    #[schema(required)]
    pub(super) prompt_cache_options: Option<bool>,
    /// Always null.
    #[schema(required)]
    pub(super) prompt_cache_retention: Option<bool>,
    /// Without values.
    pub(super) reasoning: Reasoning,
    /// Always `default`.
    pub(super) service_tier: &'static str,
    /// Format of the answer.
    pub(super) text: TextConfig,
    /// Always 0.
    pub(super) top_logprobs: u64,
}

/// Reasoning of the model, which is not part of responses.
#[derive(Clone, Serialize, ToSchema)]
#[schema(as = ResponseReasoning)]
pub(crate) struct Reasoning {
    /// Always null.
    #[schema(required)]
    effort: Option<bool>,
    /// Always null.
    #[schema(required)]
    summary: Option<bool>,
}

/// Format of an answer.
#[derive(Clone, Serialize, ToSchema)]
#[schema(as = ResponseTextConfig)]
pub(crate) struct TextConfig {
    /// The format.
    format: TextFormat,
    /// Always `medium`.
    verbosity: &'static str,
}

/// Format of an answer.
#[derive(Clone, Serialize, ToSchema)]
#[schema(as = ResponseTextFormat)]
pub(crate) struct TextFormat {
    /// Always `text`.
    r#type: &'static str,
}

impl Reasoning {
    /// The values.
    pub(super) const NONE: Self = Self { effort: None, summary: None };
}

impl TextConfig {
    /// The values.
    pub(super) const PLAIN: Self = Self { format: TextFormat { r#type: "text" }, verbosity: "medium" };
}

/// State of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ResponseStatus {
    /// It is being made.
    InProgress,
    /// It is complete.
    Completed,
    /// It was cut off.
    Incomplete,
    /// It failed after its beginning, or the model wrote nothing.
    Failed,
}

/// Why a response failed.
#[derive(Clone, Serialize, ToSchema)]
pub(crate) struct ResponseError {
    /// `server_error` or `rate_limit_exceeded`.
    #[schema(pattern = "^(server_error|rate_limit_exceeded)$")]
    pub(super) code: &'static str,
    /// Sentence for people.
    pub(super) message: String,
    /// Always null.
    #[schema(required)]
    pub(super) misalignment: Option<bool>,
    /// Always null.
    #[schema(required)]
    pub(super) param: Option<bool>,
    /// Always null.
    #[schema(required)]
    pub(super) r#type: Option<bool>,
}

/// Why a response is incomplete.
#[derive(Clone, Serialize, ToSchema)]
pub(crate) struct IncompleteDetails {
    /// `max_output_tokens`: the maximum of the request, the token limit of the model or the step limit of the agent. `content_filter`:
    /// a content filter of the model's server.
    #[schema(pattern = "^(max_output_tokens|content_filter)$")]
    pub(super) reason: &'static str,
}

/// Tokens of all model calls for a response.
#[derive(Clone, Copy, Serialize, ToSchema)]
pub(crate) struct ResponseUsage {
    /// Input tokens.
    pub(super) input_tokens: u64,
    /// Parts of the input.
    pub(super) input_tokens_details: InputTokensDetails,
    /// Output tokens.
    pub(super) output_tokens: u64,
    /// Parts of the output.
    pub(super) output_tokens_details: OutputTokensDetails,
    /// Sum of both.
    pub(super) total_tokens: u64,
}

/// Parts of the input tokens, which the service does not know.
#[derive(Clone, Copy, Default, Serialize, ToSchema)]
#[schema(as = ResponseInputTokensDetails)]
pub(crate) struct InputTokensDetails {
    /// Always 0.
    cached_tokens: u64,
    /// Always 0.
    cache_write_tokens: u64,
}

/// Parts of the output tokens, which the service does not know.
#[derive(Clone, Copy, Default, Serialize, ToSchema)]
#[schema(as = ResponseOutputTokensDetails)]
pub(crate) struct OutputTokensDetails {
    /// Always 0.
    reasoning_tokens: u64,
}

/// State of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = ResponseItemStatus)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ItemStatus {
    /// It is being made.
    InProgress,
    /// It is complete.
    Completed,
    /// It was cut off.
    Incomplete,
}

/// State of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = ResponseSearchStatus)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SearchStatus {
    /// It is under way.
    InProgress,
    /// It is complete.
    Completed,
    /// A component failed. The model knows it and answers without the search.
    Failed,
}

/// An item of the output.
#[derive(Clone, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ResponseOutputItem {
    /// A search. Only responses to requests with the tool `file_search` have it.
    FileSearchCall {
        /// ID of the item.
        id: String,
        /// State of the search.
        status: SearchStatus,
        /// What was searched for.
        queries: Vec<String>,
        /// The passages that were found, with `include`; otherwise null.
        #[schema(required)]
        results: Option<Vec<FileSearchResult>>,
    },
    /// Text of the answer. What the model writes before a search is a message of its own.
    Message {
        /// ID of the item.
        id: String,
        /// State of the item.
        status: ItemStatus,
        /// Always `assistant`.
        role: &'static str,
        /// The text; empty while the item is in progress.
        #[schema(max_items = 1)]
        content: Vec<OutputText>,
        /// Always null.
        #[schema(required)]
        phase: Option<bool>,
    },
    /// A call of a function of the client.
    FunctionCall {
        /// ID of the item.
        id: String,
        /// State of the item.
        status: ItemStatus,
        /// ID of the call, for its output.
        call_id: String,
        /// Name of the function.
        name: String,
        /// The arguments as the model wrote them: JSON text, unless the model made a mistake.
        arguments: String,
    },
}

/// A passage that a search found.
#[derive(Clone, Serialize, ToSchema)]
pub(crate) struct FileSearchResult {
    /// ID of the file.
    pub(super) file_id: String,
    /// Name of the file.
    pub(super) filename: String,
    /// Relevance from 0 to 1.
    pub(super) score: f64,
    /// Attributes of the document with `page`, `label` and `link`, as in a search of a vector store.
    pub(super) attributes: Map<String, Value>,
    /// The text.
    pub(super) text: String,
}

/// Text of an answer.
#[derive(Clone, Serialize, ToSchema)]
#[schema(as = ResponseOutputText)]
pub(crate) struct OutputText {
    /// Always `output_text`.
    pub(super) r#type: &'static str,
    /// The text.
    pub(super) text: String,
    /// Citations of the passages on which the answer is based.
    pub(super) annotations: Vec<FileCitation>,
    /// Always empty.
    #[schema(value_type = Vec<Object>, max_items = 0)]
    pub(super) logprobs: [u8; 0],
}

impl OutputText {
    /// A text with its citations.
    pub(super) const fn new(text: String, annotations: Vec<FileCitation>) -> Self {
        Self { r#type: "output_text", text, annotations, logprobs: [] }
    }
}

/// A citation of a file.
#[derive(Clone, Serialize, ToSchema)]
#[schema(as = ResponseFileCitation)]
pub(crate) struct FileCitation {
    /// Always `file_citation`.
    pub(super) r#type: &'static str,
    /// ID of the file.
    pub(super) file_id: String,
    /// Name of the file.
    pub(super) filename: String,
    /// Position of the first character of the citation in the text, counted from 0 in Unicode code points; the end of a text without
    /// citations.
    pub(super) index: usize,
    /// Extension: the cited page, counted from 1.
    #[schema(minimum = 1)]
    pub(super) page: u32,
    /// Extension: what the page is in a file that is not a PDF. Otherwise missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) label: Option<String>,
    /// Extension: the page of the web chat that shows the document at the cited page.
    #[schema(format = "uri")]
    pub(super) link: String,
}
