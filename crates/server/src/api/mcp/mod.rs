//! `POST /mcp`: the documents for programs that speak the Model Context Protocol.
//!
//! Over streamable HTTP, without sessions: each request is answered by itself, with one JSON value. The protocol is
//! the SDK's matter, which speaks to another HTTP stack; what is here carries requests to it and answers back.

mod documents;
mod tools;

use crate::{
    api::Reply,
    context::{Context, State},
    error::Refusal,
    extract::{granted::Granted, json::Body},
};
use actix_web::{
    HttpRequest, HttpResponse,
    http::{StatusCode, header},
};
use docent_domain::access::ReadDocuments;
use http_body_util::{BodyExt, Full};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use std::sync::Arc;
use tokio_util::task::AbortOnDropHandle;
use tools::Tools;
use tracing::Instrument;

pub(crate) async fn call(
    by: Granted<ReadDocuments>,
    context: State,
    request: HttpRequest,
    body: Body,
) -> Reply {
    if !is_from_a_known_origin(&context, &request) {
        return Err(Refusal::new(StatusCode::FORBIDDEN, "Requests of this origin are not allowed"));
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
    let answer = AbortOnDropHandle::new(answering).await.map_err(|_| Refusal::internal())?;
    let (head, body) = answer.into_parts();
    let status = StatusCode::from_u16(head.status.as_u16()).map_err(|_| Refusal::internal())?;
    let mut response = HttpResponse::build(status);
    for (name, value) in &head.headers {
        response.append_header((name.as_str(), value.as_bytes()));
    }
    Ok(response.streaming(body.into_data_stream()))
}

/// The request as the SDK takes it. Who sends it is known already.
async fn carried(request: &HttpRequest, body: Body) -> Result<http::Request<Full<bytes::Bytes>>, Refusal> {
    let mut carried = http::Request::builder().method("POST").uri("/mcp");
    for (name, value) in request.headers() {
        if *name != header::AUTHORIZATION {
            carried = carried.header(name.as_str(), value.as_bytes());
        }
    }
    carried.body(Full::new(body.bytes().await?)).map_err(|_| Refusal::internal())
}

/// Whether it is a program that asks, or a page of an origin that the settings name.
fn is_from_a_known_origin(context: &Context, request: &HttpRequest) -> bool {
    let Some(origin) = request.headers().get(header::ORIGIN) else { return true };
    let own = std::iter::once(context.app.settings.public_url.as_str());
    let known = context.settings.cors_allowed_origins.iter().map(String::as_str).chain(own);
    known.into_iter().any(|known| known.as_bytes() == origin.as_bytes())
}
