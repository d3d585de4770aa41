//! `GET /admin/admin.css`, `GET /admin/admin.js` and `GET /admin/picker.js`

use crate::asset::asset;
use actix_web::HttpResponse;

pub(super) async fn style() -> HttpResponse {
    let style = concat!(include_str!("../templates/tokens.css"), include_str!("../templates/admin.css"));
    asset("text/css; charset=utf-8", style)
}

pub(super) async fn script() -> HttpResponse {
    let script = concat!(include_str!("../templates/theme.js"), include_str!("../templates/admin.js"));
    asset("text/javascript; charset=utf-8", script)
}

pub(super) async fn picker() -> HttpResponse {
    asset("text/javascript; charset=utf-8", include_str!("../templates/picker.js"))
}
