//! `GET /admin/admin.css`

use actix_web::{HttpResponse, http::header};

pub(super) async fn style() -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/css; charset=utf-8")
        .insert_header((header::CACHE_CONTROL, "public, max-age=3600"))
        .body(include_str!("../templates/admin.css"))
}
