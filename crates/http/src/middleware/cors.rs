//! Cross-origin resource sharing (CORS) for configured origins.

use super::{Answer, with_headers};
use crate::context;
use crate::table::methods;
use actix_web::HttpResponse;
use actix_web::body::MessageBody;
use actix_web::dev::ServiceRequest;
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::middleware::Next;

const REQUEST_HEADERS: &str = "Authorization, Content-Type, X-Request-Id, X-API-Key, Last-Event-ID, \
     MCP-Protocol-Version, Mcp-Method, Mcp-Name";
const RESPONSE_HEADERS: &str = "X-Request-Id, Retry-After, Link, X-Next-Cursor, X-Stream-Id, X-Message-Id, X-Messages-Left-Out, WWW-Authenticate, Content-Disposition";
/// Seconds for which browsers cache a preflight response.
const MAX_AGE: &str = "600";

/// Whether pages of every origin can read the responses of a path: they are the same for all, or need a secret that only the page
/// has. Applications in browsers get their tokens there.
fn is_for_all(path: &str) -> bool {
    let paths = ["/oauth/token", "/oauth/register", "/oauth/revoke"];
    paths.contains(&path.trim_end_matches('/')) || path.starts_with("/.well-known/oauth-")
}

/// Allows pages of configured origins to read responses, and pages of all origins those of [`is_for_all`].
pub async fn share(request: ServiceRequest, next: Next<impl MessageBody + 'static>) -> Answer {
    let context = context::from_service(&request)?;
    let allowed = &context.settings.cors_allowed_origins;
    let is_for_all = is_for_all(request.path());
    let vary = !allowed.is_empty() || is_for_all;
    let origin = request.headers().get(header::ORIGIN).cloned();
    let origin = origin
        .filter(|origin| is_for_all || allowed.iter().any(|known| known.as_bytes() == origin.as_bytes()));

    let is_preflight = request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let answer = match &origin {
        Some(_) if is_preflight => Ok(request.into_response(preflight(&methods(&context.tables)))),
        _ => next.call(request).await.map(|response| response.map_into_boxed_body()),
    };
    with_headers(answer, move |headers| {
        if vary {
            headers.append(header::VARY, HeaderValue::from_static("Origin"));
        }
        if let Some(origin) = &origin {
            allow(headers, origin);
        }
    })
}

fn preflight(methods: &str) -> HttpResponse {
    HttpResponse::NoContent()
        .insert_header((header::ACCESS_CONTROL_ALLOW_METHODS, methods))
        .insert_header((header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS))
        .insert_header((header::ACCESS_CONTROL_MAX_AGE, MAX_AGE))
        .finish()
}

/// Adds the headers. Other sites send tokens in a header; the session cookie is for the own pages only, so credentials are not
/// allowed.
fn allow(headers: &mut HeaderMap, origin: &HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(RESPONSE_HEADERS));
}
