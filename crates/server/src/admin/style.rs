//! `GET /admin/admin.css`, `GET /admin/admin.js` and `GET /admin/picker.js`

use actix_web::{HttpResponse, http::header};

pub(super) async fn style() -> HttpResponse {
    let style = concat!(include_str!("../templates/tokens.css"), include_str!("../templates/admin.css"));
    asset("text/css; charset=utf-8", style)
}

pub(super) async fn script() -> HttpResponse {
    asset("text/javascript; charset=utf-8", include_str!("../templates/admin.js"))
}

pub(super) async fn picker() -> HttpResponse {
    asset("text/javascript; charset=utf-8", include_str!("../templates/picker.js"))
}

/// A file that pages load.
pub(crate) fn asset(content_type: &'static str, text: &'static str) -> HttpResponse {
    HttpResponse::Ok()
        .content_type(content_type)
        .insert_header((header::CACHE_CONTROL, "public, max-age=3600"))
        .body(text)
}
