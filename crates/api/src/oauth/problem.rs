//! Errors in the format of OAuth.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use docent_app::oauth::tokens::GrantError;
use docent_http::{ApiError, Form};
use serde::Serialize;
use utoipa::ToSchema;

/// An error.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({ "error": "invalid_grant", "error_description": "the code is not valid" }))]
pub(crate) struct OAuthProblem {
    /// Error code of OAuth.
    error: &'static str,
    /// Sentence for developers.
    error_description: String,
}

/// Why a request is refused: by a rule of OAuth, or for another reason.
pub(crate) enum Refusal {
    OAuth(OAuthProblem),
    Other(ApiError),
}

impl Refusal {
    pub(super) fn new(error: &'static str, description: impl Into<String>) -> Self {
        Self::OAuth(OAuthProblem { error, error_description: description.into() })
    }

    pub(super) fn invalid_request(description: impl Into<String>) -> Self {
        Self::new("invalid_request", description)
    }

    /// The response: 400 for errors of OAuth.
    pub(super) fn response(self) -> Result<HttpResponse, ApiError> {
        match self {
            Self::OAuth(problem) => Ok(HttpResponse::BadRequest().json(problem)),
            Self::Other(error) => Err(error),
        }
    }
}

impl From<GrantError> for Refusal {
    fn from(error: GrantError) -> Self {
        let code = match error {
            GrantError::InvalidGrant(_) => "invalid_grant",
            GrantError::InvalidScope => "invalid_scope",
            GrantError::InvalidTarget => "invalid_target",
            GrantError::Failed(error) => return Self::Other(error.into()),
        };
        Self::new(code, error.to_string())
    }
}

/// A form that cannot be read is an invalid request, except where its sender is too slow or sends too much.
impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        match error.status() {
            StatusCode::UNSUPPORTED_MEDIA_TYPE | StatusCode::UNPROCESSABLE_ENTITY => {
                Self::invalid_request(error.sentences())
            }
            _ => Self::Other(error),
        }
    }
}

/// The value of a field, if it is sent. Fields must not be repeated.
pub(super) fn field<'f>(form: &'f Form, name: &str) -> Result<Option<&'f str>, Refusal> {
    let mut values = form.all(name);
    match (values.next(), values.next()) {
        (_, Some(_)) => Err(Refusal::invalid_request(format!("{name} was sent more than once"))),
        (value, None) => Ok(value.filter(|value| !value.is_empty())),
    }
}

/// The value of a required field.
pub(super) fn required<'f>(form: &'f Form, name: &str) -> Result<&'f str, Refusal> {
    field(form, name)?.ok_or_else(|| Refusal::invalid_request(format!("{name} is missing")))
}
