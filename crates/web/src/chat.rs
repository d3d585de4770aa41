//! `GET /chat`: the web chat. The page holds nothing of anybody, so it needs no login; its module logs in, and all that it
//! shows comes over the API.

use crate::{asset::asset, templates};
use actix_web::{HttpResponse, http::header};
use docent_http::{context::State, error::Reply};
use sha2::{Digest, Sha256};
use std::{fmt::Write, sync::LazyLock};
use tera::Context;

/// Own style and script, pictures that the script has fetched, and no text that becomes markup: the browser refuses
/// `innerHTML` and the like.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src blob: data:; \
                      form-action 'none'; base-uri 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

const STYLE: &str = concat!(include_str!("templates/tokens.css"), include_str!("templates/chat/chat.css"));

/// One module in parts. They are joined here, so that a browser never has parts of different versions.
const SCRIPT: &str = concat!(
    include_str!("templates/chat/ground.js"),
    include_str!("templates/chat/session.js"),
    include_str!("templates/chat/markdown.js"),
    include_str!("templates/chat/sources.js"),
    include_str!("templates/chat/documents.js"),
    include_str!("templates/chat/conversation.js"),
    include_str!("templates/chat/talks.js"),
    include_str!("templates/chat/start.js"),
);

/// Changes whenever an asset does. The page names its assets with it, since browsers keep them.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let digest = Sha256::new().chain_update(STYLE).chain_update(SCRIPT).finalize();
    digest.iter().take(6).fold(String::new(), |mut version, byte| {
        // Writing to a string does not fail.
        let _ = write!(version, "{byte:02x}");
        version
    })
});

pub(crate) async fn page(context: State) -> Reply {
    let mut values = Context::new();
    values.insert("app_name", &context.settings.app_name);
    values.insert("version", &*VERSION);
    let html = templates::render("chat.html", &values)?;
    Ok(HttpResponse::Ok()
        .content_type("text/html; charset=utf-8")
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .body(html))
}

pub(crate) async fn style() -> HttpResponse {
    asset("text/css; charset=utf-8", STYLE)
}

pub(crate) async fn script() -> HttpResponse {
    asset("text/javascript; charset=utf-8", SCRIPT)
}
