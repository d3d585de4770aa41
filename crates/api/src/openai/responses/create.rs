//! `POST /v1/responses`

use super::history;
use super::item_id;
use super::items::{ResponseInputItem, messages, searches_since_question};
use super::object::ResponseObject;
use super::progress::{Progress, Setting};
use super::request::{ResponseRequest, Truncation};
use super::tools::{ToolChoice, Tools};
use crate::agents::ask::check_messages;
use crate::openai::completion::LEFT_OUT;
use crate::openai::vector_stores::stores;
use crate::openai::wire;
use crate::openai::{errors, functions, ids};
use actix_web::HttpResponse;
use bytes::Bytes;
use docent_app::App;
use docent_app::agent::{AgentRequest, AnswerStream, TextLimits, answer};
use docent_domain::access::{Chat, Grant};
use docent_domain::chat::Message;
use docent_domain::id::ResponseId;
use docent_domain::stored_response::StoredResponse;
use docent_http::extract::deserialize::Whole;
use docent_http::{ApiError, BaseUrl, Body, Granted, Reply, State, sse};
use futures::{Stream, StreamExt, stream};
use serde_json::Value;
use std::mem;

/// Create a response (extension)
///
/// An agent answers from documents, in the format of the Responses API: as one object, or with `stream` as server-sent events. With the
/// tool `file_search`, only the files of its vector stores are searched, and each search is an item of the output. Without it, all
/// documents of the account are searched, as in chat completions.
///
/// Calls of functions of the client end the response; the next request has their outputs. Citations are `annotations` of the text.
/// Responses are stored unless `store` is `false`; a response whose client disconnects is not. Parameters that are not supported are
/// refused.
#[utoipa::path(
    post, path = "/v1/responses", operation_id = "create_response", tag = "OpenAI wire",
    request_body = ResponseRequest,
    responses(
        (
            status = 200, description = "The response; with `stream` as a stream of `ResponseStreamEvent`.",
            headers(("X-Messages-Left-Out" = u64, description = "Number of the oldest messages that exceed `history_tokens`, so that the model did not receive them.")),
            content(
                (ResponseObject = "application/json"),
                (
                    String = "text/event-stream",
                    example = json!(
                        "event: response.output_text.delta\ndata: {\"content_index\":0,\"delta\":\"Five years.\",\"item_id\":\"msg_1\",\"logprobs\":[],\"output_index\":0,\"sequence_number\":4,\"type\":\"response.output_text.delta\"}\n\n"
                    ),
                ),
            ),
        ),
        wire::UnknownModel, wire::InvalidBody, wire::ModelFailed,
    ),
)]
pub(crate) async fn create(by: Granted<Chat>, context: State, base: BaseUrl, body: Body) -> Reply {
    let mut request: ResponseRequest = body.read().await?;
    let agent = context.app.agent(&request.model).ok_or_else(|| errors::no_such_model(&request.model))?;
    let taken: Vec<&str> = agent.tools.iter().map(|tool| tool.spec().name).collect();
    let tools = Tools::of(request.tools.take(), &taken)?;
    let search = request.tool_choice.search_mode(&tools)?;
    for store in tools.stores.iter().flatten() {
        stores::ensure_usable(&context.app, &by.actor, *store).await?;
    }
    let id = context.app.new_id(ResponseId::generate);
    let response = request.response(ids::encode(id), context.app.now().timestamp(), &tools);
    let Input { messages, items, searches, previous, is_cut } =
        input(&context.app, &by.grant, &mut request, &response.id).await?;
    let functions = match request.tool_choice {
        ToolChoice::None => Vec::new(),
        ToolChoice::Auto | ToolChoice::Required | ToolChoice::FileSearch => tools.functions.clone(),
    };
    functions::require_support(&context.app, &functions)?;
    let max_tokens = request.max_output_tokens.map(|Whole(max)| usize::try_from(max).unwrap_or(usize::MAX));
    let question = AgentRequest {
        selection: tools.selection(),
        limits: TextLimits { max_tokens, ..TextLimits::default() },
        search,
        earlier_searches: if tools.stores.is_some() { searches } else { Vec::new() },
        search_limits: tools.limits,
        functions,
        sampling: request.sampling(),
        includes_passages: tools.stores.is_some(),
        ..AgentRequest::new(by.actor.clone(), messages)
    };
    let setting = Setting {
        base,
        include: request.include,
        shows_searches: tools.stores.is_some(),
        record: request.store.unwrap_or(true).then(|| record(&context.app, &by.grant, id, previous)),
        input: items,
        actor: by.actor.via_agent(&by.grant),
        context: context.clone(),
    };
    // As in `POST /agents/{name}`, on the thread of the request.
    let answer = answer::ask(&context.app, by.grant, agent, question).await?;
    if matches!(request.truncation, Some(Truncation::Disabled)) && (answer.left_out() > 0 || is_cut) {
        let reason = "is longer than the service accepts with the truncation disabled";
        return Err(ApiError::invalid_field(&["body", "input"], reason));
    }
    let is_streamed = request.stream.unwrap_or(false);
    let progress = Progress::new(setting, response, is_streamed);
    if is_streamed { Ok(streamed(context, progress, answer)) } else { whole(progress, answer).await }
}

fn record(app: &App, grant: &Grant<Chat>, id: ResponseId, previous: Option<ResponseId>) -> StoredResponse {
    StoredResponse {
        id,
        owner: grant.user(),
        limited_key: grant.limited_key(),
        previous,
        content: String::new(),
        created_at: app.now(),
    }
}

/// What the model receives, and what is stored of it.
struct Input {
    messages: Vec<Message>,
    /// The items of the request, as clients read them.
    items: Vec<Value>,
    /// What was searched for since the question.
    searches: Vec<String>,
    previous: Option<ResponseId>,
    /// Whether earlier responses were too long to be read.
    is_cut: bool,
}

async fn input(
    app: &App,
    grant: &Grant<Chat>,
    request: &mut ResponseRequest,
    id: &str,
) -> Result<Input, ApiError> {
    let earlier = history::earlier(app, grant, request.previous_response_id.as_deref()).await?;
    let own = history::resolved(app, grant, mem::take(&mut request.input)).await?;
    let json = |(n, item): (usize, &ResponseInputItem)| item.to_json(&item_id(item.prefix(), id, n));
    let items = own.iter().enumerate().map(json).collect();
    let invalid = |reason: String| ApiError::invalid_field(&["body", "input"], reason);
    let all: Vec<_> = earlier.items.into_iter().chain(own).collect();
    let searches = searches_since_question(&all);
    let all = messages(all).map_err(invalid)?;
    let instructions = request.instructions.clone().map(Message::System);
    let messages: Vec<Message> = instructions.into_iter().chain(all).collect();
    check_messages(&messages).map_err(|error| invalid(error.reason))?;
    Ok(Input { messages, items, searches, previous: earlier.previous, is_cut: earlier.is_cut })
}

/// Waits for the answer. If the client disconnects, this future is dropped, and the answer with it.
async fn whole(mut progress: Progress, mut answer: AnswerStream) -> Reply {
    while !progress.advance(&mut answer).await? {}
    Ok(HttpResponse::Ok().insert_header((LEFT_OUT, answer.left_out())).json(progress.shown()))
}

/// Streams the answer. When the client disconnects the stream is dropped, and the answer with it.
fn streamed(context: State, progress: Progress, answer: AnswerStream) -> HttpResponse {
    let left_out = answer.left_out();
    let mut response = sse::response();
    response.insert_header((LEFT_OUT, left_out));
    // A stopping service is an event of the answer, since each event has a number.
    response.streaming(sse::stream(context, frames(progress, answer), None))
}

fn frames(mut progress: Progress, answer: AnswerStream) -> impl Stream<Item = Bytes> {
    let first = stream::iter(progress.frames());
    let rest = stream::unfold((progress, Some(answer)), |(mut progress, answer)| async move {
        let mut answer = answer?;
        let is_over = match progress.advance(&mut answer).await {
            Ok(is_over) => is_over,
            Err(error) => {
                progress.fail(&error).await;
                true
            }
        };
        let frames = stream::iter(progress.frames());
        Some((frames, (progress, Some(answer).filter(|_| !is_over))))
    });
    first.chain(rest.flatten())
}
