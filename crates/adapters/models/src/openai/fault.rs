//! Maps error responses and transport failures of back ends to faults.

mod cause;

use chrono::{DateTime, Utc};
use docent_domain::fault::{Component, Fault, FaultCause, FaultKind};
use docent_domain::redaction::redact;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;
use serde_json::error::Category;
use std::time::Duration;
use tracing::Span;

/// Maximum length of a back end's error message, in characters; longer ones are cut.
const MAX_MESSAGE_CHARS: usize = 300;
/// Upper bound of the pauses that back ends request.
const MAX_PAUSE: Duration = Duration::from_secs(24 * 60 * 60);
/// This many consecutive characters in common count as a quotation of the request.
const QUOTE_CHARS: usize = 16;
/// Shorter texts are not searched for: they occur in messages by chance.
const MIN_QUOTED_CHARS: usize = 3;

/// Maximum length of the part of an error in which words are looked for, in characters.
const MAX_WORDS: usize = 4096;
/// Maximum number of messages that are read of a list of errors.
const MAX_MESSAGES: usize = 3;
/// Fields in which servers send the message of an error.
const MESSAGE_FIELDS: [&str; 7] =
    ["message", "error", "detail", "msg", "errors", "error_description", "title"];

/// What messages about a refused order of roles contain.
const TEMPLATE_WORDS: [&str; 4] = ["template", "jinja", "system message", "roles must"];

/// Why a call failed.
#[derive(Debug)]
pub(super) enum CallError {
    /// The back end returned an error.
    Backend(BackendError),
    /// The back end could not be reached, or its response is incomplete or invalid.
    Fault(Fault),
}

impl From<Fault> for CallError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<BackendError> for CallError {
    fn from(error: BackendError) -> Self {
        Self::Backend(error)
    }
}

impl CallError {
    /// Whether the back end called the request invalid, so that another form of it may succeed.
    pub(super) fn is_invalid_request(&self) -> bool {
        match self {
            Self::Backend(BackendError { status: Some(400 | 422), .. }) => true,
            // Some servers report messages that the model's chat template refuses with 500.
            Self::Backend(BackendError { status: Some(500), words, .. }) => {
                TEMPLATE_WORDS.iter().any(|known| words.contains(known))
            }
            Self::Backend(_) | Self::Fault(_) => false,
        }
    }

    /// Whether the back end called the request invalid for a reason that another form of it may not have.
    pub(super) fn may_be_about_form(&self) -> bool {
        let cause = if let Self::Backend(error) = self { error.cause } else { None };
        self.is_invalid_request() && matches!(cause, None | Some(FaultCause::ServerError))
    }

    /// Whether the back end called the request invalid and named one of these fields as the reason.
    pub(super) fn names(&self, fields: &[&str]) -> bool {
        match self {
            Self::Backend(error) => {
                self.is_invalid_request() && fields.iter().any(|field| error.body.contains(field))
            }
            Self::Fault(_) => false,
        }
    }
}

/// An error reported by the back end. Its message may quote secrets: see [`into_fault`](Self::into_fault).
#[derive(Debug, PartialEq)]
pub(super) struct BackendError {
    pub(super) kind: FaultKind,
    /// The status of the response; `None` for an error within a successful response.
    status: Option<u16>,
    summary: String,
    /// The back end's own message.
    message: Option<String>,
    /// The error's names and message in lower case, in which words are looked for.
    words: String,
    /// The beginning of the whole response, in which names of fields are looked for. It may quote the
    /// request.
    body: String,
    cause: Option<FaultCause>,
    pause: Option<Duration>,
}

impl BackendError {
    /// Reads an unsuccessful response; `now` converts a `Retry-After` date to a pause.
    pub(super) fn from_response(
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
        now: DateTime<Utc>,
    ) -> Self {
        let json = serde_json::from_slice::<Value>(body).ok();
        let error =
            json.as_ref().and_then(|json| json.get("error")).or(json.as_ref()).unwrap_or(&Value::Null);
        let mut summary = format!("status {}", status.as_u16());
        if status.is_redirection() {
            summary.push_str(" (redirects are not followed; check the base URL)");
        }
        let message = match &json {
            Some(json) => error_message(error).or_else(|| error_message(json)),
            None => plain_text(body),
        };
        let names = names(error);
        let words = words(&names, message.as_deref());
        let body = String::from_utf8_lossy(body).chars().take(MAX_WORDS).collect();
        let cause = cause::classify(Some(status), &words);
        let kind = cause::kind(cause).unwrap_or_else(|| kind_of_status(status, &names));
        let pause = retry_after(headers, now);
        Self { kind, status: Some(status.as_u16()), summary, message, words, body, cause, pause }
    }

    /// Reads an error object within a successful response.
    pub(super) fn from_json(error: &Value) -> Self {
        let code = error.get("code").or_else(|| error.get("status"));
        let number = code.and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
        let status = number.and_then(|number| StatusCode::from_u16(u16::try_from(number).ok()?).ok());
        let status = status.filter(|status| status.as_u16() >= 400);
        let names = names(error);
        let message = error_message(error);
        let words = words(&names, message.as_deref());
        // The server can be reached, whatever it reports.
        let cause = cause::classify(status, &words).or(Some(FaultCause::ServerError));
        let kind = cause::kind(cause).unwrap_or_else(|| match status {
            Some(status) => kind_of_status(status, &names),
            None => kind_of_names(&names),
        });
        let cause = cause.filter(|cause| *cause != FaultCause::ServerError || kind == FaultKind::Unavailable);
        let summary = "the back end reported an error within its response".to_owned();
        Self { kind, status: None, summary, message, words, body: String::new(), cause, pause: None }
    }

    /// Converts the error to a fault whose message contains neither the key nor parts of the request.
    pub(super) fn into_fault<'a>(
        self,
        part: Component,
        key: Option<&str>,
        mut private: impl Iterator<Item = &'a str>,
    ) -> Fault {
        let mut message = self.summary;
        if let Some(details) = self.message {
            let details = match key.filter(|key| !key.is_empty()) {
                Some(key) => details.replace(key, "[key]"),
                None => details,
            };
            let details: String = redact(&details).chars().take(MAX_MESSAGE_CHARS).collect();
            if private.any(|text| quotes(&details, text)) {
                message.push_str(" (message omitted because it quotes the request)");
            } else {
                message.push_str(": ");
                message.push_str(&details);
            }
        }
        let fault = Fault::new(part, self.kind, message);
        let fault = match self.status {
            Some(status) => fault.with_status(status),
            None => fault,
        };
        let fault = match self.cause {
            Some(cause) => fault.with_known_cause(cause),
            None => fault,
        };
        let max_tokens = match self.cause {
            Some(FaultCause::ContextLength) => cause::context_length(&self.words)
                .or_else(|| cause::context_length(&self.body.to_ascii_lowercase())),
            _ => None,
        };
        let fault = match max_tokens {
            Some(tokens) => fault.with_max_tokens(tokens),
            None => fault,
        };
        match self.pause {
            Some(pause) if fault.is_transient() => fault.with_retry_after(pause),
            _ => fault,
        }
    }

    /// Whether the same call may succeed later.
    pub(super) fn is_transient(&self) -> bool {
        self.kind.is_transient()
    }

    /// The status of the response; `None` for an error within a successful response.
    pub(super) fn status(&self) -> Option<u16> {
        self.status
    }

    /// The back end's own message, which may quote secrets.
    pub(super) fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// The pause that the back end requested.
    pub(super) fn pause(&self) -> Option<Duration> {
        self.pause
    }
}

/// Concatenates an error's `type` and `code`.
fn names(error: &Value) -> String {
    let name = |field: &str| error.get(field).and_then(Value::as_str).unwrap_or_default();
    format!("{} {}", name("type"), name("code"))
}

/// The message of an error: a text, or the text in one of the fields that servers use. Fields that quote the
/// request, such as
/// `input`, are not among them.
fn error_message(error: &Value) -> Option<String> {
    let message = match error {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(errors) => {
            let messages = errors.iter().take(MAX_MESSAGES).filter_map(error_message);
            messages.collect::<Vec<_>>().join("; ")
        }
        Value::Object(fields) => {
            return MESSAGE_FIELDS.iter().find_map(|name| error_message(fields.get(*name)?));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => return None,
    };
    (!message.is_empty()).then_some(message)
}

/// The text of a body that is neither JSON nor a page.
fn plain_text(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?.trim();
    let is_text = !text.is_empty() && !text.starts_with(['<', '{', '[']);
    is_text.then(|| text.chars().take(MAX_WORDS).collect())
}

fn words(names: &str, message: Option<&str>) -> String {
    let words = names.chars().chain([' ']).chain(message.unwrap_or_default().chars());
    words.take(MAX_WORDS).flat_map(char::to_lowercase).collect()
}

fn kind_of_status(status: StatusCode, names: &str) -> FaultKind {
    match status.as_u16() {
        408 => FaultKind::Timeout,
        // An exhausted quota has the same status as a rate limit.
        429 if names.contains("insufficient_quota") => FaultKind::Rejected,
        429 => FaultKind::RateLimited,
        // Conflict and Too Early are temporary.
        409 | 425 | 500.. => FaultKind::Unavailable,
        _ => FaultKind::Rejected,
    }
}

fn kind_of_names(names: &str) -> FaultKind {
    let has = |parts: &[&str]| parts.iter().any(|part| names.contains(part));
    if has(&["rate_limit", "too_many_requests"]) {
        FaultKind::RateLimited
    } else if has(&["timeout"]) {
        FaultKind::Timeout
    } else if has(&["insufficient_quota", "invalid", "auth", "permission", "not_found", "context_length"]) {
        FaultKind::Rejected
    } else {
        FaultKind::Unavailable
    }
}

/// Reads the requested pause from `retry-after-ms` or `Retry-After` (seconds or a date).
fn retry_after(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |name: &str| text(name)?.parse::<f64>().ok();
    let millis = number("retry-after-ms").map(|millis| millis / 1000.0);
    let pause = match millis.or_else(|| number(RETRY_AFTER.as_str())) {
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok()?,
        None => {
            let date = DateTime::parse_from_rfc2822(text(RETRY_AFTER.as_str())?).ok()?;
            // A date in the past means no pause.
            (date.to_utc() - now).to_std().unwrap_or_default()
        }
    };
    Some(pause.min(MAX_PAUSE))
}

/// Describes a JSON error without quoting the response, as serde's own message would.
pub(super) fn parse_failure(error: &serde_json::Error) -> String {
    let category = match error.classify() {
        Category::Eof => "unexpected end of input",
        Category::Data => "a field has the wrong type",
        Category::Io | Category::Syntax => "invalid JSON",
    };
    format!("the response cannot be parsed at column {}: {category}", error.column())
}

/// Converts a transport error, without the URL, which may contain credentials.
pub(super) fn transport_fault(part: Component, error: reqwest::Error) -> Fault {
    let (kind, message) = if error.is_timeout() {
        (FaultKind::Timeout, "the connection timed out")
    } else if error.is_connect() {
        (FaultKind::Unavailable, "cannot connect")
    } else {
        (FaultKind::Unavailable, "the connection was interrupted")
    };
    Fault::new(part, kind, message).caused_by(error.without_url())
}

/// Records a fault on the span of the failed call.
pub(super) fn record_fault(span: &Span, fault: &Fault) {
    record_kind(span, fault.kind());
}

/// Records a fault's kind on the span of the failed call.
pub(super) fn record_kind(span: &Span, kind: FaultKind) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", kind.code());
}

/// Whether a message quotes a text: all of a short one, or `QUOTE_CHARS` consecutive characters of a longer one.
fn quotes(message: &str, text: &str) -> bool {
    let text = text.trim();
    if text.chars().count() <= QUOTE_CHARS {
        return text.chars().count() >= MIN_QUOTED_CHARS && message.contains(text);
    }
    let starts: Vec<usize> = message.char_indices().map(|(at, _)| at).chain([message.len()]).collect();
    let mut runs = starts.iter().zip(starts.iter().skip(QUOTE_CHARS));
    runs.any(|(start, end)| message.get(*start..*end).is_some_and(|run| text.contains(run)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(1_767_225_600, 0).unwrap()
    }

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn fault_for(status: u16, body: &str) -> Fault {
        let status = StatusCode::from_u16(status).unwrap();
        BackendError::from_response(status, &HeaderMap::new(), body.as_bytes(), now()).into_fault(
            Component::ChatModel,
            Some("sk-1"),
            ["What does the pump manual say about seals?", "hm"].into_iter(),
        )
    }

    #[test]
    fn status_codes_map_to_fault_kinds() {
        use FaultKind::{RateLimited, Rejected, Timeout, Unavailable};
        let kinds = [
            (302, Rejected),
            (400, Rejected),
            (401, Rejected),
            (403, Rejected),
            (404, Rejected),
            (408, Timeout),
            (409, Unavailable),
            (413, Rejected),
            (422, Rejected),
            (425, Unavailable),
            (429, RateLimited),
            (500, Unavailable),
            (502, Unavailable),
            (503, Unavailable),
            (504, Unavailable),
            (529, Unavailable),
        ];
        for (status, kind) in kinds {
            assert_eq!(fault_for(status, "").kind(), kind, "{status}");
        }
        let spent = r#"{"error":{"message":"You are out of credit.","code":"insufficient_quota"}}"#;
        assert_eq!(fault_for(429, spent).kind(), Rejected);
    }

    #[test]
    fn error_message_is_found_in_every_known_field() {
        let bodies = [
            r#"{"error":{"message":"no such model"}}"#,
            r#"{"error":"no such model"}"#,
            r#"{"message":"no such model"}"#,
            r#"{"detail":" no such model "}"#,
            r#"{"detail":[{"loc":["body","model"],"msg":"no such model","input":"x"}]}"#,
            r#"{"object":"error","message":{"detail":[{"msg":"no such model"}]}}"#,
            r#"{"errors":["no such model"]}"#,
            r#"{"error":{"error":{"message":"no such model"}}}"#,
            "no such model\n",
        ];
        for body in bodies {
            assert_eq!(fault_for(404, body).to_string(), "chat model: status 404: no such model");
        }
        let silent =
            ["", "<html>", "[]", "{cut", "null", r#"{"error":null}"#, r#"{"detail":[{"input":"x"}]}"#];
        for body in silent {
            assert_eq!(fault_for(404, body).to_string(), "chat model: status 404");
        }
    }

    #[test]
    fn fault_message_omits_key_and_request() {
        let fault = fault_for(401, r#"{"error":{"message":"wrong key sk-1 given"}}"#);
        assert_eq!(fault.report(), "chat model: status 401: wrong key [key] given");
        let fault = fault_for(400, r#"{"error":{"message":"bad text: the pump manual say about"}}"#);
        assert_eq!(fault.report(), "chat model: status 400 (message omitted because it quotes the request)");
        assert!(quotes("cannot embed 'seals'", "seals"));
        assert!(!quotes("cannot embed", "seals") && !quotes("of course", "of") && !quotes("", ""));
    }

    #[test]
    fn fault_message_omits_keys_that_are_not_configured() {
        let echo = r#"{"error":{"message":"Incorrect API key provided: sk-proj-AbCd1234EFGH. See\nhttps://u:p@x.example/"}}"#;
        let report = fault_for(401, echo).report();
        let expected = r"Incorrect API key provided: [redacted]. See\nhttps://[redacted]@x.example/";
        assert_eq!(report, format!("chat model: status 401: {expected}"));
    }

    #[test]
    fn long_error_message_is_cut_at_character_boundary() {
        let body = format!(r#"{{"error":{{"message":"{}"}}}}"#, "é".repeat(1000));
        assert_eq!(fault_for(400, &body).to_string(), format!("chat model: status 400: {}", "é".repeat(300)));
    }

    #[test]
    fn retry_after_is_read_from_milliseconds_seconds_or_date() {
        let pause = |pairs| retry_after(&headers(pairs), now());
        assert_eq!(pause(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
        assert_eq!(pause(&[("retry-after", " 0.5 ")]), Some(Duration::from_millis(500)));
        let both = [("retry-after", "1"), ("retry-after-ms", "250")];
        assert_eq!(pause(&both), Some(Duration::from_millis(250)));
        let date = [("retry-after", "Thu, 01 Jan 2026 00:01:30 GMT")];
        assert_eq!(pause(&date), Some(Duration::from_secs(90)));
        let past = [("retry-after", "Wed, 31 Dec 2025 23:59:59 GMT")];
        assert_eq!(pause(&past), Some(Duration::ZERO));
        assert_eq!(pause(&[("retry-after", "99999999999")]), Some(MAX_PAUSE));
        for invalid in ["soon", "-1", "NaN", "inf", ""] {
            let value = [("retry-after".parse().unwrap(), invalid.parse().unwrap())];
            assert_eq!(retry_after(&value.into_iter().collect(), now()), None, "{invalid}");
        }
        assert_eq!(pause(&[]), None);
    }

    #[test]
    fn only_transient_faults_keep_the_pause() {
        let pause = |status| {
            let headers = headers(&[("retry-after", "7")]);
            let error = BackendError::from_response(status, &headers, b"", now());
            error.into_fault(Component::Embedder, None, [].into_iter()).retry_after()
        };
        assert_eq!(pause(StatusCode::TOO_MANY_REQUESTS), Some(Duration::from_secs(7)));
        assert_eq!(pause(StatusCode::SERVICE_UNAVAILABLE), Some(Duration::from_secs(7)));
        assert_eq!(pause(StatusCode::FORBIDDEN), None);
    }

    #[test]
    fn error_object_kind_follows_code_or_name() {
        use FaultKind::{RateLimited, Rejected, Timeout, Unavailable};
        let kinds = [
            (r#"{"code":429}"#, RateLimited),
            (r#"{"code":"503"}"#, Unavailable),
            (r#"{"status":400}"#, Rejected),
            (r#"{"type":"rate_limit_exceeded"}"#, RateLimited),
            (r#"{"code":"timeout"}"#, Timeout),
            (r#"{"type":"invalid_request_error","code":null}"#, Rejected),
            (r#"{"code":"context_length_exceeded"}"#, Rejected),
            (r#"{"type":"server_error"}"#, Unavailable),
            (r#"{"code":99999}"#, Unavailable),
            (r#""out of memory""#, Unavailable),
            ("{}", Unavailable),
        ];
        for (json, kind) in kinds {
            assert_eq!(BackendError::from_json(&serde_json::from_str(json).unwrap()).kind, kind, "{json}");
        }
    }
}
