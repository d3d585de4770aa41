//! `GET /admin/admin.css`, `GET /admin/admin.js` and `GET /admin/picker.js`

use actix_web::{HttpResponse, http::header};

pub(super) async fn style() -> HttpResponse {
    asset("text/css; charset=utf-8", include_str!("../templates/admin.css"))
}

pub(super) async fn script() -> HttpResponse {
    asset("text/javascript; charset=utf-8", include_str!("../templates/admin.js"))
}

pub(super) async fn picker() -> HttpResponse {
    asset("text/javascript; charset=utf-8", include_str!("../templates/picker.js"))
}

fn asset(content_type: &'static str, text: &'static str) -> HttpResponse {
    HttpResponse::Ok()
        .content_type(content_type)
        .insert_header((header::CACHE_CONTROL, "public, max-age=3600"))
        .body(text)
}
