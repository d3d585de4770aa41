//! The panel in German: its pages have no English texts.

use super::at_panel;
use crate::records::{self, ROOT, Records};
use docent_app::accounts::create::Flags;
use docent_testkit::html::texts;
use docent_tests::app::TestApp;
use docent_tests::browser::Browser;
use docent_tests::rules;
use reqwest::Method;
use std::collections::BTreeSet;
use std::time::Duration;

/// Longer than the time that creating the records takes.
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Words that are the same in German, and names for programs.
const SAME: &[&str] = &[
    "API",
    "Chat",
    "Docent",
    "ID",
    "Name",
    "PDF",
    // A collection in English, staff in German.
    "Personal",
    "SHA-256",
    "Status",
    "Superuser",
    "Text",
    "Tokens",
    "URL",
    "Version",
    "Webhook",
    "Webhooks",
    "admin",
    "builtin-lexical-5",
    "chat",
    "en",
    "ingest",
    // A connected application.
    "key 4000",
    "ping",
    "plain",
    "read",
    "read ingest",
    // A chat model.
    "test",
];
/// Parts of texts of records, and of what other services said.
const DATA: &[&str] = &[
    "@",
    ".pdf",
    " B",
    "https://",
    "Contracts of the committee",
    "How often is the pump",
    "Import of the archive",
    "Librarians",
    "Minutes of meeting",
    "On page ",
    "PostgreSQL",
    "Redis",
    "SQLite",
    "The pump is serviced",
    "The seal is replaced",
    "document.ingested",
    "documents.view_document",
    "intranet",
    "the address is odd",
    "the receiver answered",
];

/// Whether a text must be another one in German.
fn is_text(text: &str) -> bool {
    let text = text.strip_suffix(" · Docent").unwrap_or(text);
    let is_id = text.len() == 36 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    !is_id && !SAME.contains(&text) && !DATA.iter().any(|part| text.contains(part))
}

async fn texts_in(app: &TestApp, browser: &mut Browser, path: &str, language: &str) -> BTreeSet<String> {
    let reply = browser.send(app.request(Method::GET, path).header("Accept-Language", language)).await;
    assert_eq!(reply.header("content-language"), language, "{path}: {}", reply.text);
    texts(&reply.text)
}

rules! {
    async fn pages_have_no_english_texts_in_german(setup) {
        let setup = setup.api_keys().script(records::script());
        let app = setup.settings(|settings| settings.access_token_ttl = MONTH).start().await;
        app.account(ROOT, Flags { is_staff: true, is_superuser: true }).await;
        let records = Records::create(&app).await;
        let mut browser = at_panel(&app, ROOT).await;
        let mut same = BTreeSet::new();
        for address in records::addresses() {
            let path = records.fill(&address);
            let english = texts_in(&app, &mut browser, &path, "en").await;
            let german = texts_in(&app, &mut browser, &path, "de").await;
            let found = english.intersection(&german).filter(|text| is_text(text));
            same.extend(found.map(|text| format!("{address}: {text}")));
        }
        assert!(same.is_empty(), "not translated:\n{}", same.into_iter().collect::<Vec<_>>().join("\n"));
        app.leave_jobs();
    }
}
