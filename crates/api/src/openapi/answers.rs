//! Answers that many operations share, with bodies as `error.rs` makes them.

use crate::streams;
use actix_web::http::StatusCode;
use docent_app::error::Error;
use docent_domain::{
    document::{Failure, FailureCode},
    fault::{Component, Fault, FaultKind},
    permission::RecordKind,
};
use docent_http::{
    error::{ApiError, FieldError, InvalidRequest, Loc, Problem},
    extract::json::{broken_body, timed_out},
    routes,
};
use std::{collections::BTreeMap, time::Duration};
use utoipa::{
    IntoResponses, PartialSchema, ToSchema,
    openapi::{
        Components, Content, ContentBuilder, Object, Ref, RefOr, Response, ResponseBuilder, Type,
        example::ExampleBuilder,
        header::{Header, HeaderBuilder},
        schema::{AnyOfBuilder, Schema, SchemaType},
    },
};

/// The header that every response has.
pub(super) const REQUEST_ID: &str = "X-Request-Id";

macro_rules! answers {
    ($($(#[$doc:meta])* $set:ident { $($status:literal => $name:literal),+ })+) => {$(
        $(#[$doc])*
        pub(crate) enum $set {}

        impl IntoResponses for $set {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                [$((stringify!($status).to_owned(), named($name))),+].into()
            }
        }
    )+};
}

answers! {
    /// What needs an account, and the right to do it.
    Guarded { 401 => "Unauthorized", 403 => "Forbidden" }
    WrongCredentials { 401 => "WrongCredentials" }
    RefreshTokenRefused { 401 => "RefreshTokenRefused" }
    NoToken { 401 => "Unauthorized" }
    LinkRefused { 400 => "LinkRefused" }
    Nowhere { 404 => "NotFound" }
    NoDocument { 404 => "DocumentNotFound" }
    NoPage { 404 => "PageNotFound" }
    NotDrawn { 422 => "PageNotDrawn" }
    NoAgent { 404 => "AgentNotFound" }
    NoConversation { 404 => "ConversationNotFound" }
    NoWebhook { 404 => "WebhookNotFound" }
    NoDelivery { 404 => "DeliveryNotFound" }
    TooManyWebhooks { 409 => "TooManyWebhooks" }
    WebhookOff { 409 => "WebhookOff" }
    NoReplay { 409 => "NoReplay" }
    NoStream { 404 => "StreamNotFound" }
    NotFailed { 409 => "NotFailed" }
    NotPdf { 415 => "NotAPdf" }
    /// What goes wrong with a path or a query.
    BadInput { 422 => "InvalidRequest" }
    /// What goes wrong with a body.
    BodyRead { 400 => "BrokenBody", 408 => "BodyTimeout", 413 => "TooLarge", 422 => "InvalidRequest" }
    /// What goes wrong with a body that something else reads.
    BytesRead { 408 => "BodyTimeout", 413 => "TooLarge" }
    StoreAway { 503 => "StoreAway" }
    StoreFull { 507 => "StoreFull" }
    ModelAway { 502 => "ModelFailed", 504 => "ModelTimeout" }
    /// What any operation may come to.
    Always { 500 => "InternalError" }
    /// What every operation may come to that counts.
    Limited { 429 => "TooManyRequests" }
}

pub(super) use answers;

/// Leads to a shared answer.
pub(super) fn named(name: &str) -> RefOr<Response> {
    Ref::from_response_name(name).into()
}

/// Adds what the answers are, and what they are made of.
pub(super) fn add(components: &mut Components) {
    let mut schemas = Vec::new();
    Problem::schemas(&mut schemas);
    InvalidRequest::schemas(&mut schemas);
    components.schemas.extend(schemas);
    components.schemas.insert(Problem::name().into_owned(), Problem::schema());
    components.schemas.insert(InvalidRequest::name().into_owned(), InvalidRequest::schema());
    components.headers.insert(REQUEST_ID.to_owned(), request_id().into());
    let shared =
        [about_senders(), about_records(), about_requests(), about_the_service()].into_iter().flatten();
    let responses = shared.map(|(name, when, says)| (name.to_owned(), response(when, &says).into()));
    components.responses.extend(responses);
}

/// The name of an answer, when it is given, and what it may say.
type Shared = (&'static str, &'static str, Vec<ApiError>);

fn about_senders() -> Vec<Shared> {
    let (account, token) = (Error::Unauthenticated, || Error::InvalidRefreshToken.into());
    vec![
        (
            "Unauthorized",
            "No good access token or API key, or no good refresh token.",
            vec![account.into(), token()],
        ),
        (
            "WrongCredentials",
            "No active account has this address and password.",
            vec![Error::InvalidCredentials.into()],
        ),
        ("RefreshTokenRefused", "The token is unknown, expired, revoked or no refresh token.", vec![token()]),
        (
            "Forbidden",
            "The right is missing, or the API key lacks the scope, or the token is another account's.",
            vec![Error::Forbidden.into()],
        ),
        (
            "LinkRefused",
            "The link is not good, or the connection broke in the middle of the body.",
            vec![Error::InvalidLink.into(), broken_body()],
        ),
        (
            "TooManyRequests",
            "Too many requests of this client; or too many failed logins, or too many letters asked for.",
            vec![ApiError::too_many(Duration::from_secs(42))],
        ),
    ]
}

fn about_records() -> Vec<Shared> {
    let missing = |kind| Error::NotFound(kind).into();
    vec![
        ("NotFound", "There is no such path.", vec![ApiError::new(StatusCode::NOT_FOUND, "Not found")]),
        ("DocumentNotFound", "There is no such document.", vec![missing(RecordKind::Document)]),
        (
            "PageNotFound",
            "There is no such document, or it has no such page.",
            vec![missing(RecordKind::Document), Error::PageNotFound.into()],
        ),
        (
            "AgentNotFound",
            "There is no such agent, or the conversation is somebody else's.",
            vec![Error::AgentNotFound.into(), missing(RecordKind::Conversation)],
        ),
        (
            "ConversationNotFound",
            "There is no such conversation of this account.",
            vec![missing(RecordKind::Conversation)],
        ),
        ("WebhookNotFound", "There is no such webhook of this account.", vec![missing(RecordKind::Webhook)]),
        (
            "DeliveryNotFound",
            "There is no such webhook of this account, or it has no such delivery.",
            vec![missing(RecordKind::Webhook), Error::DeliveryNotFound.into()],
        ),
        (
            "TooManyWebhooks",
            "The account has as many webhooks as it may have.",
            vec![Error::TooManyWebhooks.into()],
        ),
        ("WebhookOff", "The webhook is off.", vec![Error::WebhookDisabled.into()]),
        (
            "NoReplay",
            "The webhook is off, or a message is being sent to it.",
            vec![Error::WebhookDisabled.into(), Error::DeliveryInProgress.into()],
        ),
        (
            "StreamNotFound",
            "The stream is unknown, another account's or of another agent, or it is gone, as a whole or as far back.",
            vec![streams::gone()],
        ),
        ("NotFailed", "The document is not `failed`.", vec![Error::NotFailed { state: "ingested" }.into()]),
    ]
}

fn about_requests() -> Vec<Shared> {
    let loc = vec!["body".into(), "messages".into(), Loc::Index(0), "role".into()];
    let role = FieldError { loc, msg: "must be system, user or assistant".to_owned() };
    let width =
        ApiError::invalid_field(&["query", "width"], "must be a whole number of pixels from 100 to 3000");
    let locked = Failure::of(FailureCode::PasswordRequired);
    vec![
        ("MethodNotAllowed", "The path does not know this method.", vec![routes::wrong_method()]),
        ("BrokenBody", "The connection broke in the middle of the body.", vec![broken_body()]),
        ("BodyTimeout", "The client paused too long in the middle of the body.", vec![timed_out()]),
        ("TooLarge", "The body is too large.", vec![ApiError::too_large(4 * 1024 * 1024)]),
        ("NotAPdf", "The file was not sent as `application/pdf`.", vec![Error::NotPdf.into()]),
        (
            "InvalidRequest",
            "Something is malformed, missing, of a wrong type or against a rule.",
            vec![ApiError::invalid(vec![role])],
        ),
        (
            "PageNotDrawn",
            "A parameter is against a rule, or the file is to blame that the page cannot be drawn.",
            vec![width, Error::PageNotRenderable(locked).into()],
        ),
    ]
}

fn about_the_service() -> Vec<Shared> {
    let fault = |part, kind| vec![ApiError::of_fault(&Fault::new(part, kind, ""))];
    vec![
        ("InternalError", "A fault of the service. Nothing of it is shown.", vec![ApiError::internal()]),
        (
            "ModelFailed",
            "The model failed before the first token.",
            fault(Component::ChatModel, FaultKind::Unavailable),
        ),
        (
            "ModelTimeout",
            "The model was too slow before the first token.",
            fault(Component::ChatModel, FaultKind::Timeout),
        ),
        (
            "StoreAway",
            "A store that is needed cannot be reached.",
            fault(Component::Database, FaultKind::Unavailable),
        ),
        ("StoreFull", "A store has no room left.", fault(Component::BlobStore, FaultKind::Full)),
    ]
}

fn response(description: &str, refusals: &[ApiError]) -> Response {
    let response = ResponseBuilder::new().description(description);
    with_headers(response.content("application/json", content(refusals)).build(), refusals)
}

/// Adds the headers that go with these answers.
pub(super) fn with_headers(mut response: Response, refusals: &[ApiError]) -> Response {
    response.headers.insert(REQUEST_ID.to_owned(), id_header());
    if let Some((name, header)) = refusals.first().and_then(|refusal| header_of(refusal.status())) {
        response.headers.insert(name.to_owned(), header.into());
    }
    response
}

fn content(refusals: &[ApiError]) -> Content {
    let names_faults = |refusal: &ApiError| refusal.example().get("errors").is_some();
    let (problem, invalid) = (Problem::name(), InvalidRequest::name());
    let schema: RefOr<Schema> = match refusals.iter().filter(|refusal| names_faults(refusal)).count() {
        0 => Ref::from_schema_name(problem).into(),
        all if all == refusals.len() => Ref::from_schema_name(invalid).into(),
        _ => {
            let either = AnyOfBuilder::new().item(Ref::from_schema_name(invalid));
            either.item(Ref::from_schema_name(problem)).into()
        }
    };
    let content = ContentBuilder::new().schema(Some(schema));
    let content = match refusals {
        [refusal] => content.example(Some(refusal.example())),
        many => content.examples_from_iter((1..).zip(many).map(|(number, refusal)| {
            let example = ExampleBuilder::new().summary(refusal.detail()).value(Some(refusal.example()));
            (format!("example {number}"), example.build())
        })),
    };
    content.build()
}

/// What goes with a status beside the body.
fn header_of(status: StatusCode) -> Option<(&'static str, Header)> {
    let pause = "Whole seconds after which trying again makes sense";
    let retry_after = |text: String| Some(("Retry-After", number(&text)));
    match status {
        StatusCode::UNAUTHORIZED => Some(("WWW-Authenticate", text("Always `Bearer`.", "Bearer"))),
        StatusCode::METHOD_NOT_ALLOWED => {
            Some(("Allow", text("The methods that the path knows.", "GET, HEAD, POST")))
        }
        StatusCode::TOO_MANY_REQUESTS => retry_after(format!("{pause}.")),
        StatusCode::INTERNAL_SERVER_ERROR => None,
        status if status.is_server_error() => retry_after(format!("{pause}, if that is known.")),
        _ => None,
    }
}

/// Leads to the description of [`REQUEST_ID`].
pub(super) fn id_header() -> RefOr<Header> {
    RefOr::Ref(Ref::new(format!("#/components/headers/{REQUEST_ID}")))
}

fn request_id() -> Header {
    text(
        "The request's id in the log: the one that was sent, if it has up to 128 letters, digits and `-_.`; a new one otherwise.",
        "0f8fad5bd9cb469fa16570867728950e",
    )
}

fn text(description: &str, example: &str) -> Header {
    header(description, Type::String).example(Some(example.into())).build()
}

fn number(description: &str) -> Header {
    header(description, Type::Integer).example(Some(42.into())).build()
}

fn header(description: &str, kind: Type) -> HeaderBuilder {
    let schema = Object::with_type(SchemaType::new(kind));
    HeaderBuilder::new().schema(Some(schema)).description(Some(description))
}
