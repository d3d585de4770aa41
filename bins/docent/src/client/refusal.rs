//! What a service says no to, and what kept it from saying anything.

use crate::output::printable;
use reqwest::{Response, StatusCode, Url, header::RETRY_AFTER};
use serde_json::Value;
use std::{fmt, time::Duration};

/// What a service said no to.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// When it asks to be tried again.
    pub(crate) retry_after: Option<Duration>,
    said: String,
}

impl Refusal {
    /// One that says this.
    #[cfg(test)]
    pub(crate) fn new(status: StatusCode, retry_after: Option<Duration>, said: &str) -> Self {
        Self { status, retry_after, said: said.to_owned() }
    }

    /// What the service says is wrong.
    pub(super) async fn of(answer: Response) -> Self {
        let status = answer.status();
        let retry_after = answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = retry_after.and_then(|seconds| seconds.trim().parse().ok());
        let body: Value = answer.json().await.unwrap_or_default();
        Self { status, retry_after: retry_after.map(Duration::from_secs), said: said(status, &body) }
    }
}

fn said(status: StatusCode, body: &Value) -> String {
    // What is wrong with which field says more than that something is.
    let fields: Vec<String> = body["errors"].as_array().into_iter().flatten().map(field).collect();
    match body["detail"].as_str() {
        Some(detail) if fields.is_empty() => printable(detail),
        Some(detail) => printable(&format!("{detail}: {}", fields.join("; "))),
        None => format!("the service answered {status}"),
    }
}

/// One entry of a 422's `errors`, as a sentence.
fn field(error: &Value) -> String {
    let steps = error["loc"].as_array().into_iter().flatten();
    let steps = steps.filter(|step| *step != "body");
    let place = steps.map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned));
    let place = place.collect::<Vec<_>>().join(".");
    format!("{place} {}", error["msg"].as_str().unwrap_or("is wrong"))
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)?;
        match self.retry_after {
            Some(wait) => write!(f, " (try again in {} s)", wait.as_secs()),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Refusal {}

/// Why a request has no answer.
pub(super) fn unanswered(base: &Url, error: reqwest::Error) -> anyhow::Error {
    let what = if error.is_connect() {
        format!("{base} cannot be reached")
    } else if error.is_timeout() {
        format!("{base} did not answer in time")
    } else {
        format!("the connection to {base} broke")
    };
    anyhow::Error::new(error.without_url()).context(what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_wrong_with_a_field_is_told() {
        let error = json!({ "loc": ["body", "document_ids", 1], "msg": "must be a UUID" });
        assert_eq!(field(&error), "document_ids.1 must be a UUID");
        let body = json!({ "detail": "The request is not valid", "errors": [error] });
        let said = said(StatusCode::UNPROCESSABLE_ENTITY, &body);
        assert_eq!(said, "The request is not valid: document_ids.1 must be a UUID");
    }

    #[test]
    fn an_answer_of_something_else_is_told_by_its_status() {
        assert_eq!(said(StatusCode::BAD_GATEWAY, &Value::Null), "the service answered 502 Bad Gateway");
    }

    #[test]
    fn a_wait_that_is_asked_for_is_told() {
        let retry_after = Some(Duration::from_secs(12));
        let status = StatusCode::TOO_MANY_REQUESTS;
        let refusal = Refusal { status, retry_after, said: "Too Many Requests".to_owned() };
        assert_eq!(refusal.to_string(), "Too Many Requests (try again in 12 s)");
    }
}
