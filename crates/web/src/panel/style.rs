//! `GET /admin/admin.css`, `GET /admin/admin.js` and `GET /admin/picker.js`

use crate::asset::asset;
use actix_web::HttpResponse;

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
