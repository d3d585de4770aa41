//! The mapping from errors to HTTP responses.

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, ResponseError};
use docent_app::error::Error;
use docent_domain::fault::{Component, Fault, FaultKind};
use serde::Serialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;
use utoipa::ToSchema;

/// Result of a handler.
pub type Reply = Result<HttpResponse, ApiError>;

/// Maximum number of invalid fields that a response names.
pub(crate) const ERRORS_MAX: usize = 100;
/// Maximum size of a list of invalid fields as JSON.
const ERRORS_BYTES_MAX: usize = 60 * 1024;

/// An error response: a status and a JSON body with `detail`.
#[derive(Debug)]
pub struct ApiError {
    status: StatusCode,
    detail: Cow<'static, str>,
    errors: Vec<FieldError>,
    retry_after: Option<Duration>,
    code: Option<&'static str>,
    missing_scope: Option<&'static str>,
    fault: Option<Box<Fault>>,
}

/// An invalid field of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldError {
    /// Location: `["body", "messages", 0, "role"]`. Starts with `body`, `path`, `query` or `header`.
    #[schema(min_items = 1)]
    pub loc: Vec<Loc>,
    /// Why the field is invalid.
    pub msg: String,
}

impl FieldError {
    /// Formats the location: `messages[0].role`.
    pub fn place(&self) -> String {
        let steps = match self.loc.as_slice() {
            [Loc::Name(first), rest @ ..] if first == "body" && !rest.is_empty() => rest,
            all => all,
        };
        let mut place = String::new();
        for step in steps {
            match step {
                Loc::Name(name) if place.is_empty() => place.push_str(name),
                Loc::Name(name) => place.extend([".", &**name]),
                Loc::Index(index) => place.push_str(&format!("[{index}]")),
            }
        }
        place
    }
}

/// One step of a location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum Loc {
    /// A field of an object.
    Name(Cow<'static, str>),
    /// An item of a list, counted from 0.
    Index(usize),
}

impl From<&'static str> for Loc {
    fn from(name: &'static str) -> Self {
        Self::Name(name.into())
    }
}

/// An error.
#[derive(Serialize, ToSchema)]
pub struct Problem<'a> {
    /// Sentence for people.
    detail: &'a str,
    /// For programs, where there are several reasons for the same status.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    code: Option<&'a str>,
}

/// A validation error with all invalid fields.
#[derive(Serialize, ToSchema)]
pub struct InvalidRequest<'a> {
    /// Sentence for people.
    detail: &'a str,
    /// One entry per invalid field.
    #[schema(min_items = 1)]
    errors: &'a [FieldError],
}

impl ApiError {
    /// Creates an error with this status and sentence.
    pub fn new(status: StatusCode, detail: impl Into<Cow<'static, str>>) -> Self {
        Self {
            status,
            detail: detail.into(),
            errors: Vec::new(),
            retry_after: None,
            code: None,
            missing_scope: None,
            fault: None,
        }
    }

    /// 422: invalid fields. At most [`ERRORS_MAX`] are kept, and [`ERRORS_BYTES_MAX`] bytes of JSON.
    pub fn invalid(mut errors: Vec<FieldError>) -> Self {
        let mut bytes = 0;
        let mut is_kept = |error: &FieldError| {
            bytes += serde_json::to_string(error).map_or(0, |json| json.len() + 1);
            bytes <= ERRORS_BYTES_MAX
        };
        let kept = errors.iter().take(ERRORS_MAX).take_while(|error| is_kept(error)).count();
        errors.truncate(kept.max(1));
        if let [only] = errors.as_mut_slice()
            && kept == 0
        {
            only.loc.truncate(1);
        }
        Self { errors, ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, "The request is not valid") }
    }

    /// 422: one invalid field.
    pub fn invalid_field(loc: &[&'static str], msg: impl Into<String>) -> Self {
        let loc = loc.iter().map(|name| Loc::from(*name)).collect();
        Self::invalid(vec![FieldError { loc, msg: msg.into() }])
    }

    /// 413: more than `limit` bytes.
    pub fn too_large(limit: u64) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, format!("The request is larger than {limit} bytes"))
    }

    /// 429.
    pub fn too_many(retry_after: Duration) -> Self {
        let error = Self::new(StatusCode::TOO_MANY_REQUESTS, "Too Many Requests");
        Self { retry_after: Some(retry_after), ..error }
    }

    /// 503: the service has no room for the request.
    pub fn overloaded(retry_after: Duration) -> Self {
        let error = Self::new(StatusCode::SERVICE_UNAVAILABLE, "Too many large requests at the same time");
        Self { retry_after: Some(retry_after), ..error }
    }

    /// 500, without details.
    pub fn internal() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "Internal server error")
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Attaches the fault that caused this error, if any, to a response; the middleware logs and counts it.
    pub fn report(&self, response: &mut HttpResponse) {
        if let Some(fault) = &self.fault {
            response.extensions_mut().insert(Fault::clone(fault));
        }
    }

    /// Logs the fault that caused this error, if any. Only for errors that no response reports.
    pub fn log(&self) {
        if let Some(fault) = &self.fault {
            log_fault(fault, self.status);
        }
    }

    /// Adds a code for programs.
    pub fn with_code(self, code: &'static str) -> Self {
        Self { code: Some(code), ..self }
    }

    /// The code for programs.
    pub fn code(&self) -> Option<&'static str> {
        self.code
    }

    /// The invalid fields.
    pub fn errors(&self) -> &[FieldError] {
        &self.errors
    }

    /// Formats the whole error on one line.
    pub fn sentences(&self) -> String {
        if self.errors.is_empty() {
            return self.detail.clone().into_owned();
        }
        let errors = self.errors.iter().map(|error| format!("{}: {}", error.place(), error.msg));
        errors.collect::<Vec<_>>().join("; ")
    }

    /// The sentence.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// The body as a JSON value.
    pub fn example(&self) -> Value {
        match self.errors.as_slice() {
            [] => json!(self.problem()),
            errors => json!(InvalidRequest { detail: &self.detail, errors }),
        }
    }

    fn problem(&self) -> Problem<'_> {
        Problem { detail: &self.detail, code: self.code }
    }

    /// Whole seconds to wait before a retry.
    pub fn retry_after(&self) -> Option<u64> {
        self.retry_after.map(|pause| (pause.as_secs() + u64::from(pause.subsec_nanos() > 0)).max(1))
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::AgentNotFound
            | Error::NotFound(_)
            | Error::PageNotFound
            | Error::SummaryNotFound
            | Error::NoPageImages(_)
            | Error::MemberNotFound
            | Error::AnswerNotFound
            | Error::BatchNotFound
            | Error::ResponseNotFound
            | Error::DeliveryNotFound => StatusCode::NOT_FOUND,
            Error::PageNotRenderable(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Error::Unauthenticated | Error::InvalidRefreshToken | Error::InvalidCredentials => {
                StatusCode::UNAUTHORIZED
            }
            Error::MissingScope(scope) => {
                let error = Self::new(StatusCode::FORBIDDEN, error.to_string());
                return Self { missing_scope: Some(scope.name()), ..error };
            }
            Error::CodeRequired { .. } => {
                return Self::new(StatusCode::UNAUTHORIZED, error.to_string()).with_code("code_required");
            }
            Error::InvalidCode => {
                return Self::new(StatusCode::UNAUTHORIZED, error.to_string()).with_code("invalid_code");
            }
            Error::SecondFactorRequired => {
                return Self::new(StatusCode::FORBIDDEN, error.to_string())
                    .with_code("second_factor_required");
            }
            Error::ProofNeeded => {
                return Self::new(StatusCode::FORBIDDEN, error.to_string()).with_code("proof_needed");
            }
            Error::TooManyFailedLogins { retry_after } | Error::TooManyEmails { retry_after } => {
                return Self::too_many(*retry_after);
            }
            Error::DrawingQueueFull { retry_after } => {
                let full = Self::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string())
                    .with_code("drawing_queue_full");
                return Self { retry_after: Some(*retry_after), ..full };
            }
            Error::LimitReached(reached) => {
                let error = Self::new(StatusCode::TOO_MANY_REQUESTS, reached.to_string());
                return Self { retry_after: reached.retry_after, ..error.with_code(reached.kind.code()) };
            }
            Error::InvalidLink => StatusCode::BAD_REQUEST,
            Error::Forbidden | Error::OpeningForbidden | Error::MissingAccess(_) | Error::NoPanelAccess => {
                StatusCode::FORBIDDEN
            }
            Error::EmailTaken
            | Error::NameTaken
            | Error::LastSuperuser
            | Error::SecondFactorExists
            | Error::SecondFactorMissing
            | Error::SetupExpired
            | Error::EntriesRemovedElsewhere
            | Error::NotFailed { .. }
            | Error::TooManyWebhooks
            | Error::TooManyCollections
            | Error::TooManyOpenCollections
            | Error::TooManyHiddenCollections
            | Error::FixedCollection(_)
            | Error::CollectionNotEmpty(_)
            | Error::OnlyCollection
            | Error::WebhookDisabled
            | Error::DeliveryInProgress => StatusCode::CONFLICT,
            Error::UnsupportedFileType { .. } => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Error::FileTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Error::Invalid(invalid) => {
                return Self::invalid_field(&["body", invalid.field], invalid.reason.clone());
            }
            Error::Fault(fault) => return Self::of_fault(fault),
        };
        Self::new(status, error.to_string())
    }
}

impl ApiError {
    /// Converts a fault. The response does not contain internal details.
    pub fn of_fault(fault: &Fault) -> Self {
        let reported = Some(Box::new(fault.clone()));
        match Self::status_of(fault.component(), fault.kind()) {
            StatusCode::INTERNAL_SERVER_ERROR => Self { fault: reported, ..Self::internal() },
            status => Self {
                retry_after: fault.retry_after(),
                fault: reported,
                ..Self::new(status, sentence(&fault.public_message()))
            },
        }
    }

    /// An unavailable component is 503, a failed model 502 or 504, an internal error 500.
    fn status_of(component: Component, kind: FaultKind) -> StatusCode {
        match (component, kind) {
            (_, FaultKind::Internal)
            | (Component::Service, FaultKind::InvalidResponse | FaultKind::Rejected) => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
            // Another process, or this one with other settings, could serve it.
            (_, FaultKind::Unconfigured) => StatusCode::SERVICE_UNAVAILABLE,
            (
                Component::ChatModel | Component::Embedder | Component::Reranker | Component::Recognizer,
                FaultKind::Timeout,
            ) => StatusCode::GATEWAY_TIMEOUT,
            (
                Component::ChatModel | Component::Embedder | Component::Reranker | Component::Recognizer,
                FaultKind::Unavailable
                | FaultKind::InUse
                | FaultKind::RateLimited
                | FaultKind::Full
                | FaultKind::Rejected
                | FaultKind::InvalidResponse,
            ) => StatusCode::BAD_GATEWAY,
            (_, FaultKind::Full) => StatusCode::INSUFFICIENT_STORAGE,
            (
                Component::Database
                | Component::KeyValueStore
                | Component::BlobStore
                | Component::VectorStore
                | Component::Extractor
                | Component::MailServer
                | Component::IdentityProvider
                | Component::Service,
                FaultKind::Unavailable | FaultKind::InUse | FaultKind::Timeout | FaultKind::RateLimited,
            ) => StatusCode::SERVICE_UNAVAILABLE,
            // Without the key-value store no refresh token can be verified, and without the provider no identity.
            (
                Component::KeyValueStore | Component::IdentityProvider,
                FaultKind::Rejected | FaultKind::InvalidResponse,
            ) => StatusCode::SERVICE_UNAVAILABLE,
            (
                Component::Database
                | Component::BlobStore
                | Component::VectorStore
                | Component::Extractor
                | Component::MailServer,
                FaultKind::Rejected | FaultKind::InvalidResponse,
            ) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// Logs a fault: an internal error as an error, an unavailable component as a warning.
pub(crate) fn log_fault(fault: &Fault, status: StatusCode) {
    match status {
        StatusCode::INTERNAL_SERVER_ERROR => tracing::error!(fault = %fault.report(), "internal error"),
        status => {
            tracing::warn!(fault = %fault.report(), status = status.as_u16(), "a component is not working")
        }
    }
}

/// Capitalizes the first letter.
pub fn sentence(phrase: &str) -> String {
    let mut characters = phrase.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.status.as_u16(), self.detail)
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status);
        if self.status == StatusCode::UNAUTHORIZED {
            response.insert_header((header::WWW_AUTHENTICATE, "Bearer"));
        }
        if let Some(scope) = self.missing_scope {
            let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
            response.insert_header((header::WWW_AUTHENTICATE, challenge));
        }
        if let Some(seconds) = self.retry_after() {
            response.insert_header((header::RETRY_AFTER, seconds));
        }
        let mut response = match self.errors.as_slice() {
            [] => response.json(self.problem()),
            errors => response.json(InvalidRequest { detail: &self.detail, errors }),
        };
        self.report(&mut response);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(component: Component, kind: FaultKind) -> u16 {
        ApiError::from(Error::from(Fault::new(component, kind, "an inner message"))).status.as_u16()
    }

    #[test]
    fn fault_status_depends_on_component_and_kind() {
        assert_eq!(status(Component::Database, FaultKind::Unavailable), 503);
        assert_eq!(status(Component::KeyValueStore, FaultKind::Timeout), 503);
        assert_eq!(status(Component::ChatModel, FaultKind::Timeout), 504);
        assert_eq!(status(Component::ChatModel, FaultKind::RateLimited), 502);
        assert_eq!(status(Component::ChatModel, FaultKind::Internal), 500);
        assert_eq!(status(Component::BlobStore, FaultKind::Rejected), 500);
    }

    // Invariant: Internal error messages never reach a client.
    #[test]
    fn internal_messages_are_not_in_the_response() {
        for kind in [FaultKind::Unavailable, FaultKind::Internal] {
            let error = ApiError::from(Error::from(Fault::new(Component::Database, kind, "secret")));
            assert!(!error.detail.contains("secret"));
        }
        let error =
            ApiError::from(Error::from(Fault::new(Component::Database, FaultKind::Timeout, "secret")));
        assert_eq!(error.detail, "The database did not answer in time");
    }

    #[test]
    fn retry_after_is_rounded_up() {
        assert_eq!(ApiError::too_many(Duration::from_millis(1)).retry_after(), Some(1));
        assert_eq!(ApiError::too_many(Duration::from_millis(1001)).retry_after(), Some(2));
        assert_eq!(ApiError::too_many(Duration::ZERO).retry_after(), Some(1));
    }
}
