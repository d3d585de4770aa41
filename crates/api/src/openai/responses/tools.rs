//! The tools of a request: the search of vector stores, and functions of the client.

use crate::openai::vector_stores::search::RankingOptions;
use crate::openai::{functions, ids};
use crate::selection::{FilterBody, parse_filters, selection};
use deserr::{Deserr, IntoValue, ValuePointerRef};
use docent_app::agent::SearchLimits;
use docent_app::settings::SearchMode;
use docent_domain::chat::FunctionSpec;
use docent_domain::condition::Condition;
use docent_domain::error::ValidationError;
use docent_domain::id::CollectionId;
use docent_domain::selection::Selection;
use docent_http::extract::deserialize::{List, Whole};
use docent_http::{ApiError, BodyErrors};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// Maximum number of vector stores of a search.
const STORES_MAX: usize = 100;

/// A tool.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, tag = "type", rename_all = lowercase, deny_unknown_fields)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ResponseTool {
    /// The search of vector stores. Without it, all documents of the account are searched.
    #[deserr(rename = "file_search")]
    FileSearch {
        /// IDs of the vector stores.
        #[schema(value_type = Vec<String>, min_items = 1, max_items = 100)]
        vector_store_ids: List<String, STORES_MAX>,
        /// Maximum number of passages of each search. Default: the setting `search_limit`.
        #[deserr(default)]
        #[schema(value_type = Option<u64>, minimum = 1, maximum = 50)]
        max_num_results: Option<Whole<1, 50>>,
        /// Only files that meet this condition.
        #[deserr(default, try_from(Option<Value>) = Filters::parse -> ValidationError)]
        #[schema(value_type = Option<FilterBody>)]
        filters: Filters,
        /// Options of the ranking.
        #[deserr(default)]
        ranking_options: Option<RankingOptions>,
    },
    /// A function that the client runs. The built-in answerer calls none.
    Function {
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
        strict: Option<bool>,
    },
}

/// A tool of one of the known types.
pub(crate) struct KnownTool(pub(super) ResponseTool);

impl Deserr<BodyErrors> for KnownTool {
    fn deserialize_from_value<V: IntoValue>(
        value: deserr::Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, BodyErrors> {
        let value: Value = Deserr::deserialize_from_value(value, location)?;
        match value.get("type").and_then(Value::as_str) {
            Some("file_search" | "function") | None => {}
            Some(other) => {
                let other: String = other.chars().take(100).collect();
                let msg = format!("must be file_search or function: {other:?} is not supported");
                return Err(BodyErrors::at(location.push_key("type"), msg));
            }
        }
        Deserr::deserialize_from_value(value.into_value(), location).map(Self)
    }
}

/// A condition with the JSON that it was read from.
#[derive(Default)]
pub(crate) struct Filters {
    json: Value,
    condition: Option<Condition>,
}

impl Filters {
    fn parse(value: Option<Value>) -> Result<Self, ValidationError> {
        let json = value.clone().unwrap_or_default();
        Ok(Self { json, condition: parse_filters(value)? })
    }
}

/// The tools of a request together.
#[derive(Debug, Default)]
pub(super) struct Tools {
    /// The vector stores, if the request has the tool `file_search`.
    pub(super) stores: Option<Vec<CollectionId>>,
    /// The condition of the search.
    condition: Option<Condition>,
    /// Limits of each search.
    pub(super) limits: SearchLimits,
    /// The functions.
    pub(super) functions: Vec<FunctionSpec>,
    /// The tools as the response repeats them.
    pub(super) echo: Vec<Value>,
}

impl Tools {
    /// Reads the tools of a request. `taken` are the names of the agent's own tools.
    ///
    /// # Errors
    /// 400 for tools that cannot be used together; 404 for a malformed ID of a vector store.
    pub(super) fn of(tools: Option<Vec<KnownTool>>, taken: &[&str]) -> Result<Self, ApiError> {
        let mut all = Self::default();
        for KnownTool(tool) in tools.into_iter().flatten() {
            all.add(tool)?;
        }
        functions::check(&all.functions, taken)?;
        Ok(all)
    }

    fn add(&mut self, tool: ResponseTool) -> Result<(), ApiError> {
        let invalid = |reason: String| Err(ApiError::invalid_field(&["body", "tools"], reason));
        match tool {
            ResponseTool::FileSearch { vector_store_ids, max_num_results, filters, ranking_options } => {
                if self.stores.is_some() {
                    return invalid("must have at most one tool of the type file_search".to_owned());
                }
                let List(ids) = vector_store_ids;
                if ids.is_empty() {
                    return invalid("must name at least one vector store for file_search".to_owned());
                }
                self.stores = Some(ids.iter().map(|id| ids::require(id)).collect::<Result<_, _>>()?);
                let max = max_num_results.map(|Whole(max)| max);
                let min_score = ranking_options.map_or(0.0, |options| options.score_threshold);
                self.limits =
                    SearchLimits { max_passages: max.and_then(|max| usize::try_from(max).ok()), min_score };
                self.echo.push(json!({
                    "type": "file_search", "vector_store_ids": ids, "max_num_results": max, "filters": filters.json,
                    "ranking_options": { "ranker": "auto", "score_threshold": min_score },
                }));
                self.condition = filters.condition;
            }
            ResponseTool::Function { name, description, parameters, strict } => {
                self.echo.push(json!({
                    "type": "function", "name": name, "description": description, "parameters": parameters,
                    "strict": strict.unwrap_or(false),
                }));
                self.functions.push(functions::spec(name, description, parameters.as_ref()));
            }
        }
        Ok(())
    }

    /// The documents that are searched.
    pub(super) fn selection(&self) -> Selection {
        selection(self.stores.clone(), None, self.condition.clone())
    }
}

/// Which tools are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No functions are called.
    None,
    /// At least one tool is called.
    Required,
    /// The documents are searched.
    FileSearch,
}

impl ToolChoice {
    /// Parses a choice.
    ///
    /// # Errors
    /// If it is not supported.
    pub(super) fn parse(value: Option<Value>) -> Result<Self, ValidationError> {
        let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(Self::Auto) };
        let kind = value.as_str().or_else(|| value.get("type").and_then(Value::as_str));
        match (kind, value.is_string()) {
            (Some("auto"), true) => Ok(Self::Auto),
            (Some("none"), true) => Ok(Self::None),
            (Some("required"), true) => Ok(Self::Required),
            (Some("file_search"), false) => Ok(Self::FileSearch),
            _ => {
                let reason =
                    "must be auto, none, required or the type file_search: no function can be required";
                Err(ValidationError::new("tool_choice", reason))
            }
        }
    }

    /// The choice as the response repeats it.
    pub(super) fn to_json(self) -> Value {
        match self {
            Self::Auto => "auto".into(),
            Self::None => "none".into(),
            Self::Required => "required".into(),
            Self::FileSearch => json!({ "type": "file_search" }),
        }
    }

    /// Who decides on the first search. `None` for the setting of the service.
    ///
    /// # Errors
    /// 400 for a choice that the tools of the request do not allow.
    pub(super) fn search_mode(self, tools: &Tools) -> Result<Option<SearchMode>, ApiError> {
        let invalid = |reason| Err(ApiError::invalid_field(&["body", "tool_choice"], reason));
        match (self, tools.stores.is_some()) {
            (Self::Auto, _) | (Self::None, false) => Ok(None),
            (Self::None, true) => {
                invalid("must not be none with the tool file_search: leave the tool out instead")
            }
            (Self::Required | Self::FileSearch, true) => Ok(Some(SearchMode::First)),
            (Self::Required | Self::FileSearch, false) => {
                invalid("needs the tool file_search: no function can be required")
            }
        }
    }
}
