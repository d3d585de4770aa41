//! `GET /chat`: the web chat. The page contains no user data and needs no authentication; its script signs in and loads all
//! data through the API.

use crate::asset::asset;
use crate::templates::{html_response, render};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use docent_http::{Reply, State};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::sync::LazyLock;

/// Content security policy: own style and script, images fetched by the script, and Trusted Types without a policy, so
/// that the browser rejects `innerHTML` and similar sinks.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src blob: data:; \
                      form-action 'none'; base-uri 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

static STYLE: LazyLock<String> = LazyLock::new(|| {
    compact(concat!(include_str!("templates/tokens.css"), include_str!("templates/chat/chat.css")))
});

/// The script, written in several files and concatenated so that a browser never mixes versions.
const SOURCE: &str = concat!(
    include_str!("templates/chat/dom.js"),
    include_str!("templates/theme.js"),
    include_str!("templates/chat/api.js"),
    include_str!("templates/chat/session.js"),
    include_str!("templates/chat/markdown.js"),
    include_str!("templates/chat/sources.js"),
    include_str!("templates/chat/picker.js"),
    include_str!("templates/chat/documents.js"),
    include_str!("templates/chat/feedback.js"),
    include_str!("templates/chat/conversation.js"),
    include_str!("templates/chat/conversation_list.js"),
    include_str!("templates/chat/main.js"),
);

/// What the page loads when it is needed first: the document viewer, and the export of conversations.
const VIEWER_SOURCE: &str = concat!(
    include_str!("templates/chat/viewer/viewer.js"),
    include_str!("templates/chat/viewer/pages.js"),
    include_str!("templates/chat/viewer/marks.js"),
    include_str!("templates/chat/viewer/find.js"),
    include_str!("templates/chat/viewer/selection.js"),
    include_str!("templates/chat/viewer/summary.js"),
    include_str!("templates/chat/viewer/export.js"),
);

static VIEWER_STYLE: LazyLock<String> =
    LazyLock::new(|| compact(include_str!("templates/chat/viewer/viewer.css")));

/// The script without comments and indentation, which are a sixth of it.
static SCRIPT: LazyLock<String> = LazyLock::new(|| stripped(SOURCE));

/// The script of the viewer. The page compares its version with its own, since the service may have been updated in between.
static VIEWER_SCRIPT: LazyLock<String> =
    LazyLock::new(|| stripped(VIEWER_SOURCE) + "export const version = \"" + &VERSION + "\";\n");

/// Removes indentation, empty lines, and comments in lines of their own or behind a semicolon from the script or the page, which
/// have no text over several lines or with `; // `.
fn stripped(script: &str) -> String {
    let lines = script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    let without_comment =
        |line| str::split_once(line, "; // ").map_or([line, "\n"], |(code, _)| [code, ";\n"]);
    lines.flat_map(without_comment).collect()
}

/// Removes the space around punctuation in a stylesheet. It has no texts with such punctuation.
fn compact(style: &str) -> String {
    let pairs = [(" { ", "{"), ("; }", "}"), (" }", "}"), ("; ", ";"), (": ", ":"), (", ", ",")];
    pairs.iter().fold(style.to_owned(), |style, (long, short)| style.replace(long, short))
}

/// Version of the assets, derived from their content. It is part of their URLs because browsers cache them.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let assets = [STYLE.as_str(), SCRIPT.as_str(), VIEWER_STYLE.as_str(), VIEWER_SOURCE];
    let digest = assets.iter().fold(Sha256::new(), |hash, asset| hash.chain_update(asset)).finalize();
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

pub(crate) async fn page(context: State) -> Reply {
    let accepted = context.app.settings().upload_types;
    let page = ChatPage {
        app_name: &context.settings.app_name,
        version: &VERSION,
        types: accepted.to_string(),
        accept: accepted.accept(),
        quotes_only: context.app.answers_by_quoting(),
    };
    let html = stripped(&render(&page)?);
    Ok(html_response(StatusCode::OK, POLICY, html))
}

pub(crate) async fn style() -> HttpResponse {
    asset("text/css; charset=utf-8", &STYLE)
}

pub(crate) async fn script() -> HttpResponse {
    asset("text/javascript; charset=utf-8", &SCRIPT)
}

pub(crate) async fn viewer_style() -> HttpResponse {
    asset("text/css; charset=utf-8", &VIEWER_STYLE)
}

pub(crate) async fn viewer_script() -> HttpResponse {
    asset("text/javascript; charset=utf-8", &VIEWER_SCRIPT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    #[test]
    fn stylesheets_are_compacted() {
        assert_eq!(
            compact("a:hover, b > i { color: red; top: 0 1px; }\nc { }"),
            "a:hover,b > i{color:red;top:0 1px}\nc{}"
        );
    }

    #[test]
    fn script_is_stripped_of_comments_and_indentation() {
        assert_eq!(
            stripped("// Comment\nif (a) {\n  b(\"// text\"); // Comment\n\n}\n"),
            "if (a) {\nb(\"// text\");\n}\n"
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
        for script in [stripped(SOURCE), stripped(VIEWER_SOURCE)] {
            assert_eq!(script.lines().filter(is_open).collect::<Vec<_>>(), [""; 0]);
        }
    }

    impl Samples for ChatPage<'_> {
        fn samples() -> Vec<Self> {
            let page = |types: &str, accept: &str, quotes_only| Self {
                app_name: "Docent",
                version: &VERSION,
                types: types.to_owned(),
                accept: accept.to_owned(),
                quotes_only,
            };
            vec![page("PDF", ".pdf", true), page("PDF and DOCX", ".pdf,.docx", false)]
        }
    }
}
