//! Answers of operations below `/v1`, with bodies as clients of the OpenAI API read them.

use super::answers::{answers, named, with_headers};
use crate::openai::errors::{self, OpenAiProblem};
use docent_app::error::Error;
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_http::{
    error::{ApiError, FieldError, Loc},
    extract::json::{broken_body, timed_out},
    routes,
};
use serde_json::json;
use std::{collections::BTreeMap, time::Duration};
use utoipa::{
    IntoResponses, PartialSchema, ToSchema,
    openapi::{Components, ContentBuilder, Ref, RefOr, Response, ResponseBuilder, example::ExampleBuilder},
};

answers! {
    /// What needs an account, and the right to do it.
    Guarded { 401 => "OpenAiUnauthorized", 403 => "OpenAiForbidden" }
    NoModel { 404 => "OpenAiModelNotFound" }
    /// What goes wrong with a body.
    BodyRead { 400 => "OpenAiInvalidRequest", 408 => "OpenAiBodyTimeout", 413 => "OpenAiTooLarge" }
    ModelAway { 502 => "OpenAiModelFailed", 504 => "OpenAiModelTimeout" }
    StoreAway { 503 => "OpenAiStoreAway" }
    /// What any operation may come to.
    Always { 500 => "OpenAiInternalError", 429 => "OpenAiTooManyRequests" }
}

/// Adds what the answers are, and what they are made of.
pub(super) fn add(components: &mut Components) {
    let mut schemas = Vec::new();
    OpenAiProblem::schemas(&mut schemas);
    components.schemas.extend(schemas);
    components.schemas.insert(OpenAiProblem::name().into_owned(), OpenAiProblem::schema());
    let shared = about_requests().into_iter().chain(about_the_service());
    let responses = shared.map(|(name, when, says)| (name.to_owned(), response(when, &says).into()));
    components.responses.extend(responses);
}

/// The name of an answer, when it is given, and what it may say.
type Shared = (&'static str, &'static str, Vec<ApiError>);

fn about_requests() -> Vec<Shared> {
    let loc = vec!["body".into(), "messages".into(), Loc::Index(0), "role".into()];
    let role = FieldError { loc, msg: "is required".to_owned() };
    let invalid = vec![ApiError::invalid(vec![role]), errors::no_vectors(), broken_body()];
    vec![
        ("OpenAiUnauthorized", "No good access token or API key.", vec![Error::Unauthenticated.into()]),
        ("OpenAiForbidden", "The API key lacks the scope `chat`.", vec![Error::Forbidden.into()]),
        ("OpenAiModelNotFound", "There is no such model.", vec![errors::no_such_model("other")]),
        (
            "OpenAiInvalidRequest",
            "Something is malformed, missing, of a wrong type, against a rule, or cannot be done.",
            invalid,
        ),
        ("OpenAiMethodNotAllowed", "The path does not know this method.", vec![routes::wrong_method()]),
        ("OpenAiBodyTimeout", "The client paused too long in the middle of the body.", vec![timed_out()]),
        ("OpenAiTooLarge", "The body is too large.", vec![ApiError::too_large(4 * 1024 * 1024)]),
        (
            "OpenAiTooManyRequests",
            "Too many requests of this client.",
            vec![ApiError::too_many(Duration::from_secs(42))],
        ),
    ]
}

fn about_the_service() -> Vec<Shared> {
    let fault = |part, kind| vec![ApiError::of_fault(&Fault::new(part, kind, ""))];
    vec![
        (
            "OpenAiInternalError",
            "A fault of the service. Nothing of it is shown.",
            vec![ApiError::internal()],
        ),
        (
            "OpenAiModelFailed",
            "The model failed before the answer began.",
            fault(Component::ChatModel, FaultKind::Unavailable),
        ),
        (
            "OpenAiModelTimeout",
            "The model was too slow before the answer began.",
            fault(Component::ChatModel, FaultKind::Timeout),
        ),
        (
            "OpenAiStoreAway",
            "A store that is needed cannot be reached, or the service is stopping.",
            fault(Component::Database, FaultKind::Unavailable),
        ),
    ]
}

fn response(description: &str, refusals: &[ApiError]) -> Response {
    let schema: RefOr<_> = Ref::from_schema_name(OpenAiProblem::name()).into();
    let content = ContentBuilder::new().schema(Some(schema));
    let content = match refusals {
        [refusal] => content.example(Some(json!(errors::of(refusal)))),
        many => content.examples_from_iter((1..).zip(many).map(|(number, refusal)| {
            let value = Some(json!(errors::of(refusal)));
            let example = ExampleBuilder::new().summary(refusal.detail()).value(value);
            (format!("example {number}"), example.build())
        })),
    };
    let response = ResponseBuilder::new().description(description);
    with_headers(response.content("application/json", content.build()).build(), refusals)
}
