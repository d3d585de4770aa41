//! `GET /openapi.json`, and `GET /docs`, which displays it.
//!
//! The files of the page are compiled into the program. The page loads nothing from other hosts and has no inline scripts.

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::{Bytes, Data, Path};
use docent_http::{ApiError, Reply, routes};
use std::sync::{Arc, OnceLock};
use utoipa_swagger_ui::Config;

const PAGE: &str = include_str!("templates/docs.html");
const SCRIPT: &str = include_str!("templates/docs.js");
const STYLE: &str = include_str!("templates/docs.css");
/// Files of the viewer that the page loads.
const FILES: [&str; 2] = ["swagger-ui.css", "swagger-ui-bundle.js"];
/// The viewer loads its icons from `data:` URLs.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/// Generates the document, which also describes this operation.
pub(crate) struct Source(pub(crate) fn() -> serde_json::Result<String>);

/// Read this document (extension)
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "get_openapi", tag = "Service", security(()),
    responses((status = 200, description = "The API as a document of OpenAPI 3.1.", body = serde_json::Value)),
)]
pub(crate) async fn document(source: Data<Source>) -> Reply {
    // Generated at the first request.
    static DOCUMENT: OnceLock<Option<Bytes>> = OnceLock::new();
    let document = DOCUMENT.get_or_init(|| (source.0)().ok().map(Bytes::from));
    let document = document.clone().ok_or_else(ApiError::internal)?;
    Ok(HttpResponse::Ok().content_type("application/json").body(document))
}

pub(crate) async fn page() -> Reply {
    Ok(HttpResponse::Ok()
        .content_type("text/html; charset=utf-8")
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .body(PAGE))
}

pub(crate) async fn file(name: Path<String>) -> Reply {
    match name.as_str() {
        "docs.js" => {
            return Ok(asset("text/javascript; charset=utf-8", Bytes::from_static(SCRIPT.as_bytes())));
        }
        "docs.css" => return Ok(asset("text/css; charset=utf-8", Bytes::from_static(STYLE.as_bytes()))),
        _ => {}
    }
    if !FILES.contains(&name.as_str()) {
        return routes::not_found().await;
    }
    let file = utoipa_swagger_ui::serve(&name, Arc::new(Config::from("/openapi.json")));
    let file = file.ok().flatten().ok_or_else(ApiError::internal)?;
    Ok(asset(&file.content_type, Bytes::from(file.bytes.into_owned())))
}

fn asset(content_type: &str, bytes: Bytes) -> HttpResponse {
    HttpResponse::Ok()
        .content_type(content_type)
        .insert_header((header::CACHE_CONTROL, "public, max-age=3600"))
        .body(bytes)
}
