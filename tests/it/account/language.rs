//! The language of the pages: of the browser, or the one that the account has chosen.

use super::{ADA, ada, at_account};
use crate::admin::submit;
use docent_app::accounts::create::Flags;
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::browser::Browser;
use docent_tests::reply::Reply;
use docent_tests::rules;
use reqwest::Method;
use serde_json::json;

/// Opens a page with a browser that accepts these languages.
async fn get(app: &TestApp, browser: &mut Browser, path: &str, accepted: &str) -> Reply {
    browser.send(app.request(Method::GET, path).header("Accept-Language", accepted)).await
}

/// Checks that a page says that it is in a language, and that caches keep it for that one only.
fn assert_language(page: &Reply, code: &str) {
    let text = &page.text;
    assert!(text.contains(&format!("<html lang=\"{code}\">")), "{text}");
    assert_eq!(page.header("content-language"), code);
    assert_eq!((page.header("vary"), page.header("cache-control")), ("Accept-Language, Cookie", "no-store"));
}

async fn choose(browser: &mut Browser, code: &str) {
    let _ = submit(browser, "/account/language", &[("language", code)]).await.expect(303);
}

rules! {
    // Invariant: No page is shown from a cache in another language.
    async fn pages_without_an_account_are_in_the_language_of_the_browser(setup) {
        let app = setup.start().await;
        let mut browser = Browser::new(&app);
        for (path, english, german) in [
            ("/account/login", "Sign in to your account", "Melden Sie sich in Ihrem Konto an"),
            ("/account/forgot-password", "Forgot your password?", "Passwort vergessen?"),
            ("/account/reset-password?token=x", "Choose a new password", "Wählen Sie ein neues Passwort"),
            ("/account/verify-email?token=x", "Verify your email address", "Bestätigen Sie Ihre E-Mail-Adresse"),
            ("/account/confirm-email?token=x", "Confirm your new email address", "Bestätigen Sie Ihre neue E-Mail-Adresse"),
            ("/account/nothing", "Page not found", "Seite nicht gefunden"),
            ("/chat", "What do you want to know?", "Was möchten Sie wissen?"),
        ] {
            for accepted in ["de", "de-AT", "fr, de-CH;q=0.7, en;q=0.2", "*;q=0.1, de"] {
                let page = get(&app, &mut browser, path, accepted).await;
                assert_language(&page, "de");
                assert!(page.text.contains(german) && !page.text.contains(english), "{path}: {}", page.text);
            }
            for accepted in ["en-GB, de;q=0.9", "tlh", "de;q=0", "*", ";;q=,", "de;q=9, x", ""] {
                let page = get(&app, &mut browser, path, accepted).await;
                assert_language(&page, "en");
                assert!(page.text.contains(english) && !page.text.contains(german), "{path}: {}", page.text);
            }
            assert_language(&app.get(path).await, "en");
        }
    }

    async fn chosen_language_applies_in_every_browser_and_can_be_withdrawn(setup) {
        let app = setup.start().await;
        let (mut here, _) = ada(&app).await;
        let mut elsewhere = at_account(&app, ADA).await;
        choose(&mut here, "de").await;
        let page = get(&app, &mut here, "/account", "en").await;
        assert_language(&page, "de");
        assert!(page.text.contains("Die Sprache wurde gespeichert.") && page.text.contains("<option value=\"de\" lang=\"de\" selected>Deutsch"));
        for path in ["/account/sessions", "/account/api-keys", "/account/nothing", "/account/forgot-password", "/chat"] {
            assert_language(&get(&app, &mut elsewhere, path, "en").await, "de");
        }
        let unknown = app.request(Method::GET, "/nonsense").header("Accept", "text/html");
        let page = elsewhere.send(unknown.header("Accept-Language", "en")).await.expect(404).text;
        assert!(page.contains("Seite nicht gefunden"), "{page}");
        choose(&mut elsewhere, "").await;
        assert_language(&get(&app, &mut here, "/account", "en").await, "en");
        assert_language(&get(&app, &mut here, "/account", "de").await, "de");
    }

    async fn unknown_language_and_forged_form_change_nothing(setup) {
        let app = setup.start().await;
        let (mut browser, _) = ada(&app).await;
        choose(&mut browser, "de").await;
        for code in ["tlh", "de-AT", "DE", "../de", "<script>"] {
            let page = submit(&mut browser, "/account/language", &[("language", code)]).await.expect(422);
            assert!(page.text.contains("Die Anfrage ist ungültig"), "{}", page.text);
        }
        let fields = [("form_token", "x"), ("language", "en")];
        let page = browser.post("/account/language", &fields).await.expect(403);
        assert!(page.text.contains("Das Formular ist abgelaufen"), "{}", page.text);
        assert_language(&get(&app, &mut browser, "/account", "en").await, "de");
    }

    async fn errors_of_forms_are_in_the_language_of_the_page(setup) {
        let app = setup.start().await;
        let (mut browser, _) = ada(&app).await;
        choose(&mut browser, "de").await;
        let wrong = [("present", "wrong"), ("password", "short"), ("again", "other")];
        let page = submit(&mut browser, "/account/password", &wrong).await.expect(422).text;
        for error in ["Neues Passwort muss mindestens 8 Zeichen haben.", "Wiederholung des neuen Passworts stimmt nicht überein."] {
            assert!(page.contains(error), "{page}");
        }
        let page = submit(&mut browser, "/account/api-keys/add", &[("name", ""), ("expires_at", "soon")]).await.expect(422).text;
        for error in ["Name darf nicht leer sein.", "Läuft ab muss ein Datum wie 2030-12-31 sein.", "Bereiche muss mindestens eines"] {
            assert!(page.contains(error), "{page}");
        }
        let page = browser.get("/account/api-keys/00000000-0000-0000-0000-000000000000/revoke").await.expect(404).text;
        assert!(page.contains("API-Schlüssel nicht gefunden"), "{page}");
    }

    async fn panel_is_in_the_language_of_the_account_and_api_in_english(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags { is_staff: true, is_superuser: true }).await;
        let mut browser = at_account(&app, ADA).await;
        for (path, english, german) in [
            ("/admin", "Dashboard", "Übersicht"),
            ("/admin/users", "Last sign-in", "Letzte Anmeldung"),
            ("/admin/nothing", "Page not found", "Seite nicht gefunden"),
            ("/admin/login", "Staff sign-in", "Anmeldung zur Verwaltung"),
        ] {
            choose(&mut browser, "").await;
            for (accepted, code, text) in [("en", "en", english), ("de", "de", german)] {
                let page = get(&app, &mut browser, path, accepted).await;
                assert_language(&page, code);
                assert!(page.text.contains(text), "{path}: {}", page.text);
            }
            choose(&mut browser, "de").await;
            let page = get(&app, &mut browser, path, "en").await;
            assert_language(&page, "de");
            assert!(page.text.contains(german) && !page.text.contains(english), "{path}: {}", page.text);
        }
        let request = app.request(Method::GET, "/documents").header("Accept-Language", "de");
        app.send(request).await.refused(401, "Could not validate credentials");
    }

    async fn messages_and_errors_of_the_panel_are_in_the_language_of_the_page(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags { is_staff: true, is_superuser: true }).await;
        let mut browser = at_account(&app, ADA).await;
        choose(&mut browser, "de").await;
        let wrong = [("email", "x"), ("password", "short")];
        let page = submit(&mut browser, "/admin/users/add", &wrong).await.expect(422).text;
        for error in ["E-Mail muss eine E-Mail-Adresse sein.", "Passwort muss mindestens 8 Zeichen haben."] {
            assert!(page.contains(error), "{page}");
        }
        let reply = submit(&mut browser, "/admin/groups/add", &[("name", "Recht")]).await.expect(303);
        let page = browser.get(reply.header("location")).await.expect(200).text;
        assert!(page.contains("Die Gruppe Recht wurde erstellt."), "{page}");
        let page = submit(&mut browser, "/admin/documents/bulk", &[("act", "x")]).await.expect(422).text;
        assert!(page.contains("Das Formular ist ungültig"), "{page}");
    }

    async fn chat_is_in_the_language_of_the_account_that_has_signed_in(setup) {
        let app = setup.start().await;
        let (mut browser, _) = ada(&app).await;
        choose(&mut browser, "de").await;
        let mut chat = Browser::in_chat(&app, ADA, PASSWORD).await;
        let session = get(&app, &mut chat, "/chat/session", "en").await.expect(200).json();
        assert_eq!(session["account"]["language"], json!("de"));
        assert_language(&get(&app, &mut chat, "/chat", "en").await, "de");
        choose(&mut browser, "").await;
        let session = get(&app, &mut chat, "/chat/session", "en").await.expect(200).json();
        assert_eq!(session["account"]["language"], json!("en"));
    }

    // Invariant: No page is shown from a cache in another language.
    async fn scripts_have_the_texts_of_the_language_in_their_address(setup) {
        let app = setup.start().await;
        let mut browser = Browser::new(&app);
        for (path, english, german) in [
            ("/chat/chat.js", "\"Searching the documents…\"", "\"Die Dokumente werden durchsucht…\""),
            ("/chat/actions.js", "\"Delete this document?\"", "\"Dieses Dokument löschen?\""),
            ("/chat/viewer.js", "\"Key points\"", "\"Wichtigste Punkte\""),
            ("/admin/admin.js", "\"Next row\"", "\"Nächste Zeile\""),
            ("/admin/picker.js", "\"Available\"", "\"Verfügbar\""),
            ("/admin/messages.js", "t(\"Table\")", "t(\"Tabelle\")"),
        ] {
            let script = get(&app, &mut browser, &format!("{path}?l=de"), "en").await.expect(200).text;
            assert!(script.contains(german) && !script.contains(english), "{path}");
            // Caches do not see the header, so it must not matter.
            for address in [path.to_owned(), format!("{path}?l=tlh"), format!("{path}?l=en")] {
                let script = get(&app, &mut browser, &address, "de").await.expect(200).text;
                assert!(script.contains(english) && !script.contains(german), "{address}");
            }
        }
        // In all languages, the first load stays small.
        let page = get(&app, &mut browser, "/chat", "de").await.expect(200).text;
        let script = app.get("/chat/chat.js?l=de").await.expect(200).text;
        let style = app.get("/chat/chat.css").await.expect(200).text;
        assert!(script.len() < 80 * 1024, "{}", script.len());
        let first_load = page.len() + script.len() + style.len();
        assert!(first_load < 100 * 1024, "{first_load}");
    }
}
