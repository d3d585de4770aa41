//! `GET /admin/admin.css`, `GET /admin/admin.js`, `GET /admin/picker.js` and `GET /admin/messages.js`

use crate::asset::{Asset, CSS};
use crate::language::script::Script;
use actix_web::{HttpRequest, HttpResponse};
use docent_http::Query;
use std::sync::LazyLock;

static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new(CSS, concat!(include_str!("../templates/tokens.css"), include_str!("../templates/admin.css")))
});

static SCRIPT: LazyLock<Script> = LazyLock::new(|| {
    Script::new(concat!(
        include_str!("../templates/text.js"),
        include_str!("../templates/service_url.js"),
        include_str!("../templates/theme.js"),
        include_str!("../templates/admin.js"),
        include_str!("../templates/list.js"),
        include_str!("../templates/palette.js"),
    ))
});

static PICKER: LazyLock<Script> = LazyLock::new(|| {
    Script::new(concat!(include_str!("../templates/text.js"), include_str!("../templates/picker.js")))
});

/// The Markdown of answers as the web chat shows it.
static MESSAGES: LazyLock<Script> = LazyLock::new(|| {
    Script::new(concat!(
        include_str!("../templates/text.js"),
        include_str!("../templates/chat/dom.js"),
        include_str!("../templates/chat/markdown.js"),
        include_str!("../templates/messages.js"),
    ))
});

pub(super) async fn style(request: HttpRequest) -> HttpResponse {
    STYLE.respond(&request)
}

pub(super) async fn script(request: HttpRequest, query: Query) -> HttpResponse {
    SCRIPT.asset(query.text("l")).respond(&request)
}

pub(super) async fn picker(request: HttpRequest, query: Query) -> HttpResponse {
    PICKER.asset(query.text("l")).respond(&request)
}

pub(super) async fn messages(request: HttpRequest, query: Query) -> HttpResponse {
    MESSAGES.asset(query.text("l")).respond(&request)
}
