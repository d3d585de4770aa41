//! Error responses of a service, and failed requests.

use crate::output::sanitize;
use reqwest::header::RETRY_AFTER;
use reqwest::{Response, StatusCode, Url};
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// An error response of a service.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    /// The `Retry-After` header.
    pub(crate) retry_after: Option<Duration>,
    /// Names the reason to programs.
    pub(crate) code: Option<String>,
    message: String,
}

impl ApiError {
    #[cfg(test)]
    pub(crate) fn new(status: StatusCode, retry_after: Option<Duration>, message: &str) -> Self {
        Self { status, retry_after, code: None, message: message.to_owned() }
    }

    /// Whether an error is a response with the status 403.
    pub(crate) fn is_forbidden(error: &anyhow::Error) -> bool {
        error.downcast_ref::<Self>().is_some_and(|response| response.status == StatusCode::FORBIDDEN)
    }

    /// Reads an error response.
    pub(super) async fn read(answer: Response) -> Self {
        let status = answer.status();
        let retry_after = answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = retry_after.and_then(|seconds| seconds.trim().parse().ok());
        let body: Value = answer.json().await.unwrap_or_default();
        let code = body["code"].as_str().map(str::to_owned);
        let message = message(status, &body);
        Self { status, retry_after: retry_after.map(Duration::from_secs), code, message }
    }
}

fn message(status: StatusCode, body: &Value) -> String {
    // `detail` is general; `errors` names the fields.
    let fields: Vec<String> = body["errors"].as_array().into_iter().flatten().map(field_error).collect();
    match body["detail"].as_str() {
        Some(detail) if fields.is_empty() => sanitize(detail),
        Some(detail) => sanitize(&format!("{detail}: {}", fields.join("; "))),
        None => format!("the service answered {status}"),
    }
}

/// Formats an entry of `errors` in a 422 response.
fn field_error(error: &Value) -> String {
    let steps = error["loc"].as_array().into_iter().flatten();
    let steps = steps.filter(|step| *step != "body");
    let place = steps.map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned));
    let place = place.collect::<Vec<_>>().join(".");
    format!("{place} {}", error["msg"].as_str().unwrap_or("is wrong"))
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.retry_after {
            Some(wait) => write!(f, " (try again in {} s)", wait.as_secs()),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ApiError {}

/// Describes a request without a response.
pub(super) fn request_error(base: &Url, error: reqwest::Error) -> anyhow::Error {
    let description = if error.is_connect() {
        format!("{base} cannot be reached")
    } else if error.is_timeout() {
        format!("{base} did not answer in time")
    } else {
        format!("the connection to {base} broke")
    };
    anyhow::Error::new(error.without_url()).context(description)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn message_names_invalid_fields() {
        let error = json!({ "loc": ["body", "document_ids", 1], "msg": "must be a UUID" });
        assert_eq!(field_error(&error), "document_ids.1 must be a UUID");
        let body = json!({ "detail": "The request is not valid", "errors": [error] });
        let message = message(StatusCode::UNPROCESSABLE_ENTITY, &body);
        assert_eq!(message, "The request is not valid: document_ids.1 must be a UUID");
    }

    #[test]
    fn message_of_other_response_is_its_status() {
        assert_eq!(message(StatusCode::BAD_GATEWAY, &Value::Null), "the service answered 502 Bad Gateway");
    }

    #[test]
    fn message_includes_retry_after() {
        let retry_after = Some(Duration::from_secs(12));
        let status = StatusCode::TOO_MANY_REQUESTS;
        let error = ApiError { status, retry_after, code: None, message: "Too Many Requests".to_owned() };
        assert_eq!(error.to_string(), "Too Many Requests (try again in 12 s)");
    }
}
