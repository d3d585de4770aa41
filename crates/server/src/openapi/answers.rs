//! Answers that many operations share, with bodies as `error.rs` makes them.

use crate::error::{FieldError, InvalidRequest, Loc, Problem, Refusal, sentence};
use actix_web::http::StatusCode;
use docent_app::error::{Error, Fault, FaultKind, Part};
use docent_domain::permission::RecordKind;
use std::{collections::BTreeMap, time::Duration};
use utoipa::{
    IntoResponses, PartialSchema, ToSchema,
    openapi::{
        Components, Content, ContentBuilder, Object, Ref, RefOr, Response, ResponseBuilder, Type,
        example::ExampleBuilder,
        header::{Header, HeaderBuilder},
        schema::SchemaType,
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
    NoAgent { 404 => "AgentNotFound" }
    NotFailed { 409 => "NotFailed" }
    NotPdf { 415 => "NotAPdf" }
    /// What goes wrong with a path or a query.
    BadInput { 422 => "InvalidRequest" }
    /// What goes wrong with a body.
    BodyRead { 400 => "BrokenBody", 408 => "BodyTimeout", 413 => "TooLarge", 422 => "InvalidRequest" }
    StoreAway { 503 => "StoreAway" }
    StoreFull { 507 => "StoreFull" }
    ModelAway { 502 => "ModelFailed", 504 => "ModelTimeout" }
    /// What any operation may come to.
    Always { 500 => "InternalError" }
    /// What every operation may come to that counts.
    Limited { 429 => "TooManyRequests" }
}

fn named(name: &str) -> RefOr<Response> {
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
    components.responses.extend(shared().into_iter().map(|(name, shared)| (name.to_owned(), shared.into())));
}

fn shared() -> [(&'static str, Response); 21] {
    let refused = |error: Error| Refusal::from(error);
    let plain = |status: StatusCode, detail: &'static str| Refusal::new(status, detail);
    let challenge = ("WWW-Authenticate", text("Always `Bearer`.", "Bearer"));
    let pause = || ("Retry-After", number("Whole seconds after which trying again makes sense."));
    let maybe =
        || ("Retry-After", number("Whole seconds after which trying again makes sense, if that is known."));
    let allow = ("Allow", text("The methods that the path knows.", "GET, HEAD, POST"));
    let again = Duration::from_secs(42);
    [
        (
            "BrokenBody",
            one(
                "The connection broke in the middle of the body.",
                plain(StatusCode::BAD_REQUEST, "The request body ended too early"),
                [],
            ),
        ),
        (
            "LinkRefused",
            one(
                "The link is not good, or the connection broke in the middle of the body.",
                refused(Error::LinkRefused),
                [],
            ),
        ),
        (
            "Unauthorized",
            response(
                "No good access token or API key, or no good refresh token.",
                &[
                    ("credentials", refused(Error::Unauthenticated)),
                    ("refresh_token", refused(Error::RefreshTokenRefused)),
                ],
                [challenge.clone()],
            ),
        ),
        (
            "WrongCredentials",
            one(
                "No active account has this address and password.",
                refused(Error::WrongCredentials),
                [challenge.clone()],
            ),
        ),
        (
            "RefreshTokenRefused",
            one(
                "The token is unknown, expired, revoked or no refresh token.",
                refused(Error::RefreshTokenRefused),
                [challenge],
            ),
        ),
        (
            "Forbidden",
            one(
                "The right is missing, or the API key lacks the scope, or the token is another account's.",
                refused(Error::Forbidden),
                [],
            ),
        ),
        ("NotFound", one("There is no such path.", plain(StatusCode::NOT_FOUND, "Not found"), [])),
        (
            "DocumentNotFound",
            one("There is no such document.", refused(Error::NotFound(RecordKind::Document)), []),
        ),
        (
            "AgentNotFound",
            response(
                "There is no such agent, or the conversation is somebody else's.",
                &[
                    ("agent", refused(Error::AgentNotFound)),
                    ("conversation", refused(Error::NotFound(RecordKind::Conversation))),
                ],
                [],
            ),
        ),
        (
            "MethodNotAllowed",
            one(
                "The path does not know this method.",
                plain(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed"),
                [allow],
            ),
        ),
        (
            "BodyTimeout",
            one(
                "The client paused too long in the middle of the body.",
                plain(StatusCode::REQUEST_TIMEOUT, "The request body took too long"),
                [],
            ),
        ),
        (
            "NotFailed",
            one("The document is not `failed`.", refused(Error::NotFailed { state: "ingested" }), []),
        ),
        ("TooLarge", one("The body is too large.", Refusal::too_large(4 * 1024 * 1024), [])),
        ("NotAPdf", one("The file was not sent as `application/pdf`.", refused(Error::NotAPdf), [])),
        (
            "InvalidRequest",
            one("Something is malformed, missing, of a wrong type or against a rule.", invalid(), []),
        ),
        (
            "TooManyRequests",
            one(
                "Too many requests of this client; or too many failed logins, or too many letters asked for.",
                Refusal::too_many(again),
                [pause()],
            ),
        ),
        ("InternalError", one("A fault of the service. Nothing of it is shown.", Refusal::internal(), [])),
        (
            "ModelFailed",
            fault(
                "The model failed before the first token.",
                502,
                Part::ChatModel,
                FaultKind::Unavailable,
                maybe(),
            ),
        ),
        (
            "ModelTimeout",
            fault(
                "The model was too slow before the first token.",
                504,
                Part::ChatModel,
                FaultKind::Timeout,
                maybe(),
            ),
        ),
        (
            "StoreAway",
            fault(
                "A store that is needed cannot be reached.",
                503,
                Part::Database,
                FaultKind::Unavailable,
                maybe(),
            ),
        ),
        ("StoreFull", fault("A store has no room left.", 507, Part::BlobStore, FaultKind::Full, maybe())),
    ]
}

/// A refusal for what is wrong with a chat.
fn invalid() -> Refusal {
    let loc = vec![Loc::Name("body"), Loc::Name("messages"), Loc::Index(0), Loc::Name("role")];
    Refusal::invalid(vec![FieldError { loc, msg: "must be system, user or assistant".to_owned() }])
}

/// The answer to a fault of a part, without the log line that a real one leaves.
fn fault(
    description: &str,
    status: u16,
    part: Part,
    kind: FaultKind,
    header: (&'static str, Header),
) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let detail = sentence(&Fault::new(part, kind, "").public());
    one(description, Refusal::new(status, detail), [header])
}

fn one<const N: usize>(
    description: &str,
    refusal: Refusal,
    headers: [(&'static str, Header); N],
) -> Response {
    response(description, &[("refusal", refusal)], headers)
}

fn response<const N: usize>(
    description: &str,
    refusals: &[(&str, Refusal)],
    headers: [(&'static str, Header); N],
) -> Response {
    let response = ResponseBuilder::new().description(description);
    let response =
        headers.into_iter().fold(response, |response, (name, header)| response.header(name, header));
    let mut response = response.content("application/json", content(refusals)).build();
    response.headers.insert(REQUEST_ID.to_owned(), id_header());
    response
}

fn content(refusals: &[(&str, Refusal)]) -> Content {
    let is_invalid = refusals.iter().any(|(_, refusal)| refusal.status() == StatusCode::UNPROCESSABLE_ENTITY);
    let name = if is_invalid { InvalidRequest::name() } else { Problem::name() };
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(name)));
    let content = match refusals {
        [(_, refusal)] => content.example(Some(refusal.example())),
        many => content.examples_from_iter(many.iter().map(|(name, refusal)| {
            (*name, ExampleBuilder::new().summary(refusal.detail()).value(Some(refusal.example())).build())
        })),
    };
    content.build()
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
