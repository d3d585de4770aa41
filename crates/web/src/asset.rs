//! Stylesheets and scripts.

use actix_web::HttpResponse;
use actix_web::http::header;

/// Response with a static asset of the pages.
pub(crate) fn asset(content_type: &'static str, text: &'static str) -> HttpResponse {
    HttpResponse::Ok()
        .content_type(content_type)
        .insert_header((header::CACHE_CONTROL, "public, max-age=3600"))
        .body(text)
}
