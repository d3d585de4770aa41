//! Maps error responses and transport failures of back ends to faults.

use chrono::{DateTime, Utc};
use docent_ports::error::{Component, Fault, FaultKind};
use reqwest::{
    StatusCode,
    header::{HeaderMap, RETRY_AFTER},
};
use serde_json::{Value, error::Category};
use std::time::Duration;
use tracing::Span;

/// Maximum length of a back end's error message, in characters; longer ones are cut.
const MAX_WORDS: usize = 300;
/// A longer pause than this is as good as none to anybody who waits.
const MAX_PAUSE: Duration = Duration::from_secs(24 * 60 * 60);
/// This many consecutive characters in common count as a quotation of the request.
const QUOTED_CHARS: usize = 16;
/// Shorter texts than this are in every message by chance.
const NAMEABLE_CHARS: usize = 3;

/// Why a call failed.
#[derive(Debug, PartialEq)]
pub(super) struct Told {
    pub(super) kind: FaultKind,
    /// The status of the response; `None` for an error within a successful response.
    what: String,
    words: Option<String>,
    pause: Option<Duration>,
}

impl Told {
    /// Reads an answer that is not a success; `now` is for pauses that are given as a date.
    pub(super) fn by_status(
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
        now: DateTime<Utc>,
    ) -> Self {
        let json = serde_json::from_slice::<Value>(body).unwrap_or_default();
        let error = json.get("error").unwrap_or(&json);
        let kind = kind_of_status(status, &names(error));
        let mut what = format!("status {}", status.as_u16());
        if status.is_redirection() {
            what.push_str(" (redirections are not followed; check the base URL)");
        }
        // A `detail` that is a list is ignored, because it quotes the request.
        let detail = || words(json.get("detail").filter(|detail| detail.is_string())?);
        let words = words(error).or_else(detail).map(str::to_owned);
        Self { kind, what, words, pause: retry_after(headers, now) }
    }

    /// Reads an error object within a successful response.
    pub(super) fn by_object(error: &Value) -> Self {
        let code = error.get("code").or_else(|| error.get("status"));
        let number = code.and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
        let status = number.and_then(|number| StatusCode::from_u16(u16::try_from(number).ok()?).ok());
        let names = names(error);
        let kind = match status.filter(|status| status.as_u16() >= 400) {
            Some(status) => kind_of_status(status, &names),
            None => kind_of_names(&names),
        };
        let what = "the back end broke off with an error".to_owned();
        Self { kind, what, words: words(error).map(str::to_owned), pause: None }
    }

    /// Converts the error to a fault whose message contains neither the key nor parts of the request.
    pub(super) fn into_fault<'a>(
        self,
        part: Component,
        key: Option<&str>,
        mut private: impl Iterator<Item = &'a str>,
    ) -> Fault {
        let mut message = self.what;
        if let Some(words) = self.words {
            let words = match key.filter(|key| !key.is_empty()) {
                Some(key) => words.replace(key, "[key]"),
                None => words,
            };
            let words: String = words.chars().take(MAX_WORDS).collect();
            if private.any(|text| quotes(&words, text)) {
                message.push_str(" and words that quote the request");
            } else {
                message.push_str(": ");
                message.push_str(&words);
            }
        }
        let fault = Fault::new(part, self.kind, message);
        match self.pause {
            Some(pause) if fault.is_transient() => fault.with_retry_after(pause),
            _ => fault,
        }
    }

    /// Whether the same call may succeed later.
    pub(super) fn passes(&self) -> bool {
        self.kind.is_transient()
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

fn words(error: &Value) -> Option<&str> {
    let words = error.as_str().or_else(|| error.get("message")?.as_str())?.trim();
    (!words.is_empty()).then_some(words)
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
pub(super) fn unreadable(error: &serde_json::Error) -> String {
    let category = match error.classify() {
        Category::Eof => "it ends early",
        Category::Data => "a field has another type",
        Category::Io | Category::Syntax => "it is no JSON",
    };
    format!("the answer cannot be read at byte {}: {category}", error.column())
}

/// Converts a transport error, without the URL, which may contain credentials.
pub(super) fn of_transport(part: Component, error: reqwest::Error) -> Fault {
    let (kind, message) = if error.is_timeout() {
        (FaultKind::Timeout, "no connection in time")
    } else if error.is_connect() {
        (FaultKind::Unavailable, "cannot connect")
    } else {
        (FaultKind::Unavailable, "the connection broke")
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
    if text.chars().count() <= QUOTED_CHARS {
        return text.chars().count() >= NAMEABLE_CHARS && message.contains(text);
    }
    let starts: Vec<usize> = message.char_indices().map(|(at, _)| at).chain([message.len()]).collect();
    let mut runs = starts.iter().zip(starts.iter().skip(QUOTED_CHARS));
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

    fn refusal(status: u16, body: &str) -> Fault {
        let status = StatusCode::from_u16(status).unwrap();
        Told::by_status(status, &HeaderMap::new(), body.as_bytes(), now()).into_fault(
            Component::ChatModel,
            Some("sk-1"),
            ["What does the pump manual say about seals?", "hm"].into_iter(),
        )
    }

    #[test]
    fn every_status_has_its_kind() {
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
            assert_eq!(refusal(status, "").kind(), kind, "{status}");
        }
        let spent = r#"{"error":{"message":"You are out of credit.","code":"insufficient_quota"}}"#;
        assert_eq!(refusal(429, spent).kind(), Rejected);
    }

    #[test]
    fn the_back_ends_words_are_found_wherever_they_stand() {
        let bodies = [
            r#"{"error":{"message":"no such model"}}"#,
            r#"{"error":"no such model"}"#,
            r#"{"message":"no such model"}"#,
            r#"{"detail":" no such model "}"#,
        ];
        for body in bodies {
            assert_eq!(refusal(404, body).to_string(), "chat model: status 404: no such model");
        }
        let silent = ["", "<html>", "[]", "null", r#"{"error":null}"#, r#"{"detail":[{"input":"x"}]}"#];
        for body in silent {
            assert_eq!(refusal(404, body).to_string(), "chat model: status 404");
        }
    }

    #[test]
    fn the_key_and_the_request_stay_private() {
        let fault = refusal(401, r#"{"error":{"message":"wrong key sk-1 given"}}"#);
        assert_eq!(fault.report(), "chat model: status 401: wrong key [key] given");
        let fault = refusal(400, r#"{"error":{"message":"bad text: the pump manual say about"}}"#);
        assert_eq!(fault.report(), "chat model: status 400 and words that quote the request");
        assert!(quotes("cannot embed 'seals'", "seals"));
        assert!(!quotes("cannot embed", "seals") && !quotes("of course", "of") && !quotes("", ""));
    }

    #[test]
    fn long_words_are_cut_between_characters() {
        let body = format!(r#"{{"error":{{"message":"{}"}}}}"#, "é".repeat(1000));
        assert_eq!(refusal(400, &body).to_string(), format!("chat model: status 400: {}", "é".repeat(300)));
    }

    #[test]
    fn a_pause_is_read_from_milliseconds_seconds_or_a_date() {
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
        for nonsense in ["soon", "-1", "NaN", "inf", ""] {
            let value = [("retry-after".parse().unwrap(), nonsense.parse().unwrap())];
            assert_eq!(retry_after(&value.into_iter().collect(), now()), None, "{nonsense}");
        }
        assert_eq!(pause(&[]), None);
    }

    #[test]
    fn only_faults_that_pass_keep_the_pause() {
        let told = |status| {
            let pause = headers(&[("retry-after", "7")]);
            let told = Told::by_status(status, &pause, b"", now());
            told.into_fault(Component::Embedder, None, [].into_iter()).retry_after()
        };
        assert_eq!(told(StatusCode::TOO_MANY_REQUESTS), Some(Duration::from_secs(7)));
        assert_eq!(told(StatusCode::SERVICE_UNAVAILABLE), Some(Duration::from_secs(7)));
        assert_eq!(told(StatusCode::FORBIDDEN), None);
    }

    #[test]
    fn an_error_object_has_its_kind_by_code_or_by_name() {
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
            assert_eq!(Told::by_object(&serde_json::from_str(json).unwrap()).kind, kind, "{json}");
        }
    }
}
