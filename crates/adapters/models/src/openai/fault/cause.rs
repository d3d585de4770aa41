//! Recognizes causes of errors by the words of servers.

use docent_domain::fault::{FaultCause, FaultKind};
use reqwest::StatusCode;

/// Words of servers for each cause, in lower case. Words separated by `…` occur in this order. The first
/// cause that matches counts, so special causes come first.
const WORDS: &[(FaultCause, &[&str])] = &[
    (
        FaultCause::ToolsUnsupported,
        &[
            "not support tool",
            "not support function",
            "not support the tool",
            "n't support tool",
            "n't support function",
            "support tool use",
            "tools are not supported",
            "tools is not supported",
            "tools not supported",
            "tool use is not supported",
            "tool calling is not supported",
            "tool calls are not supported",
            "function calling is not supported",
            "functions are not supported",
            // llama.cpp, vLLM.
            "requires --jinja",
            "enable-auto-tool-choice",
            "tool-call-parser",
        ],
    ),
    (
        FaultCause::OutOfMemory,
        &[
            "out of memory",
            "out_of_memory",
            "outofmemory",
            "insufficient memory",
            "not enough memory",
            "more system memory",
            "cudamalloc failed",
        ],
    ),
    (
        FaultCause::ContextLength,
        &[
            "context length",
            "context_length",
            "context window",
            "context size",
            "context_size",
            "maximum context",
            "max context",
            "n_ctx",
            "too many tokens",
            "prompt is too long",
            "prompt too long",
            "input is too long",
            "input too long",
            "inputs tokens + max_new_tokens",
            "string_above_max_length",
            "reduce the length of the messages",
            "maximum sequence length",
            "max_model_len",
        ],
    ),
    (
        FaultCause::Loading,
        &[
            "loading model",
            "model is loading",
            "currently loading",
            "still loading",
            "model_loading",
            "loading the model",
            "being loaded",
            "warming up",
        ],
    ),
    (
        FaultCause::QuotaExceeded,
        &[
            "insufficient_quota",
            "exceeded your current quota",
            "insufficient credit",
            "insufficient balance",
            "credit balance",
            "out of credit",
            "payment required",
        ],
    ),
    (
        FaultCause::ContentFilter,
        &[
            "content_filter",
            "content filter",
            "content management policy",
            "content policy",
            "content_policy",
            "responsibleaipolicy",
        ],
    ),
    (
        FaultCause::InvalidKey,
        &["invalid_api_key", "incorrect api key", "invalid api key", "invalid x-api-key"],
    ),
    (
        FaultCause::UnknownModel,
        &[
            "model_not_found",
            "no such model",
            "unknown model",
            "model…not found",
            "model…does not exist",
            "model…not exist",
            "not a valid model",
        ],
    ),
    (
        FaultCause::Overloaded,
        &["overloaded", "server is busy", "server busy", "queue is full", "at capacity", "over capacity"],
    ),
];

/// Finds the cause of an error by its status and its words in lower case.
pub(super) fn classify(status: Option<StatusCode>, words: &str) -> Option<FaultCause> {
    let known = WORDS.iter().find(|(_, alternatives)| alternatives.iter().any(|text| has(words, text)));
    known.map(|(cause, _)| *cause).or_else(|| match status?.as_u16() {
        401 => Some(FaultCause::InvalidKey),
        402 => Some(FaultCause::QuotaExceeded),
        // Gateways report a server that cannot be reached with 502, 503 and 504.
        500 | 501 | 505.. => Some(FaultCause::ServerError),
        _ => None,
    })
}

/// The kind of an error with this cause, if the cause determines it.
pub(super) fn kind(cause: Option<FaultCause>) -> Option<FaultKind> {
    match cause? {
        FaultCause::ToolsUnsupported
        | FaultCause::ContextLength
        | FaultCause::QuotaExceeded
        | FaultCause::ContentFilter => Some(FaultKind::Rejected),
        FaultCause::Loading | FaultCause::Overloaded => Some(FaultKind::Unavailable),
        FaultCause::UnknownModel
        | FaultCause::InvalidKey
        | FaultCause::OutOfMemory
        | FaultCause::ServerError
        | FaultCause::Interrupted => None,
    }
}

/// Texts of servers before the context length, in lower case.
const CONTEXT_WORDS: &[&str] = &[
    "context length is ",
    "context length of ",
    "context size (",
    "context size of ",
    "context size is ",
    "context window is ",
    "context window of ",
    "max_model_len=",
    "max_model_len (",
    "must be <= ",
    "tokens > ",
    // A field of llama.cpp.
    "\"n_ctx\":",
];

/// The context length that a refusal names; `text` is in lower case.
pub(super) fn context_length(text: &str) -> Option<u64> {
    let number = |before: &&str| {
        let (_, after) = text.split_once(*before)?;
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(after.len());
        after.get(..end)?.replace(',', "").parse().ok().filter(|length| *length > 0)
    };
    CONTEXT_WORDS.iter().find_map(number)
}

fn has(words: &str, text: &str) -> bool {
    let mut rest = Some(words);
    for part in text.split('…') {
        rest = rest.and_then(|rest| rest.split_once(part)).map(|(_, after)| after);
    }
    rest.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_length_is_read_from_refusals() {
        for (text, length) in [
            (
                "this model's maximum context length is 4096 tokens. however, you requested 5000 tokens",
                Some(4096),
            ),
            (
                "request (8000 tokens) exceeds the available context size (4,096 tokens), try increasing it",
                Some(4096),
            ),
            ("prompt is too long: 210000 tokens > 200000 maximum", Some(200_000)),
            ("`inputs` tokens + `max_new_tokens` must be <= 4096. given: 5000", Some(4096)),
            (
                r#"{"error":{"type":"exceed_context_size_error","n_prompt_tokens":8000,"n_ctx":4096}}"#,
                Some(4096),
            ),
            ("the context length is exceeded", None),
            ("too many tokens", None),
        ] {
            assert_eq!(context_length(text), length, "{text}");
        }
    }

    #[test]
    fn causes_of_known_servers_are_recognized() {
        use FaultCause::{
            ContentFilter, ContextLength, InvalidKey, Loading, OutOfMemory, Overloaded, QuotaExceeded,
            ServerError, ToolsUnsupported, UnknownModel,
        };
        for (status, words, cause) in [
            (
                400,
                r#"{"error":"registry.ollama.ai/library/gemma:latest does not support tools"}"#,
                ToolsUnsupported,
            ),
            (404, "No endpoints found that support tool use.", ToolsUnsupported),
            (
                500,
                r#"{"error":{"code":500,"message":"tools param requires --jinja flag"}}"#,
                ToolsUnsupported,
            ),
            (
                400,
                "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
                ToolsUnsupported,
            ),
            (500, "CUDA out of memory. Tried to allocate 2.00 GiB", OutOfMemory),
            (500, "model requires more system memory (5.6 GiB) than is available (3.1 GiB)", OutOfMemory),
            (400, "This model's maximum context length is 4096 tokens", ContextLength),
            (400, "the request exceeds the available context size (2048 tokens)", ContextLength),
            (503, r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#, Loading),
            (429, r#"{"error":{"code":"insufficient_quota"}}"#, QuotaExceeded),
            (402, "", QuotaExceeded),
            (401, "", InvalidKey),
            (
                404,
                r#"{"error":{"message":"model \"llama9\" not found, try pulling it first"}}"#,
                UnknownModel,
            ),
            (404, "The model `x` does not exist.", UnknownModel),
            (400, r#"{"error":{"code":"content_filter"}}"#, ContentFilter),
            (529, r#"{"error":{"type":"overloaded_error"}}"#, Overloaded),
            (500, "oops", ServerError),
        ] {
            let found = classify(StatusCode::from_u16(status).ok(), &words.to_lowercase());
            assert_eq!(found, Some(cause), "{status} {words}");
        }
        assert_eq!(
            classify(None, "out of memory"),
            Some(OutOfMemory),
            "an error in the middle of a response"
        );
        for (status, words) in [(404, "not found"), (502, ""), (503, ""), (504, ""), (400, "bad request")] {
            assert_eq!(classify(StatusCode::from_u16(status).ok(), words), None, "{status} {words}");
        }
    }
}
