//! What to do about a step that failed.

use super::SHOWN_MODELS;
use docent_domain::fault::{Fault, FaultKind};

pub(super) const NO_LIST: &str = "This is no problem if the next step passes. Otherwise check DOCENT_LLM_BASE_URL, which usually ends \
    in /v1.";
pub(super) const NO_MODELS: &str =
    "Load a model in the server, for example with “ollama pull”, and name it in DOCENT_LLM_MODEL.";
pub(super) const NO_TEXT: &str = "The model may have used all its tokens for reasoning, or the server does not know its chat template. \
    Try another model, or a version of the model without reasoning.";
pub(super) const NOT_STREAMED: &str = "Readers see the answer only when it is complete. Turn on streaming in the server, and off the \
    buffering of a proxy before it.";
pub(super) const TOOLS_REFUSED: &str = "The server or the model does not support tool calls. vLLM needs --enable-auto-tool-choice and \
    --tool-call-parser, llama.cpp needs --jinja. In Ollama, choose a model with the tag “tools”.";
pub(super) const TOOLS_IGNORED: &str = "Answers will not be from documents. Choose a model that supports tool calls and turn them on in \
    the server: --jinja in llama.cpp, --enable-auto-tool-choice in vLLM.";
pub(super) const CALL_IN_TEXT: &str = "The server does not recognise tool calls of this model. Start llama.cpp with --jinja, set \
    --tool-call-parser in vLLM, or choose another model.";
pub(super) const INVALID_CALL: &str =
    "Searches will fail. Choose a larger model, or one that was trained for tool calls.";
pub(super) const OUTPUT_REFUSED: &str = "The server accepts no tool results. Update it, or choose a model whose chat template supports \
    tools.";
pub(super) const SEARCHES_AGAIN: &str =
    "Answers take longer, and end at DOCENT_AGENT_MAX_ITERATIONS if the model keeps searching.";

/// Advice about a fault of a call; `listed` are the models that the back end offers.
pub(super) fn of(fault: &Fault, address: Option<&str>, listed: &[String]) -> String {
    let address = address.unwrap_or("the address");
    match (fault.status(), fault.kind()) {
        (Some(401 | 403), _) => "Set DOCENT_LLM_API_KEY to a key that is valid at this server.".to_owned(),
        (Some(404), _) if listed.is_empty() => {
            format!("Check DOCENT_LLM_MODEL, and DOCENT_LLM_BASE_URL: {address} usually ends in /v1.")
        }
        (Some(404), _) => choose_from(listed),
        (Some(402), _) | (Some(429), FaultKind::Rejected) => {
            "The account at the server has no credit left.".to_owned()
        }
        (_, FaultKind::RateLimited) => "The server limits the rate of requests. Try again later.".to_owned(),
        (Some(500..), _) => {
            "The server has an error of its own: see its log. The model may not fit into its memory."
                .to_owned()
        }
        (_, FaultKind::Timeout) => format!(
            "A large model may still be loading: try again. For slow models, raise DOCENT_LLM_TIMEOUT. Check that {address} is the server."
        ),
        (None, FaultKind::Unavailable) => format!(
            "Check that the server runs and that DOCENT_LLM_BASE_URL, {address}, is its address as seen from this machine. In a container, \
             127.0.0.1 is the container itself; the server must listen on an address that the container can reach."
        ),
        (_, FaultKind::InvalidResponse) => {
            format!(
                "{address} is not the address of a chat-completions API. Check DOCENT_LLM_BASE_URL, which usually ends in /v1."
            )
        }
        _ if !listed.is_empty() => format!("The server refuses the request. {}", choose_from(listed)),
        _ => "The server refuses the request: see its message and its log.".to_owned(),
    }
}

/// Advice to choose another model.
pub(super) fn choose_from(listed: &[String]) -> String {
    let names: Vec<&str> = listed.iter().take(SHOWN_MODELS).map(String::as_str).collect();
    let more = if listed.len() > names.len() { " and others" } else { "" };
    format!("Set DOCENT_LLM_MODEL to one of: {}{more}.", names.join(", "))
}
