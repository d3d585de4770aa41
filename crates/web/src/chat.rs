//! `GET /chat`: the web chat. The page contains no user data and needs no authentication; its script leads to the sign-in page
//! and loads all data through the API.

use crate::asset::{Asset, CSS};
use crate::language;
use crate::language::request::AccountLanguage;
use crate::language::script::Script;
use crate::minify::{minified, stripped};
use crate::templates::{html_response, render};
use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use docent_http::{Query, Reply, State};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::sync::LazyLock;

/// Content security policy: own style and script, images fetched by the script, and Trusted Types without a policy, so
/// that the browser rejects `innerHTML` and similar sinks.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src blob: data:; \
                      form-action 'none'; base-uri 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let style = concat!(include_str!("templates/tokens.css"), include_str!("templates/chat/chat.css"));
    Asset::new(CSS, compact(style))
});

/// The script, written in several files and concatenated so that a browser never mixes versions.
const SOURCE: &str = concat!(
    include_str!("templates/text.js"),
    include_str!("templates/chat/dom.js"),
    include_str!("templates/theme.js"),
    include_str!("templates/service_url.js"),
    include_str!("templates/chat/api.js"),
    include_str!("templates/chat/session.js"),
    include_str!("templates/chat/modules.js"),
    include_str!("templates/chat/markdown.js"),
    include_str!("templates/chat/sources.js"),
    include_str!("templates/chat/selection.js"),
    include_str!("templates/chat/documents.js"),
    include_str!("templates/chat/welcome.js"),
    include_str!("templates/chat/feedback.js"),
    include_str!("templates/chat/conversation.js"),
    include_str!("templates/chat/conversation_list.js"),
    include_str!("templates/chat/main.js"),
);

/// What the page loads when the user does something for the first time that needs it: uploads, dialogs and forms.
const ACTIONS_SOURCE: &str = concat!(
    include_str!("templates/chat/actions/actions.js"),
    include_str!("templates/chat/actions/confirm.js"),
    include_str!("templates/chat/actions/picker.js"),
    include_str!("templates/chat/actions/upload.js"),
    include_str!("templates/chat/actions/documents.js"),
    include_str!("templates/chat/actions/conversations.js"),
    include_str!("templates/chat/actions/share.js"),
    include_str!("templates/chat/actions/edit.js"),
    include_str!("templates/chat/actions/feedback.js"),
    include_str!("templates/chat/actions/fallback.js"),
);

/// What the page loads when the service asks for the password first.
const PROOF_SOURCE: &str = include_str!("templates/chat/proof.js");

/// What the page loads when a document is opened first.
const VIEWER_SOURCE: &str = concat!(
    include_str!("templates/chat/viewer/viewer.js"),
    include_str!("templates/chat/viewer/pages.js"),
    include_str!("templates/chat/viewer/marks.js"),
    include_str!("templates/chat/viewer/find.js"),
    include_str!("templates/chat/viewer/selection.js"),
    include_str!("templates/chat/viewer/summary.js"),
);

static ACTIONS_STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new(CSS, compact(include_str!("templates/chat/actions/actions.css"))));
static VIEWER_STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new(CSS, compact(include_str!("templates/chat/viewer/viewer.css"))));

/// The script without comments and most of its space, which are a fifth of it.
static SCRIPT: LazyLock<Script> = LazyLock::new(|| Script::new(&minified(SOURCE)));
static ACTIONS_SCRIPT: LazyLock<Script> = LazyLock::new(|| module(ACTIONS_SOURCE));
static PROOF_SCRIPT: LazyLock<Script> = LazyLock::new(|| module(PROOF_SOURCE));
static VIEWER_SCRIPT: LazyLock<Script> = LazyLock::new(|| module(VIEWER_SOURCE));

/// A script that the page loads later. The page compares its version with its own, since the service may have been updated
/// in between.
fn module(source: &str) -> Script {
    Script::new(&(minified(source) + "export const version = \"" + &VERSION + "\";\n"))
}

/// Removes line breaks and the space around punctuation in a stylesheet. It has no texts with such punctuation, and each line ends
/// with some.
fn compact(style: &str) -> String {
    let pairs = [(" { ", "{"), ("; }", "}"), (" }", "}"), ("; ", ";"), (": ", ":"), (", ", ",")];
    let style: String = style.lines().map(str::trim).collect();
    pairs.iter().fold(style, |style, (long, short)| style.replace(long, short))
}

/// Version of the assets, derived from their content. It is part of their URLs because browsers cache them.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let styles = [&STYLE, &ACTIONS_STYLE, &VIEWER_STYLE].map(|style| style.text());
    let assets = styles.into_iter().chain([SOURCE, ACTIONS_SOURCE, PROOF_SOURCE, VIEWER_SOURCE]);
    let all = assets.chain(language::sources());
    let digest = all.fold(Sha256::new(), |hash, asset| hash.chain_update(asset)).finalize();
    digest.iter().take(6).fold(String::new(), |mut version, byte| {
        // Writing to a string cannot fail.
        let _ = write!(version, "{byte:02x}");
        version
    })
});

#[derive(Serialize)]
pub(crate) struct ChatPage<'a> {
    app_name: &'a str,
    /// Version of the stylesheet and the script.
    version: &'a str,
    /// Names of the types of files that are accepted, and the value of the attribute `accept`.
    types: String,
    accept: String,
    /// Whether answers are quotes, because no language model is connected.
    quotes_only: bool,
}

pub(crate) async fn page(_: AccountLanguage, context: State) -> Reply {
    let accepted = context.app.settings().upload_types;
    let page = ChatPage {
        app_name: &context.settings.app_name,
        version: &VERSION,
        types: language::file_types(accepted),
        accept: accepted.accept(),
        quotes_only: context.app.answers_by_quoting(),
    };
    let html = stripped(&render(&page)?);
    Ok(html_response(StatusCode::OK, POLICY, html))
}

pub(crate) async fn style(request: HttpRequest) -> HttpResponse {
    STYLE.respond(&request)
}

pub(crate) async fn script(request: HttpRequest, query: Query) -> HttpResponse {
    SCRIPT.asset(query.text("l")).respond(&request)
}

pub(crate) async fn actions(request: HttpRequest, query: Query) -> HttpResponse {
    ACTIONS_SCRIPT.asset(query.text("l")).respond(&request)
}

pub(crate) async fn actions_style(request: HttpRequest) -> HttpResponse {
    ACTIONS_STYLE.respond(&request)
}

pub(crate) async fn proof(request: HttpRequest, query: Query) -> HttpResponse {
    PROOF_SCRIPT.asset(query.text("l")).respond(&request)
}

pub(crate) async fn viewer_style(request: HttpRequest) -> HttpResponse {
    VIEWER_STYLE.respond(&request)
}

pub(crate) async fn viewer_script(request: HttpRequest, query: Query) -> HttpResponse {
    VIEWER_SCRIPT.asset(query.text("l")).respond(&request)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    #[test]
    fn stylesheets_are_compacted() {
        assert_eq!(
            compact("a:hover,\n  b > i { color: red; top: 0 1px; }\nc { }"),
            "a:hover,b > i{color:red;top:0 1px}c{}"
        );
    }

    #[test]
    fn script_is_minified() {
        assert_eq!(
            minified("// Comment\nif (a && c) {\n  b(\"// text\", { d }); // Comment\n\n}\n"),
            "if(a&&c){b(\"// text\",{d});}\n"
        );
        // An open backtick at the end of a line would begin a text over several lines, which must not change.
        let is_open = |line: &&str| {
            let (mut quoted, mut ticks, mut escaped) = (false, 0, false);
            for c in line.chars() {
                match c {
                    '"' if !escaped => quoted = !quoted,
                    '`' if !quoted => ticks += 1,
                    _ => {}
                }
                escaped = c == '\\' && !escaped;
            }
            ticks % 2 == 1
        };
        for script in [SOURCE, ACTIONS_SOURCE, PROOF_SOURCE, VIEWER_SOURCE].map(minified) {
            assert_eq!(script.lines().filter(is_open).collect::<Vec<_>>(), [""; 0]);
        }
    }

    impl Samples for ChatPage<'_> {
        fn samples() -> Vec<Self> {
            let page = |types: &str, accept: &str, is_small| Self {
                app_name: "Docent",
                version: &VERSION,
                types: types.to_owned(),
                accept: accept.to_owned(),
                quotes_only: is_small,
            };
            vec![page("PDF", ".pdf", true), page("PDF and DOCX", ".pdf,.docx", false)]
        }
    }
}
