//! The account pages, the panel and the web chat in German.

use super::chat::{ADA, animals, renderer};
use super::inspection::{Inspection, Page};
use super::pages::{self, MONTH};
use super::{journey_with, superuser};
use crate::records::{self, ROOT, Records};
use docent_app::accounts::create::Flags;
use docent_app::accounts::profile;
use docent_domain::access::Actor;
use docent_domain::text::LanguageTag;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::chromium::Chromium;
use docent_tests::wait;
use serde_json::json;

const PAGES: &[Page] = &[
    ("account", "/account"),
    ("account-email", "/account/email"),
    ("account-password", "/account/password"),
    ("account-second-factor", "/account/second-factor"),
    ("account-sessions", "/account/sessions"),
    ("account-api-keys", "/account/api-keys"),
    ("account-api-key-add", "/account/api-keys/add"),
    ("account-applications", "/account/applications"),
    ("account-delete", "/account/delete"),
    ("account-confirm", "/account/confirm?next=/account/api-keys/add"),
    ("forgot-password", "/account/forgot-password"),
    ("reset-password", "/account/reset-password?token=x"),
    ("verify-email", "/account/verify-email?token=x"),
    ("confirm-email", "/account/confirm-email?token=x"),
    ("not-found", "/account/nothing"),
];

/// Makes the browser prefer German.
pub(super) async fn prefer_german(window: &Chromium) {
    let agent = window.run("return navigator.userAgent", vec![]).await;
    let accepted = json!({ "userAgent": agent, "acceptLanguage": "de-AT,de;q=0.9" });
    window.devtools("Emulation.setUserAgentOverride", accepted).await;
}

pub(super) async fn sign_in(window: &Chromium, page: &str, email: &str) {
    window.goto(page).await;
    window.fill("email", email).await;
    window.fill("password", PASSWORD).await;
    window.press("Anmelden").await;
}

async fn inspect_account(scheme: &'static str) {
    journey_with(
        |setup| setup.api_keys(),
        async |app, window| {
            app.account(ADA, Flags { is_staff: true, is_superuser: false }).await;
            prefer_german(window).await;
            let mut inspection = Inspection::begin(window, scheme).await;
            window.goto("/account/login").await;
            inspection.inspect("de-login").await;
            window.fill("email", ADA).await;
            window.fill("password", "wrong").await;
            window.press("Anmelden").await;
            window.see("E-Mail-Adresse oder Passwort ist falsch.").await;
            window.console_errors().await;
            inspection.inspect("de-login-wrong").await;
            sign_in(window, "/account/login", ADA).await;
            window.see("Ihr Konto").await;
            inspection.visit(PAGES, "de-", &Records::default()).await;

            window.goto("/account/password").await;
            window.press("Passwort ändern").await;
            window.see("Bitte beheben Sie diese Fehler:").await;
            window.console_errors().await;
            inspection.inspect("de-password-wrong").await;
            window.goto("/account/api-keys/add").await;
            assert_eq!(window.texts("#collections label").await, ["Alle", "Persönlich"]);
            window.fill("name", "Nächtlicher Import").await;
            window.click("#scopes input[value=read]").await;
            window.press("Schlüssel erstellen").await;
            window.see("Kopieren Sie den Schlüssel jetzt.").await;
            inspection.inspect("de-api-key-created").await;
            window.goto("/account/api-keys").await;
            inspection.inspect("de-api-keys").await;
            window.press("Widerrufen…").await;
            window.see("Diesen Schlüssel widerrufen?").await;
            inspection.inspect("de-api-key-revoke").await;
            window.goto("/account/second-factor").await;
            window.press("Authenticator-App einrichten").await;
            window.find("svg.qr").await;
            inspection.inspect("de-second-factor").await;
            window.keys("?").await;
            window.see("Nächste Zeile").await;
            inspection.assert_no_findings();
        },
    )
    .await;
}

#[tokio::test]
async fn account_pages_pass_inspection_in_light() {
    inspect_account("light").await;
}

#[tokio::test]
async fn account_pages_pass_inspection_in_dark() {
    inspect_account("dark").await;
}

#[tokio::test]
async fn panel_passes_inspection() {
    journey_with(
        |setup| {
            setup.api_keys().script(records::script()).settings(|settings| settings.access_token_ttl = MONTH)
        },
        async |app, window| {
            superuser(app, window).await;
            prefer_german(window).await;
            let mut inspection = Inspection::begin(window, "light").await;
            inspection.visit(pages::EMPTY, "de-empty-", &Records::default()).await;
            let records = Records::create(app).await;
            // The clock has moved by days, so the session has expired.
            sign_in(window, "/admin/login", ROOT).await;
            window.see("Übersicht").await;
            inspection.visit(pages::PAGES, "de-", &records).await;
            window.goto("/admin/documents?status=failed").await;
            window.click("thead input[type=checkbox]").await;
            window.see("ausgewählt").await;
            inspection.inspect("de-documents-selected").await;
            window.press("Löschen…").await;
            window.see("Geben Sie zur Bestätigung „delete“ ein").await;
            inspection.inspect("de-bulk-delete").await;
            window.goto("/admin/service").await;
            window.press("Alle testen").await;
            window.find("main [role=status]").await;
            inspection.inspect("de-service-tested").await;
            inspection.assert_no_findings();
            app.leave_jobs();
        },
    )
    .await;
}

/// A model that cites the page with the zebra.
fn answer() -> Vec<Turn> {
    vec![Turn::searching("zebra"), Turn::saying("Zebras leben in Afrika (Tiere.pdf, page 2).")]
}

async fn upload(app: &TestApp, window: &Chromium) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Tiere.pdf");
    std::fs::write(&path, animals()).unwrap();
    window.choose("#files", &[&path]).await;
    window.see("Tiere.pdf: Wartet auf die Verarbeitung.").await;
    app.run_jobs().await;
    wait::until("the document is ready", async || window.texts("#documents-list .pill").await == ["Bereit"])
        .await;
}

#[tokio::test]
async fn chat_passes_inspection() {
    journey_with(
        |setup| setup.renderer(renderer()).script(answer()),
        async |app, window| {
            app.account(ADA, Flags::default()).await;
            prefer_german(window).await;
            let mut inspection = Inspection::begin(window, "light").await;
            window.goto("/chat").await;
            window.find("#email").await;
            inspection.inspect("de-chat-sign-in").await;
            sign_in(window, "/chat", ADA).await;
            window.find(".first-steps").await;
            inspection.inspect("de-chat-empty").await;
            upload(app, window).await;
            window.see("Vorgeschlagene Fragen").await;
            inspection.inspect("de-chat-ready").await;
            window.press("Quellen wählen").await;
            window.see("Die Antworten kommen nur aus dem, was Sie wählen").await;
            inspection.inspect("de-chat-picker").await;
            window.press("Fertig").await;

            window.fill("question", "Wo leben Zebras?").await;
            window.press("Fragen").await;
            window.see("Erneut fragen").await;
            window.see("Nach „zebra“ gesucht").await;
            // The clock of the tests; Austrian, as the browser prefers.
            window.see("Jänner 2026").await;
            window.click("[aria-label='Schlechte Antwort']").await;
            window.see("Was war falsch?").await;
            inspection.inspect("de-chat-answered").await;
            window.press("Abbrechen").await;
            window.click("button.chip").await;
            window.see("von 3").await;
            window.press("Finden").await;
            window.fill("find-text", "zebra").await;
            window.see("1 von").await;
            inspection.inspect("de-chat-viewer").await;
            window.click("#summary summary").await;
            window.see("Wichtigste Punkte").await;
            inspection.inspect("de-chat-summary").await;
            window.click("#source-close").await;

            window.click(".conversation-row summary").await;
            window.press("Löschen…").await;
            window.see("und ihre Nachrichten werden endgültig gelöscht.").await;
            inspection.inspect("de-chat-delete").await;
            assert_eq!(window.console_errors().await, Vec::<String>::new());
            inspection.assert_no_findings();
        },
    )
    .await;
}

#[tokio::test]
async fn chat_changes_to_the_language_of_the_account_at_sign_in() {
    journey_with(
        |setup| setup,
        async |app, window| {
            let user = app.account(ADA, Flags::default()).await;
            let german = Some(LanguageTag::parse("de").unwrap());
            profile::set_language(&app.app, &Actor::of(&user).unwrap(), german).await.unwrap();
            window.goto("/chat").await;
            window.submit_login(ADA, PASSWORD).await;
            window.see("Was möchten Sie wissen?").await;
            window.find("#question").await;
            window.goto("/account").await;
            window.run("document.getElementById('language').value = 'en'", vec![]).await;
            window.click("form[action$='/account/language'] button").await;
            window.see("The language was saved.").await;
        },
    )
    .await;
}
