//! `GET /openapi.json`, and `GET /docs`, which displays it.
//!
//! The files of the page are compiled into the program. The page loads nothing from other hosts and has no inline scripts.

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::{Bytes, Data, Path};
use docent_http::base_path::{BasePath, mark_page};
use docent_http::{ApiError, Reply, State, routes};
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

/// The document of a server, generated at the first request.
pub(crate) struct Document {
    /// Generates the document, which also describes this operation.
    generate: fn(&BasePath) -> serde_json::Result<String>,
    json: OnceLock<Option<Bytes>>,
}

impl Document {
    pub(crate) const fn new(generate: fn(&BasePath) -> serde_json::Result<String>) -> Self {
        Self { generate, json: OnceLock::new() }
    }
}

/// Read this document (extension)
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "get_openapi", tag = "Service", security(()),
    responses((status = 200, description = "The API as a document of OpenAPI 3.1.", body = serde_json::Value)),
)]
pub(crate) async fn document(context: State, document: Data<Document>) -> Reply {
    let generate = || (document.generate)(&context.base_path).ok().map(Bytes::from);
    let json = document.json.get_or_init(generate).clone().ok_or_else(ApiError::internal)?;
    Ok(HttpResponse::Ok().content_type("application/json").body(json))
}

pub(crate) async fn page() -> Reply {
    let mut page = HttpResponse::Ok()
        .content_type("text/html; charset=utf-8")
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .body(PAGE);
    mark_page(&mut page);
    Ok(page)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The service may be below a path of its host.
    #[test]
    fn script_names_paths_of_the_service_only_in_calls_that_add_the_base_path() {
        let paths: Vec<_> = SCRIPT.match_indices("\"/").map(|(at, _)| SCRIPT.split_at(at)).collect();
        let is_path = |rest: &str| rest[2..].starts_with(char::is_alphabetic);
        let paths: Vec<_> = paths.into_iter().filter(|(_, rest)| is_path(rest)).collect();
        assert_eq!(paths.len(), 3);
        for (before, rest) in paths {
            assert!(before.ends_with("serviceUrl(") || before.ends_with("send("), "{rest:.40}");
        }
        assert!(SCRIPT.contains("fetch(serviceUrl(path)"));
    }
}
