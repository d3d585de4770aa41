//! `POST /v1/chat/completions`

use super::completion::Completion;
use super::request::{ChatCompletionRequest, ToolChoice};
use super::tools::FunctionTool;
use super::{chunks, errors, functions, whole};
use crate::openai::wire;
use docent_app::agent::{AgentRequest, answer};
use docent_domain::access::Chat;
use docent_domain::id::StreamId;
use docent_http::{BaseUrl, Body, Granted, Reply, State};

/// Complete a chat (extension)
///
/// An agent answers from documents, in the format of the OpenAI API: as one object, or with `stream` as server-sent events up to
/// `data: [DONE]`. Each event is one line `data: `; the comment `: ping` keeps an idle connection open. If a streamed answer fails,
/// the last event is an `OpenAiProblem`.
///
/// Citations are `annotations` of the message; in a stream they follow the text. Calls of functions of the client end the answer; the next
/// request has their outputs. Requests for unsupported features are refused: images, audio and files, several answers, JSON, probabilities.
/// Only the usage of the answer is stored.
#[utoipa::path(
    post, path = "/v1/chat/completions", operation_id = "create_chat_completion", tag = "OpenAI wire",
    request_body = ChatCompletionRequest,
    responses(
        (
            status = 200, description = "The answer; with `stream` as a stream of `CompletionStreamEvent`.",
            headers(("X-Messages-Left-Out" = u64, description = "Number of the oldest messages that exceed `history_tokens`, so that the model did not receive them.")),
            content(
                (whole::ChatCompletion<'_> = "application/json"),
                (
                    String = "text/event-stream",
                    example = json!(
                        "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1767225600,\"model\":\"chat\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Five years.\"},\"logprobs\":null,\"finish_reason\":null}]}\n\ndata: [DONE]\n\n"
                    ),
                ),
            ),
        ),
        wire::UnknownModel, wire::InvalidBody, wire::ModelFailed,
    ),
)]
pub(crate) async fn complete(by: Granted<Chat>, context: State, base: BaseUrl, body: Body) -> Reply {
    let request: ChatCompletionRequest = body.read().await?;
    let limits = request.limits();
    let ChatCompletionRequest {
        model,
        messages,
        stream,
        stream_options,
        max_completion_tokens: _,
        max_tokens: _,
        stop: _,
        tools,
        tool_choice,
        parallel_tool_calls,
        // Only validated: every accepted value means the same.
        n: _n,
        functions: (),
        function_call: _function_call,
        response_format: _response_format,
        logprobs: _logprobs,
        top_logprobs: _top_logprobs,
        logit_bias: (),
        modalities: _modalities,
        web_search_options: (),
    } = request;
    let includes_usage = stream_options.and_then(|options| options.include_usage).unwrap_or(false);
    let agent = context.app.agent(&model).ok_or_else(|| errors::no_such_model(&model))?;
    let taken: Vec<&str> = agent.tools.iter().map(|tool| tool.spec().name).collect();
    let mut functions = FunctionTool::specs(tools);
    functions::check(&functions, &taken)?;
    if matches!(tool_choice, Some(ToolChoice::None)) {
        functions.clear();
    }
    functions::require_support(&context.app, &functions)?;
    let id = context.app.new_id(StreamId::generate);
    let completion = Completion::new(id, context.app.now(), model, parallel_tool_calls.unwrap_or(true));
    let question = AgentRequest { limits, functions, ..AgentRequest::new(by.actor, messages) };
    // As in `POST /agents/{name}`, on the thread of the request.
    let answer = answer::ask(&context.app, by.grant, agent, question).await?;
    if stream.unwrap_or(false) {
        return Ok(chunks::reply(context, completion, answer, includes_usage, base));
    }
    whole::reply(&context, &completion, answer, &base).await
}
