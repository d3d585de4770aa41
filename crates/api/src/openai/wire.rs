//! Error responses of operations below `/v1`, in the format of the OpenAI API.

use super::errors::{self, OpenAiProblem};
use crate::answers::{answers, fault, named, response_with_examples};
use docent_app::error::Error;
use docent_domain::api_key::ApiKeyScope;
use docent_domain::fault::{Component, FaultKind};
use docent_domain::permission::RecordKind;
use docent_http::error::{FieldError, Loc};
use docent_http::extract::body::{broken_body, timed_out};
use docent_http::{ApiError, routes};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;
use utoipa::openapi::{Components, Ref, RefOr, Response};
use utoipa::{IntoResponses, PartialSchema, ToSchema};

answers! {
    /// For all operations.
    Always {
        401 => "OpenAiUnauthorized", 403 => "OpenAiForbidden", 429 => "OpenAiTooManyRequests",
        500 => "OpenAiInternalError", 503 => "OpenAiServiceUnavailable"
    }
    InvalidBody { 400 => "OpenAiInvalidRequest", 408 => "OpenAiBodyTimeout", 413 => "OpenAiTooLarge" }
    InvalidParameters { 400 => "OpenAiInvalidRequest" }
    UnknownObject { 404 => "OpenAiNotFound" }
    Conflict { 409 => "OpenAiConflict" }
    StorageFull { 507 => "OpenAiStorageFull" }
    UnknownModel { 404 => "OpenAiModelNotFound" }
    ModelFailed { 502 => "OpenAiModelFailed", 504 => "OpenAiModelTimeout" }
}

/// Adds the shared responses and their schemas.
pub(crate) fn add(components: &mut Components) {
    let mut schemas = Vec::new();
    OpenAiProblem::schemas(&mut schemas);
    components.schemas.extend(schemas);
    components.schemas.insert(OpenAiProblem::name().into_owned(), OpenAiProblem::schema());
    let shared = about_requests().into_iter().chain(about_the_service());
    let responses = shared.map(|(name, when, says)| (name.to_owned(), response(when, &says).into()));
    components.responses.extend(responses);
}

/// Name, description and examples of a shared response.
type Shared = (&'static str, &'static str, Vec<ApiError>);

fn about_requests() -> Vec<Shared> {
    let loc = vec!["body".into(), "messages".into(), Loc::Index(0), "role".into()];
    let role = FieldError { loc, msg: "is required".to_owned() };
    let invalid = vec![ApiError::invalid(vec![role]), errors::no_vectors(), broken_body()];
    vec![
        (
            "OpenAiUnauthorized",
            "The access token or API key is missing or invalid.",
            vec![Error::Unauthenticated.into()],
        ),
        (
            "OpenAiForbidden",
            "The API key lacks the scope, or the account lacks the right.",
            vec![Error::MissingScope(ApiKeyScope::Chat).into(), Error::Forbidden.into()],
        ),
        (
            "OpenAiNotFound",
            "The file, vector store, batch or response does not exist, or the account cannot read it.",
            vec![
                Error::NotFound(RecordKind::Document).into(),
                Error::NotFound(RecordKind::Collection).into(),
                Error::BatchNotFound.into(),
                Error::ResponseNotFound.into(),
            ],
        ),
        (
            "OpenAiConflict",
            "The vector store has files that are in no other one, cannot be deleted, or would be one too many.",
            vec![
                Error::CollectionNotEmpty(3).into(),
                Error::FixedCollection(
                    "the collection of everyone and personal collections cannot be deleted",
                )
                .into(),
                Error::TooManyCollections.into(),
            ],
        ),
        ("OpenAiModelNotFound", "The model does not exist.", vec![errors::no_such_model("other")]),
        (
            "OpenAiInvalidRequest",
            "A value is malformed, missing, of the wrong type, violates a rule or is not supported.",
            invalid,
        ),
        ("OpenAiMethodNotAllowed", "The path does not support this method.", vec![routes::wrong_method()]),
        ("OpenAiBodyTimeout", "The client paused too long while sending the body.", vec![timed_out()]),
        ("OpenAiTooLarge", "The body is too large.", vec![ApiError::too_large(4 * 1024 * 1024)]),
        ("OpenAiTooManyRequests", "Too many requests.", vec![ApiError::too_many(Duration::from_secs(42))]),
    ]
}

fn about_the_service() -> Vec<Shared> {
    let model = |kind| fault(Component::ChatModel, kind);
    vec![
        ("OpenAiInternalError", "Internal error. Details are only in the log.", vec![ApiError::internal()]),
        ("OpenAiModelFailed", "The model failed before the answer began.", model(FaultKind::Unavailable)),
        ("OpenAiModelTimeout", "The model did not send a token in time.", model(FaultKind::Timeout)),
        (
            "OpenAiStorageFull",
            "There is no space left to store something.",
            fault(Component::Database, FaultKind::Full),
        ),
        (
            "OpenAiServiceUnavailable",
            "A required component is unavailable, or the service is stopping.",
            fault(Component::Database, FaultKind::Unavailable),
        ),
    ]
}

fn response(description: &str, errors: &[ApiError]) -> Response {
    let schema = Ref::from_schema_name(OpenAiProblem::name()).into();
    response_with_examples(description, schema, errors, |error| json!(errors::of(error)))
}
