//! What to do about a step that did not pass.

use super::SHOWN_MODELS;
use docent_domain::fault::{Component, Fault, FaultCause, FaultKind};

pub(super) const NO_LIST: &str = "This is no problem if the next step passes. Otherwise check DOCENT_LLM_BASE_URL, which usually ends \
    in /v1.";
pub(super) const NO_MODELS: &str =
    "Load a model in the server, for example with “ollama pull”, and name it in DOCENT_LLM_MODEL.";
pub(super) const NO_TEXT: &str = "The model may have used all its tokens for reasoning, or the server does not know its chat template. \
    Try another model, or a version of the model without reasoning.";
pub(super) const LONG_REASONING: &str = "The check limits the reasoning, and the service ends a response after 15 \
    minutes or more. Answers take long: turn reasoning off in the server, or choose a version of the model without it.";
pub(super) const NOT_STREAMED: &str = "Readers see the answer only when it is complete. Turn on streaming in the server, and off the \
    buffering of a proxy before it.";
pub(super) const NO_STREAMING: &str =
    "The service asks for answers that are not streamed. Readers see them only when they are complete.";
pub(super) const SYSTEM_MESSAGES_MOVED: &str =
    "The service sends them as one message at the beginning. Nothing has to be set.";
pub(super) const SYSTEM_MESSAGE_REFUSED: &str = "The sources of passages are in such a message. Update the server, or choose a model with \
    another chat template.";
pub(super) const TOOLS_REFUSED: &str = "The server or the model does not support tool calls. vLLM needs --enable-auto-tool-choice and \
    --tool-call-parser, llama.cpp needs --jinja. In Ollama, choose a model with the tag “tools”.";
pub(super) const TOOLS_UNSUPPORTED: &str = "With DOCENT_AGENT_SEARCH=first the service searches for each question before the model is called. For \
    further searches by the model: vLLM needs --enable-auto-tool-choice and --tool-call-parser, llama.cpp needs --jinja. In Ollama, choose a \
    model with the tag “tools”.";
pub(super) const TOOLS_IGNORED: &str = "With DOCENT_AGENT_SEARCH=first the service searches for each question before the model is called. Or choose \
    a model that supports tool calls and turn them on in the server: --jinja in llama.cpp, --enable-auto-tool-choice in vLLM.";
pub(super) const CALL_IN_TEXT: &str = "The server does not recognise tool calls of this model. Start llama.cpp with --jinja, set \
    --tool-call-parser in vLLM, or choose another model. With DOCENT_AGENT_SEARCH=first the service searches for each question itself.";
pub(super) const INVALID_CALL: &str = "Searches of the model will fail. With DOCENT_AGENT_SEARCH=first the service searches for each question \
    before the model is called. Or choose a model that was trained for tool calls.";
pub(super) const OUTPUT_REFUSED: &str = "The server accepts no tool results. Update it, or choose a model whose chat template supports \
    tools.";
pub(super) const SEARCHES_AGAIN: &str =
    "Answers take longer, and end at DOCENT_AGENT_MAX_ITERATIONS if the model keeps searching.";
pub(super) const SMALLER_HISTORY: &str = "With the settings below all fits. Or give the model a longer context: OLLAMA_CONTEXT_LENGTH in Ollama, \
    -c in llama.cpp, --max-model-len in vLLM.";
pub(super) const SMALL_CONTEXT: &str = "Give the model a longer context: OLLAMA_CONTEXT_LENGTH in Ollama, -c in llama.cpp, --max-model-len in \
    vLLM. Or choose a model with a longer one.";
pub(super) const SLOW_CONTEXT: &str = "Whether a question with passages and history fits is not known. If such questions are to be answered, \
    raise DOCENT_LLM_TIMEOUT, or send less: DOCENT_SEARCH_LIMIT, DOCENT_HISTORY_TOKENS.";
pub(super) const NO_PICTURES: &str = "Set DOCENT_VISION to the name of a model that sees pictures, or to off. llama.cpp needs the projector of the \
    model (--mmproj).";
pub(super) const SMALL_BATCH: &str = "The service sends smaller batches after a refusal. Set DOCENT_EMBEDDING_BATCH to avoid the refused calls.";
pub(super) const EMBEDDINGS_REFUSED: &str = "The server refuses a short text: see its message. Check DOCENT_EMBEDDING_MODEL, which has to be a model \
    for embeddings.";

/// Advice about a fault of a call; `listed` are the models that the back end offers.
pub(super) fn for_fault(fault: &Fault, address: Option<&str>, listed: &[String]) -> String {
    let settings = match fault.component() {
        Component::Embedder => "DOCENT_EMBEDDING",
        _ => "DOCENT_LLM",
    };
    let address = address.unwrap_or("the address");
    match (fault.known_cause(), fault.status(), fault.kind()) {
        (Some(FaultCause::InvalidKey), ..) | (_, Some(401 | 403), _) => {
            format!("Set {settings}_API_KEY to a key that is valid at this server.")
        }
        (Some(FaultCause::ContextLength), ..) => SMALL_CONTEXT.to_owned(),
        (Some(FaultCause::OutOfMemory), ..) => {
            "Give the server more memory, or choose a smaller model or a shorter context.".to_owned()
        }
        (Some(FaultCause::Loading), ..) => "Try again when the model is loaded.".to_owned(),
        (_, Some(404), _) if listed.is_empty() => {
            format!("Check {settings}_MODEL, and {settings}_BASE_URL: {address} usually ends in /v1.")
        }
        (_, Some(404), _) => choose_from(listed),
        (Some(FaultCause::QuotaExceeded), ..) | (_, Some(402), _) | (_, Some(429), FaultKind::Rejected) => {
            "The account at the server has no credit left.".to_owned()
        }
        (_, _, FaultKind::RateLimited) => {
            "The server limits the rate of requests. Try again later.".to_owned()
        }
        (_, Some(500..), _) => {
            "The server has an error of its own: see its log. The model may not fit into its memory."
                .to_owned()
        }
        (_, _, FaultKind::Timeout) => format!(
            "A large model may still be loading: try again. For slow models, raise {settings}_TIMEOUT. Check that {address} is the server."
        ),
        (None, None, FaultKind::Unavailable) => format!(
            "Check that the server runs and that {settings}_BASE_URL, {address}, is its address as seen from this machine. In a container, \
             127.0.0.1 is the container itself; the server must listen on an address that the container can reach."
        ),
        (_, _, FaultKind::InvalidResponse) => {
            format!(
                "{address} is not the address of an API in the OpenAI format. Check {settings}_BASE_URL, which usually ends in /v1."
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
