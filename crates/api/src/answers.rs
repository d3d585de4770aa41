//! Error responses shared by many operations, in the format of `error.rs`.

use crate::streams;
use actix_web::http::StatusCode;
use docent_app::error::Error;
use docent_domain::api_key::ApiKeyScope;
use docent_domain::document::{Failure, FailureCode};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::file_type::{FileType, FileTypes};
use docent_domain::permission::RecordKind;
use docent_http::error::{FieldError, InvalidRequest, Loc, Problem};
use docent_http::extract::body::{broken_body, timed_out};
use docent_http::{ApiError, routes};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::schema::{AnyOfBuilder, Schema, SchemaType};
use utoipa::openapi::{Components, ContentBuilder, Object, Ref, RefOr, Response, ResponseBuilder, Type};
use utoipa::{IntoResponses, PartialSchema, ToSchema};

/// Header of every response.
pub(crate) const REQUEST_ID: &str = "X-Request-Id";

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
    /// For all operations.
    Always { 500 => "InternalError" }
    /// For operations with a rate limit.
    RateLimited { 429 => "TooManyRequests" }
    /// For operations that require an account.
    AccountRequired { 401 => "Unauthorized", 403 => "Forbidden" }
    /// For operations that use the database.
    ServiceUnavailable { 503 => "ServiceUnavailable" }
    /// For operations that store something.
    StorageFull { 507 => "StorageFull" }
    InvalidBody { 400 => "IncompleteBody", 408 => "BodyTimeout", 413 => "TooLarge", 422 => "InvalidRequest" }
    /// For a form whose description of 400 says more.
    InvalidForm { 408 => "BodyTimeout", 413 => "TooLarge", 422 => "InvalidRequest" }
    /// For a body that the handler does not parse.
    UnreadableBody { 408 => "BodyTimeout", 413 => "TooLarge" }
    InvalidParameters { 422 => "InvalidRequest" }
    UnknownCollection { 404 => "CollectionNotFound", 422 => "InvalidRequest" }
    UnknownMember { 404 => "MemberNotFound", 422 => "InvalidRequest" }
    FixedCollection { 409 => "FixedCollection" }
    SettingRefused { 409 => "CollectionSettingRefused" }
    TooManyCollections { 409 => "TooManyCollections" }
    CollectionInUse { 409 => "CollectionInUse" }
    UnknownConversation { 404 => "ConversationNotFound", 422 => "InvalidRequest" }
    UnknownSharing { 404 => "SharingNotFound", 422 => "InvalidRequest" }
    UnknownAnswer { 404 => "AnswerNotFound", 422 => "InvalidRequest" }
    UnknownDelivery { 404 => "DeliveryNotFound", 422 => "InvalidRequest" }
    UnknownDocument { 404 => "DocumentNotFound", 422 => "InvalidRequest" }
    UnknownPage { 404 => "PageNotFound", 422 => "PageNotRendered", 503 => "PageNotDrawnNow" }
    UnknownSummary { 404 => "SummaryNotFound", 422 => "InvalidRequest" }
    UnknownPageText { 404 => "PageNotFound", 422 => "InvalidRequest" }
    UnknownStream { 404 => "StreamNotFound", 422 => "InvalidRequest" }
    UnknownWebhook { 404 => "WebhookNotFound", 422 => "InvalidRequest" }
    UnknownAgent { 404 => "AgentNotFound" }
    UnknownPath { 404 => "NotFound" }
    Unauthorized { 401 => "Unauthorized" }
    WrongCredentials { 401 => "WrongCredentials", 403 => "SecondFactorRequired" }
    InvalidRefreshToken { 401 => "InvalidRefreshToken" }
    InvalidLink { 400 => "InvalidLink" }
    ModelFailed { 502 => "ModelFailed", 504 => "ModelTimeout" }
    NotFailed { 409 => "DocumentNotFailed" }
    UnsupportedFile { 415 => "UnsupportedFile" }
    NotReplayable { 409 => "DeliveryNotReplayable" }
    TooManyWebhooks { 409 => "TooManyWebhooks" }
    WebhookDisabled { 409 => "WebhookDisabled" }
}

pub(crate) use answers;

/// References a shared response.
pub(crate) fn named(name: &str) -> RefOr<Response> {
    Ref::from_response_name(name).into()
}

/// Adds the shared responses and their schemas.
pub(crate) fn add(components: &mut Components) {
    let mut schemas = Vec::new();
    Problem::schemas(&mut schemas);
    InvalidRequest::schemas(&mut schemas);
    components.schemas.extend(schemas);
    components.schemas.insert(Problem::name().into_owned(), Problem::schema());
    components.schemas.insert(InvalidRequest::name().into_owned(), InvalidRequest::schema());
    components.headers.insert(REQUEST_ID.to_owned(), request_id().into());
    let shared =
        [about_senders(), about_records(), about_requests(), about_the_service()].into_iter().flatten();
    let responses = shared.map(|(name, when, errors)| (name.to_owned(), response(when, &errors).into()));
    components.responses.extend(responses);
}

/// Name, description and examples of a shared response.
type Shared = (&'static str, &'static str, Vec<ApiError>);

fn about_senders() -> Vec<Shared> {
    let (account, token) = (Error::Unauthenticated, || Error::InvalidRefreshToken.into());
    vec![
        (
            "Unauthorized",
            "The access token, API key or refresh token is missing or invalid.",
            vec![account.into(), token()],
        ),
        (
            "WrongCredentials",
            "No active account has this email address and password, or a code is missing or wrong.",
            vec![Error::InvalidCredentials.into(), Error::InvalidCode.into()],
        ),
        (
            "SecondFactorRequired",
            "The account must have a second factor and has none.",
            vec![Error::SecondFactorRequired.into()],
        ),
        (
            "InvalidRefreshToken",
            "The token is unknown, expired, revoked or not a refresh token.",
            vec![token()],
        ),
        (
            "Forbidden",
            "The permission or the scope of the API key is missing, or the token belongs to another account. `proof_needed`: \
             the session of a browser needs a password or code from within the last ten minutes; tokens and API keys do not.",
            vec![
                Error::Forbidden.into(),
                Error::MissingScope(ApiKeyScope::Read).into(),
                Error::ProofNeeded.into(),
                Error::OpeningForbidden.into(),
            ],
        ),
        (
            "InvalidLink",
            "The link is invalid, or the connection closed before the end of the body.",
            vec![Error::InvalidLink.into(), broken_body()],
        ),
        (
            "TooManyRequests",
            "Too many requests, failed sign-ins or requested emails.",
            vec![ApiError::too_many(Duration::from_secs(42))],
        ),
    ]
}

fn about_records() -> Vec<Shared> {
    let missing = |kind| Error::NotFound(kind).into();
    vec![
        ("NotFound", "Unknown path.", vec![ApiError::new(StatusCode::NOT_FOUND, "Not found")]),
        ("DocumentNotFound", "The document does not exist.", vec![missing(RecordKind::Document)]),
        (
            "CollectionNotFound",
            "The collection does not exist, or the account has no role on it.",
            vec![missing(RecordKind::Collection)],
        ),
        (
            "MemberNotFound",
            "The collection, the account or the group does not exist, or is no member.",
            vec![missing(RecordKind::Collection), missing(RecordKind::User), Error::MemberNotFound.into()],
        ),
        (
            "FixedCollection",
            "A personal collection cannot be shared.",
            vec![Error::FixedCollection("a personal collection cannot be shared; create another one").into()],
        ),
        (
            "CollectionSettingRefused",
            "A personal collection cannot be shared, and the number of open collections is limited.",
            vec![
                Error::FixedCollection("a personal collection cannot be shared; create another one").into(),
                Error::TooManyOpenCollections.into(),
            ],
        ),
        (
            "TooManyCollections",
            "The account owns or has hidden the maximum number of collections, or this number is open to all.",
            vec![
                Error::TooManyCollections.into(),
                Error::TooManyOpenCollections.into(),
                Error::TooManyHiddenCollections.into(),
            ],
        ),
        (
            "CollectionInUse",
            "The collection has documents that are in no other one, or cannot be deleted.",
            vec![Error::CollectionNotEmpty(3).into()],
        ),
        (
            "PageNotFound",
            "The document or the page does not exist.",
            vec![
                missing(RecordKind::Document),
                Error::PageNotFound.into(),
                Error::NoPageImages(FileType::Docx).into(),
            ],
        ),
        (
            "SummaryNotFound",
            "The document does not exist, or is not ingested.",
            vec![missing(RecordKind::Document), Error::SummaryNotFound.into()],
        ),
        (
            "AgentNotFound",
            "The agent or a collection does not exist, or the conversation belongs to another account.",
            vec![
                Error::AgentNotFound.into(),
                missing(RecordKind::Conversation),
                missing(RecordKind::Collection),
            ],
        ),
        (
            "ConversationNotFound",
            "The account has no such conversation.",
            vec![missing(RecordKind::Conversation)],
        ),
        (
            "SharingNotFound",
            "The account has no such conversation, or no role on a collection.",
            vec![missing(RecordKind::Conversation), missing(RecordKind::Collection)],
        ),
        (
            "AnswerNotFound",
            "The account has no such conversation, or the conversation has no such answer.",
            vec![missing(RecordKind::Conversation), Error::AnswerNotFound.into()],
        ),
        ("WebhookNotFound", "The account has no such webhook.", vec![missing(RecordKind::Webhook)]),
        (
            "DeliveryNotFound",
            "The account has no such webhook, or the webhook has no such delivery.",
            vec![missing(RecordKind::Webhook), Error::DeliveryNotFound.into()],
        ),
        (
            "TooManyWebhooks",
            "The account has reached the maximum number of webhooks.",
            vec![Error::TooManyWebhooks.into()],
        ),
        ("WebhookDisabled", "The webhook is inactive.", vec![Error::WebhookDisabled.into()]),
        (
            "DeliveryNotReplayable",
            "The webhook is inactive, or the delivery is in progress.",
            vec![Error::WebhookDisabled.into(), Error::DeliveryInProgress.into()],
        ),
        (
            "StreamNotFound",
            "The stream does not exist, belongs to another account or agent, or its events are no longer available.",
            vec![streams::gone()],
        ),
        (
            "DocumentNotFailed",
            "The document is not `failed`.",
            vec![Error::NotFailed { state: "ingested" }.into()],
        ),
    ]
}

fn about_requests() -> Vec<Shared> {
    let loc = vec!["body".into(), "messages".into(), Loc::Index(0), "role".into()];
    let role = FieldError { loc, msg: "must be system, user or assistant".to_owned() };
    let width =
        ApiError::invalid_field(&["query", "width"], "must be a whole number of pixels from 100 to 3000");
    let locked = Failure::of(FailureCode::PasswordRequired);
    vec![
        ("MethodNotAllowed", "The path does not support this method.", vec![routes::wrong_method()]),
        ("IncompleteBody", "The connection closed before the end of the body.", vec![broken_body()]),
        ("BodyTimeout", "The client paused too long while sending the body.", vec![timed_out()]),
        ("TooLarge", "The body is too large.", vec![ApiError::too_large(4 * 1024 * 1024)]),
        (
            "UnsupportedFile",
            "The file was not sent as `application/pdf`, or, if `DOCENT_UPLOAD_TYPES` accepts other types, its content is of \
             none of them.",
            vec![Error::UnsupportedFileType { accepted: FileTypes::default(), conversion: None }.into()],
        ),
        (
            "InvalidRequest",
            "A value is malformed, missing, of the wrong type or violates a rule.",
            vec![ApiError::invalid(vec![role])],
        ),
        (
            "PageNotRendered",
            "A parameter is invalid, or the page cannot be rendered because of the file.",
            vec![width, Error::PageNotRenderable(locked).into()],
        ),
    ]
}

fn about_the_service() -> Vec<Shared> {
    let model = |kind| fault(Component::ChatModel, kind);
    let database = || fault(Component::Database, FaultKind::Unavailable);
    let drawing = Error::DrawingQueueFull { retry_after: Duration::from_secs(3) };
    vec![
        ("InternalError", "Internal error. Details are only in the log.", vec![ApiError::internal()]),
        ("ModelFailed", "The model failed before the first token.", model(FaultKind::Unavailable)),
        ("ModelTimeout", "The model did not send a token in time.", model(FaultKind::Timeout)),
        ("ServiceUnavailable", "A required component is unavailable.", database()),
        (
            "PageNotDrawnNow",
            "Too many pages are being drawn, or a required component is unavailable.",
            std::iter::once(drawing.into()).chain(database()).collect(),
        ),
        ("StorageFull", "A store is full.", fault(Component::BlobStore, FaultKind::Full)),
    ]
}

pub(crate) fn fault(component: Component, kind: FaultKind) -> Vec<ApiError> {
    vec![ApiError::of_fault(&Fault::new(component, kind, ""))]
}

fn response(description: &str, errors: &[ApiError]) -> Response {
    let has_field_errors = |error: &ApiError| error.example().get("errors").is_some();
    let (problem, invalid) = (Problem::name(), InvalidRequest::name());
    let schema = match errors.iter().filter(|error| has_field_errors(error)).count() {
        0 => Ref::from_schema_name(problem).into(),
        all if all == errors.len() => Ref::from_schema_name(invalid).into(),
        _ => {
            let either = AnyOfBuilder::new().item(Ref::from_schema_name(invalid));
            either.item(Ref::from_schema_name(problem)).into()
        }
    };
    response_with_examples(description, schema, errors, ApiError::example)
}

/// Builds a response with the bodies and headers of these errors.
pub(crate) fn response_with_examples(
    description: &str,
    schema: RefOr<Schema>,
    errors: &[ApiError],
    body: impl Fn(&ApiError) -> Value,
) -> Response {
    let content = ContentBuilder::new().schema(Some(schema));
    let content = match errors {
        [error] => content.example(Some(body(error))),
        many => content.examples_from_iter((1..).zip(many).map(|(number, error)| {
            let example = ExampleBuilder::new().summary(error.detail()).value(Some(body(error)));
            (format!("example {number}"), example.build())
        })),
    };
    let response = ResponseBuilder::new().description(description);
    let mut response = response.content("application/json", content.build()).build();
    response.headers.insert(REQUEST_ID.to_owned(), id_header());
    if let Some((name, header)) = errors.first().and_then(|error| header_of(error.status())) {
        response.headers.insert(name.to_owned(), header.into());
    }
    response
}

/// Returns the header of a status, if it has one.
fn header_of(status: StatusCode) -> Option<(&'static str, Header)> {
    let pause = "Whole seconds to wait before a retry";
    let retry_after = |text: String| Some(("Retry-After", number(&text)));
    match status {
        StatusCode::UNAUTHORIZED => Some(("WWW-Authenticate", text("Always `Bearer`.", "Bearer"))),
        StatusCode::METHOD_NOT_ALLOWED => {
            Some(("Allow", text("Methods that the path supports.", "GET, HEAD, POST")))
        }
        StatusCode::TOO_MANY_REQUESTS => retry_after(format!("{pause}.")),
        StatusCode::INTERNAL_SERVER_ERROR => None,
        status if status.is_server_error() => retry_after(format!("{pause}, if known.")),
        _ => None,
    }
}

/// Headers of a page of a list.
pub(crate) fn paging_headers() -> [(String, RefOr<Header>); 2] {
    [
        ("Link", "URL of the next page, with `rel=\"next\"`, if there is one."),
        ("X-Next-Cursor", "The `cursor` of the next page, if there is one."),
    ]
    .map(|(name, description)| (name.to_owned(), header(description, Type::String).build().into()))
}

/// References the description of [`REQUEST_ID`].
pub(crate) fn id_header() -> RefOr<Header> {
    RefOr::Ref(Ref::new(format!("#/components/headers/{REQUEST_ID}")))
}

fn request_id() -> Header {
    text(
        "ID of the request in the log: the one from the request if it has at most 128 letters, digits and `-_.`, otherwise a new one.",
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
