//! `POST /v1/chat/completions`

use super::{
    chunks,
    completion::Completion,
    errors,
    request::{self, ChatCompletionRequest},
    whole,
};
use crate::openapi::wire;
use docent_app::agent::answer;
use docent_domain::{access::Chat, id::StreamId};
use docent_http::{
    context::State,
    error::{ApiError, Reply},
    extract::{granted::Granted, json::Body},
};
use std::sync::Arc;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;

/// Complete a chat (extension)
///
/// An agent answers from documents, in the wire format that clients of OpenAI read: in one piece, or with `stream` as server-sent events
/// piece by piece, up to `data: [DONE]`. Each event is one line `data: `; `: ping`, a comment, keeps an idle connection open. When the answer
/// breaks off while it is streamed, the last event is an `OpenAiProblem`.
///
/// What would change the answer and cannot be done is refused: a demand to use tools of the client, images, audio and files, several
/// answers, JSON, probabilities. Nothing is written down but what the answer cost.
#[utoipa::path(
    post, path = "/v1/chat/completions", operation_id = "create_chat_completion", tag = "OpenAI wire",
    request_body = ChatCompletionRequest,
    responses(
        (
            status = 200, description = "The answer.",
            content(
                (whole::ChatCompletion<'_> = "application/json"),
                (
                    chunks::CompletionStreamEvent = "text/event-stream",
                    example = json!(
                        "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1767225600,\"model\":\"chat\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Five years.\"},\"logprobs\":null,\"finish_reason\":null}]}\n\ndata: [DONE]\n\n"
                    ),
                ),
            ),
        ),
        wire::Guarded,
        wire::NoModel,
        wire::BodyRead,
        wire::ModelAway,
        wire::StoreAway,
    ),
)]
pub(crate) async fn complete(by: Granted<Chat>, context: State, body: Body) -> Reply {
    let wanted = request::parse(body.fields().await?, by.actor)?;
    let agent = context.app.agent(&wanted.model).ok_or_else(|| errors::no_such_model(&wanted.model))?;
    let id = context.app.new_id(StreamId::generate);
    let completion = Completion::new(id, context.app.now(), wanted.model);
    let app = Arc::clone(&context.app);
    let question = wanted.question;
    // As at `POST /agents/{name}`, the answer outlives this request's thread.
    let asking = async move { answer::ask(&app, by.grant, agent, question).await };
    let asking = context.runtime.spawn(asking.in_current_span());
    let answer = AbortOnDropHandle::new(asking).await.map_err(|_| ApiError::internal())??;
    if wanted.is_stream {
        return Ok(chunks::reply(context, completion, answer, wanted.includes_usage));
    }
    whole::reply(&context, &completion, answer).await
}
