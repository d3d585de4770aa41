//! The panel in German: its pages have no English texts.

use super::at_panel;
use crate::records::{self, PANEL_FILES, ROOT, Records};
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
/// Only after the first step of a login.
const CODE_PAGE: &str = "/admin/login/code";
/// Further addresses, with results and without.
const ADDRESSES: [&str; 9] = [
    "/admin/documents?page=2",
    "/admin/documents?q=nothing",
    "/admin/documents?failure=not_a_pdf",
    "/admin/find?q=pump",
    "/admin/find?q=nothing",
    "/admin/search?q=How+often+is+the+pump+serviced%3F",
    "/admin/search?q=pump&filters=x&collection=y",
    "/admin/usage?by=day-user-key",
    "/admin/webhooks/{webhook}?page=9",
];
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
    "builtin-lexical-3",
    "chat",
    "en",
    "ingest",
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

/// Records to open the pages of a section with.
fn records_of(path: &str) -> &'static [&'static str] {
    match path.split('/').nth(2) {
        Some("documents") => &["ingested", "failed", "pending"],
        Some("collections") => &["collection", "everyone", "user"],
        Some("users") => &["user"],
        Some("groups") => &["group"],
        Some("api-keys") => &["key"],
        Some("conversations") => &["conversation"],
        Some("webhooks") => &["webhook"],
        Some("audit") => &["entry"],
        _ => panic!("no record for {path}"),
    }
}

/// Addresses of all pages of the panel.
fn addresses() -> Vec<String> {
    let mut addresses: Vec<_> = ADDRESSES.map(str::to_owned).into();
    for (path, methods) in docent_server::routes::all() {
        if !path.starts_with("/admin")
            || !methods.contains(&"GET")
            || PANEL_FILES.contains(&path)
            || path == CODE_PAGE
        {
            continue;
        }
        if path.contains("{id}") {
            let records = records_of(path).iter();
            addresses.extend(records.map(|record| path.replace("{id}", &format!("{{{record}}}"))));
        } else {
            addresses.push(path.to_owned());
        }
    }
    addresses
}

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
        for address in addresses() {
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
