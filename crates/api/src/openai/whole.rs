//! Complete answers.

use super::completion::{Annotation, AnswerRole, Completion, FinishReason, LEFT_OUT, Usage, annotations};
use super::tools::FunctionToolCall;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use docent_app::agent::{AnswerEvent, AnswerOutcome, AnswerStream};
use docent_app::error::Error;
use docent_http::context::Context;
use docent_http::{ApiError, BaseUrl, Reply, sse};
use futures::StreamExt;
use serde::Serialize;
use utoipa::ToSchema;

/// A complete answer.
#[derive(Serialize, ToSchema)]
pub(crate) struct ChatCompletion<'a> {
    /// ID of the answer.
    #[schema(pattern = "^chatcmpl-")]
    id: &'a str,
    /// Always `chat.completion`.
    object: &'static str,
    /// Creation time in seconds since 1970.
    created: i64,
    /// Name of the agent.
    model: &'a str,
    /// The answer.
    #[schema(min_items = 1, max_items = 1)]
    choices: [Choice<'a>; 1],
    /// Token usage.
    usage: Usage,
}

/// An answer.
#[derive(Serialize, ToSchema)]
pub(crate) struct Choice<'a> {
    /// Always 0.
    index: u32,
    /// Text.
    message: AnswerMessage<'a>,
    /// Always null.
    #[schema(required)]
    logprobs: Option<bool>,
    /// Why the answer ended.
    finish_reason: FinishReason,
}

/// The message of an answer.
#[derive(Serialize, ToSchema)]
pub(crate) struct AnswerMessage<'a> {
    /// Always `assistant`.
    role: AnswerRole,
    /// The text. Null if the model only calls functions.
    #[schema(required)]
    content: Option<String>,
    /// Always null.
    #[schema(required)]
    refusal: Option<&'a str>,
    /// Citations of the passages on which the answer is based.
    annotations: Vec<Annotation<'a>>,
    /// Calls of functions of the client.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    tool_calls: Vec<FunctionToolCall>,
}

/// Waits for the answer. If the client disconnects, this future is dropped, and the answer with it.
pub(super) async fn reply(
    context: &Context,
    completion: &Completion,
    mut answer: AnswerStream,
    base: &BaseUrl,
) -> Reply {
    let (mut content, mut sources, mut tool_calls) = (String::new(), Vec::new(), Vec::new());
    loop {
        let event = tokio::select! {
            biased;
            event = answer.next() => event,
            () = context.cut.cancelled() => {
                return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, sse::STOPPING));
            }
        };
        match event {
            Some(Ok(AnswerEvent::Text(text))) => content.push_str(&text),
            Some(Ok(AnswerEvent::FunctionCalls(calls))) => tool_calls = completion.calls(calls),
            Some(Ok(AnswerEvent::Metadata(_) | AnswerEvent::Reasoning(_) | AnswerEvent::Found(_))) => {}
            Some(Ok(AnswerEvent::Sources(found))) => sources = found,
            Some(Err(fault)) => return Err(Error::from(fault).into()),
            None => break,
        }
    }
    let left_out = answer.left_out();
    let outcome = answer.outcome().unwrap_or_else(AnswerOutcome::unknown);
    let finish_reason = FinishReason::of(&outcome, !tool_calls.is_empty());
    let annotations = match tool_calls.is_empty() {
        true => annotations(&content, &sources, Some(outcome), base),
        // The answer with the outputs has them.
        false => Vec::new(),
    };
    let content = Some(content).filter(|content| tool_calls.is_empty() || !content.is_empty());
    let role = AnswerRole::Assistant;
    let message = AnswerMessage { role, content, refusal: None, annotations, tool_calls };
    Ok(HttpResponse::Ok().insert_header((LEFT_OUT, left_out)).json(ChatCompletion {
        id: &completion.id,
        object: "chat.completion",
        created: completion.created,
        model: &completion.model,
        choices: [Choice { index: 0, message, logprobs: None, finish_reason }],
        usage: Usage::of(&outcome),
    }))
}
