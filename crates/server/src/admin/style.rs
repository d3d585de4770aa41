//! `GET /admin/admin.css` and `GET /admin/admin.js`

use actix_web::{HttpResponse, http::header};

pub(super) async fn style() -> HttpResponse {
    asset("text/css; charset=utf-8", include_str!("../templates/admin.css"))
}

pub(super) async fn script() -> HttpResponse {
    asset("text/javascript; charset=utf-8", include_str!("../templates/admin.js"))
}

fn asset(content_type: &'static str, text: &'static str) -> HttpResponse {
    HttpResponse::Ok()
        .content_type(content_type)
        .insert_header((header::CACHE_CONTROL, "public, max-age=3600"))
        .body(text)
}
