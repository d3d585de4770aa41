//! `POST /mcp`: the documents for programs that speak the Model Context Protocol.
//!
//! Over streamable HTTP, without sessions: each request is answered by itself, with one JSON value. The protocol is
//! the SDK's matter, which speaks to another HTTP stack; what is here carries requests to it and answers back.

mod documents;
mod outcome;
mod tools;

use crate::openapi::answers;
use actix_web::{
    HttpRequest, HttpResponse,
    http::{StatusCode, header},
};
use docent_domain::access::ReadDocuments;
use docent_http::{
    context::{Context, State},
    error::{ApiError, Problem, Reply},
    extract::{granted::Granted, json::Body},
};
use http_body_util::{BodyExt, Full};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use serde::Serialize;
use std::sync::Arc;
use tokio_util::task::AbortOnDropHandle;
use tools::Tools;
use tracing::Instrument;
use utoipa::ToSchema;

/// A message of JSON-RPC: a request, or without `id` a notification.
#[derive(ToSchema)]
#[expect(dead_code, reason = "says what the SDK reads")]
#[schema(example = json!({
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": { "name": "search_docs", "arguments": { "query": "warranty" } },
}))]
pub(crate) struct McpMessage {
    /// Always `2.0`.
    #[schema(pattern = r"^2\.0$")]
    jsonrpc: String,
    /// What the answer is to be known by.
    #[schema(nullable = false)]
    id: Option<McpId>,
    /// Such as `initialize`, `tools/list` or `tools/call`.
    method: String,
    /// By the method.
    #[schema(value_type = Option<Object>, nullable = false)]
    params: Option<serde_json::Value>,
}

/// What a request is known by.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "says what the SDK reads")]
pub(crate) enum McpId {
    /// A number.
    Number(i64),
    /// A word.
    Text(String),
}

/// The answer to a request, with either `result` or `error`.
#[derive(Serialize, ToSchema)]
pub(crate) struct McpReply {
    /// Always `2.0`.
    #[schema(pattern = r"^2\.0$")]
    jsonrpc: String,
    /// That of the request; missing where none could be read.
    id: Option<McpId>,
    /// By the method. What is wrong with a call of a tool is a result with `isError`.
    #[schema(value_type = Option<Object>, nullable = false)]
    result: Option<serde_json::Value>,
    /// Why there is no result.
    #[schema(nullable = false)]
    error: Option<McpError>,
}

/// Why there is no result.
#[derive(Serialize, ToSchema)]
pub(crate) struct McpError {
    /// One of JSON-RPC or of the protocol, such as -32602 for parameters that are wrong.
    code: i32,
    /// One sentence for people.
    message: String,
    /// More about it.
    data: Option<serde_json::Value>,
}

/// Why a message is not taken.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "says what the handler answers")]
pub(crate) enum McpRefusal<'a> {
    /// As the protocol says it.
    Reply(McpReply),
    /// As the service says it.
    Problem(Problem<'a>),
}

/// Speak the Model Context Protocol (extension)
///
/// Over streamable HTTP, without sessions: each request is answered by itself. The tools are `search_docs`, `list_documents` and
/// `get_document_page`; they find and read what the account may. `Accept` must name `application/json` and `text/event-stream`, as the
/// protocol demands.
#[utoipa::path(
    post, path = "/mcp", operation_id = "call_mcp", tag = "MCP",
    params(
        (
            "MCP-Protocol-Version" = Option<String>, Header, description = "The version that was agreed on.", nullable = false,
            example = "2025-06-18",
        ),
    ),
    request_body = McpMessage,
    responses(
        (status = 200, description = "The answer to a request.", body = McpReply),
        (status = 202, description = "A notification was taken."),
        (status = 400, description = "The message breaks the protocol, or its version is not known, or the connection broke.", body = McpRefusal<'_>),
        (status = 404, description = "There is no such method.", body = McpReply),
        (status = 406, description = "`Accept` lacks one of the two types.", body = Problem<'_>),
        (status = 415, description = "The body was not sent as `application/json`, or is no message.", body = Problem<'_>),
        answers::Guarded,
        answers::BytesRead,
        answers::StoreAway,
    ),
)]
pub(crate) async fn call(
    by: Granted<ReadDocuments>,
    context: State,
    request: HttpRequest,
    body: Body,
) -> Reply {
    if !is_from_a_known_origin(&context, &request) {
        return Err(ApiError::new(StatusCode::FORBIDDEN, "Requests of this origin are not allowed"));
    }
    let asked = carried(&request, body).await?;
    let tools = Tools { app: Arc::clone(&context.app), grant: by.grant };
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_cancellation_token(context.cut.child_token())
        // A name that is made to point here is no use without a token.
        .disable_allowed_hosts();
    let service = StreamableHttpService::new(
        move || Ok(tools.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    // Connections to back ends outlive this request's thread.
    let answering = async move { service.handle(asked).await };
    let answering = context.runtime.spawn(answering.in_current_span());
    let answer = AbortOnDropHandle::new(answering).await.map_err(|_| ApiError::internal())?;
    let (head, body) = answer.into_parts();
    let status = StatusCode::from_u16(head.status.as_u16()).map_err(|_| ApiError::internal())?;
    let kind = head.headers.get("content-type");
    let is_json = kind.is_some_and(|kind| kind == "application/json");
    if status.is_server_error() {
        return Err(ApiError::internal());
    }
    if status.is_client_error() && !is_json {
        let reason = body.collect().await.map_err(|_| ApiError::internal())?.to_bytes();
        return Err(ApiError::new(status, String::from_utf8_lossy(&reason).into_owned()));
    }
    let mut response = HttpResponse::build(status);
    for (name, value) in &head.headers {
        response.append_header((name.as_str(), value.as_bytes()));
    }
    Ok(if kind.is_some() { response.streaming(body.into_data_stream()) } else { response.finish() })
}

/// The request as the SDK takes it. Who sends it is known already.
async fn carried(request: &HttpRequest, body: Body) -> Result<http::Request<Full<bytes::Bytes>>, ApiError> {
    let mut carried = http::Request::builder().method("POST").uri("/mcp");
    for (name, value) in request.headers() {
        if *name != header::AUTHORIZATION {
            carried = carried.header(name.as_str(), value.as_bytes());
        }
    }
    carried.body(Full::new(body.bytes().await?)).map_err(|_| ApiError::internal())
}

/// Whether it is a program that asks, or a page of an origin that the settings name.
fn is_from_a_known_origin(context: &Context, request: &HttpRequest) -> bool {
    let Some(origin) = request.headers().get(header::ORIGIN) else { return true };
    let own = std::iter::once(context.app.settings().public_url.as_str());
    let known = context.settings.cors_allowed_origins.iter().map(String::as_str).chain(own);
    known.into_iter().any(|known| known.as_bytes() == origin.as_bytes())
}
