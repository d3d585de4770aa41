//! `POST /mcp`: the Model Context Protocol.
//!
//! Streamable HTTP without sessions: each request gets one JSON response. The SDK implements the protocol on another HTTP stack;
//! this module converts requests and responses.

mod connector;
mod documents;
mod outcome;
mod reader;
mod schemas;
mod tools;

use crate::answers;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, Accept, Header, HeaderName, Quality};
use actix_web::{HttpRequest, HttpResponse};
use docent_domain::access::ReadDocuments;
use docent_http::context::Context;
use docent_http::error::Problem;
use docent_http::{ApiError, BaseUrl, Body, Reply, Scoped, State};
use http_body_util::{BodyExt, Full};
use reader::Reader;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Serialize;
use std::sync::Arc;
use tools::Tools;
use utoipa::ToSchema;

/// A JSON-RPC message: a request, or a notification without `id`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents what the SDK reads")]
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
    /// ID of the request.
    #[schema(nullable = false)]
    id: Option<McpId>,
    /// Name of the method, such as `initialize`, `tools/list` or `tools/call`.
    method: String,
    /// Parameters of the method.
    #[schema(value_type = Option<Object>, nullable = false)]
    params: Option<serde_json::Value>,
}

/// ID of a request.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "documents what the SDK reads")]
pub(crate) enum McpId {
    /// A number.
    Number(i64),
    /// A string.
    Text(String),
}

/// The response to a request, with either `result` or `error`.
#[derive(Serialize, ToSchema)]
pub(crate) struct McpReply {
    /// Always `2.0`.
    #[schema(pattern = r"^2\.0$")]
    jsonrpc: String,
    /// ID of the request; missing if none could be read.
    id: Option<McpId>,
    /// Result of the method. Errors of a tool are results with `isError`.
    #[schema(value_type = Option<Object>, nullable = false)]
    result: Option<serde_json::Value>,
    /// A protocol error.
    #[schema(nullable = false)]
    error: Option<McpError>,
}

/// A protocol error.
#[derive(Serialize, ToSchema)]
pub(crate) struct McpError {
    /// Error code of JSON-RPC or of the protocol, such as -32602 for invalid parameters.
    code: i32,
    /// Sentence for people.
    message: String,
    /// Details.
    data: Option<serde_json::Value>,
}

/// Error response to a message.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "documents the two error formats")]
pub(crate) enum McpRefusal<'a> {
    /// Error of the protocol.
    Reply(McpReply),
    /// Error of the service.
    Problem(Problem<'a>),
}

/// Call the Model Context Protocol (extension)
///
/// Streamable HTTP without sessions. The tools are `search_docs`, `list_documents`, `get_document_page`, and `search` and `fetch` as
/// connectors of ChatGPT expect them; they have the permissions of the account. Responses are `application/json`, which `Accept` must allow.
#[utoipa::path(
    post, path = "/mcp", operation_id = "call_mcp", tag = "MCP",
    params(
        (
            "MCP-Protocol-Version" = Option<String>, Header, description = "Negotiated version.", nullable = false,
            example = "2025-06-18",
        ),
    ),
    request_body = McpMessage,
    responses(
        (status = 200, description = "The response to a request.", body = McpReply),
        (status = 202, description = "A notification was accepted."),
        (status = 400, description = "The message violates the protocol, the version is unknown, or the connection closed.", body = McpRefusal<'_>),
        (status = 404, description = "Unknown method.", body = McpReply),
        (status = 406, description = "`Accept` does not allow `application/json`.", body = Problem<'_>),
        (status = 415, description = "The body is not `application/json` or not a message.", body = Problem<'_>),
        answers::UnreadableBody,
    ),
)]
pub(crate) async fn call(
    by: Scoped<ReadDocuments>,
    context: State,
    base: BaseUrl,
    request: HttpRequest,
    body: Body,
) -> Reply {
    if !has_allowed_origin(&context, &request) {
        return Err(ApiError::new(StatusCode::FORBIDDEN, "Requests of this origin are not allowed"));
    }
    let request = sdk_request(&request, body).await?;
    let reader = Reader { grant: by.grant, scope: by.scope };
    let tools = Tools { app: Arc::clone(&context.app), reader, base };
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_cancellation_token(context.cut.child_token())
        // DNS rebinding has no effect without a token.
        .disable_allowed_hosts();
    let service = StreamableHttpService::new(
        move || Ok(tools.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let answer = context.run(async move { service.handle(request).await }).await?;
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

/// Converts a request for the SDK, without the credentials, which are already checked.
///
/// The SDK requires both types of the protocol in `Accept`, though responses of this service have only one of them.
async fn sdk_request(
    request: &HttpRequest,
    body: Body,
) -> Result<http::Request<Full<bytes::Bytes>>, ApiError> {
    let mut builder = http::Request::builder().method("POST").uri("/mcp");
    let accepts_json = accepts_json(request);
    let is_replaced =
        |name: &HeaderName| *name == header::AUTHORIZATION || accepts_json && *name == header::ACCEPT;
    for (name, value) in request.headers().iter().filter(|(name, _)| !is_replaced(name)) {
        builder = builder.header(name.as_str(), value.as_bytes());
    }
    if accepts_json {
        builder = builder.header("accept", "application/json, text/event-stream");
    }
    builder.body(Full::new(body.bytes().await?)).map_err(|_| ApiError::internal())
}

/// Whether the response can be JSON. A client without `Accept` takes any type.
fn accepts_json(request: &HttpRequest) -> bool {
    let Ok(accept) = Accept::parse(request) else { return !request.headers().contains_key(header::ACCEPT) };
    accept.is_empty()
        || accept.iter().any(|accepted| {
            let is_json = matches!(accepted.item.essence_str(), "application/json" | "application/*" | "*/*");
            is_json && accepted.quality > Quality::ZERO
        })
}

/// Whether the request has no `Origin`, or that of the service or one that is configured. Browsers always send it.
fn has_allowed_origin(context: &Context, request: &HttpRequest) -> bool {
    let Some(origin) = request.headers().get(header::ORIGIN) else { return true };
    let own = std::iter::once(context.app.settings().public_url.as_str());
    let known = context.settings.cors_allowed_origins.iter().map(String::as_str).chain(own);
    origin.to_str().is_ok_and(|origin| known.into_iter().any(|known| is_same_origin(known, origin)))
}

/// Whether a URL has this origin. All names of this machine count as the same host, since no other machine can have them.
fn is_same_origin(url: &str, origin: &str) -> bool {
    let parse = |text: &str| {
        let uri = text.parse::<http::Uri>().ok()?;
        let scheme = uri.scheme_str()?.to_owned();
        let port = uri.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
        let host = uri.host()?.to_ascii_lowercase();
        let is_local = matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]" | "0.0.0.0" | "[::]");
        Some((scheme, if is_local { "localhost".to_owned() } else { host }, port))
    };
    parse(url).is_some_and(|known| parse(origin) == Some(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_is_compared_with_all_names_of_this_machine() {
        for (url, origin, is_same) in [
            ("http://127.0.0.1:8000", "http://localhost:8000", true),
            ("http://127.0.0.1:8000", "http://[::1]:8000", true),
            ("http://0.0.0.0:8000", "http://localhost:8000", true),
            ("http://127.0.0.1:8000", "http://localhost:8001", false),
            ("http://127.0.0.1:8000", "https://localhost:8000", false),
            ("http://127.0.0.1:8000", "http://localhost.evil.example:8000", false),
            ("https://docs.example.org/docent", "https://docs.example.org", true),
            ("https://docs.example.org", "https://docs.example.org:443", true),
            ("https://docs.example.org", "http://localhost", false),
            ("https://docs.example.org", "https://evil.example", false),
            ("https://docs.example.org", "null", false),
            ("https://docs.example.org", "", false),
        ] {
            assert_eq!(is_same_origin(url, origin), is_same, "{url} {origin}");
        }
    }
}
