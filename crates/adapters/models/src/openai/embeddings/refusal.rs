//! What a failed call says about the texts of its request.

use crate::openai::fault::CallError;
use docent_domain::fault::FaultKind;

/// What messages about texts that are too many or too long contain. Some servers report them with the status
/// 500.
const SIZE_WORDS: [&str; 6] =
    ["too long", "too large", "too many", "context length", "exceed", "out of memory"];
/// Smaller numbers in a message are no numbers of tokens: they are positions, or parts of the model's name.
const MIN_TOKENS: u64 = 16;

/// What another division of the texts can change about a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// There are too many texts, or a text is too long.
    Size,
    /// The back end fails. It may do so because of one of the texts.
    Failure,
    /// Nothing: a wrong key, an unknown model, a rate limit.
    Other,
}

impl Cause {
    /// The cause of a failed call.
    pub(super) fn of(error: &CallError) -> Self {
        let (status, kind, pause) = match error {
            CallError::Backend(error) => (error.status(), error.kind, error.pause()),
            CallError::Fault(fault) => (None, fault.kind(), None),
        };
        match (status, kind) {
            (Some(400 | 413 | 422), _) => Self::Size,
            (Some(500) | None, FaultKind::Unavailable | FaultKind::Rejected) if names_size(error) => {
                Self::Size
            }
            (_, FaultKind::Unavailable | FaultKind::Timeout | FaultKind::InvalidResponse)
                if pause.is_none() =>
            {
                Self::Failure
            }
            _ => Self::Other,
        }
    }
}

fn names_size(error: &CallError) -> bool {
    let message = message(error).unwrap_or_default().to_lowercase();
    SIZE_WORDS.iter().any(|words| message.contains(words))
}

fn message(error: &CallError) -> Option<&str> {
    match error {
        CallError::Backend(error) => error.message(),
        CallError::Fault(_) => None,
    }
}

/// The limit as a share of the length of the refused text, if the message names both.
pub(super) fn accepted_share(error: &CallError) -> Option<f64> {
    let mut numbers = numbers(message(error)?);
    numbers.retain(|number| *number >= MIN_TOKENS);
    numbers.sort_unstable();
    numbers.dedup();
    match numbers.as_slice() {
        [limit, given] => Some(*limit as f64 / *given as f64),
        _ => None,
    }
}

/// The numbers in a message that are not parts of words; groups of digits can be separated by commas.
fn numbers(message: &str) -> Vec<u64> {
    let words = message.split(|c: char| !c.is_alphanumeric() && !matches!(c, ',' | '-' | '.' | '_' | '/'));
    let number = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.replace(',', "").parse().ok()
    };
    words.filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openai::fault::BackendError;
    use chrono::DateTime;
    use docent_domain::fault::{Component, Fault};
    use reqwest::StatusCode;
    use reqwest::header::HeaderMap;
    use serde_json::json;

    fn error(status: u16, message: &str) -> CallError {
        let body = json!({"error": {"message": message}}).to_string();
        let (status, now) = (StatusCode::from_u16(status).unwrap(), DateTime::UNIX_EPOCH);
        BackendError::from_response(status, &HeaderMap::new(), body.as_bytes(), now).into()
    }

    #[test]
    fn cause_follows_status_and_words() {
        let cases = [
            (400, "", Cause::Size),
            (413, "Payload Too Large", Cause::Size),
            (422, "batch size 33 > maximum allowed batch size 32", Cause::Size),
            (500, "input is too large to process. increase the physical batch size", Cause::Size),
            (500, "CUDA out of memory", Cause::Size),
            (500, "json: unsupported value: NaN", Cause::Failure),
            (502, "", Cause::Failure),
            (408, "", Cause::Failure),
            (401, "the key is too long", Cause::Other),
            (404, "no such model", Cause::Other),
            (429, "too many requests", Cause::Other),
        ];
        for (status, message, cause) in cases {
            assert_eq!(Cause::of(&error(status, message)), cause, "{status} {message}");
        }
        for (kind, cause) in [
            (FaultKind::Timeout, Cause::Failure),
            (FaultKind::InvalidResponse, Cause::Failure),
            (FaultKind::RateLimited, Cause::Other),
            (FaultKind::Internal, Cause::Other),
        ] {
            assert_eq!(Cause::of(&Fault::new(Component::Embedder, kind, "").into()), cause);
        }
    }

    #[test]
    fn share_is_read_from_two_different_numbers() {
        let share = |message| accepted_share(&error(400, message));
        for message in [
            "This model's maximum context length is 512 tokens, however you requested 1024 tokens (1024 in your prompt; 0 for the completion).",
            "Input validation error: `inputs` must have less than 512 tokens. Given: 1024",
            "input (1024 tokens) is too large to process. increase the physical batch size (current batch size: 512)",
            "Input id 0 has 1,024 tokens, exceeding max 512 tokens of text-embedding-3-small.",
        ] {
            assert_eq!(share(message), Some(0.5), "{message}");
        }
        for message in ["", "context length is 512 tokens", "a 100, b 200, c 300", "12 of 14"] {
            assert_eq!(share(message), None, "{message}");
        }
    }
}
