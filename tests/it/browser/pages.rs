//! Inspects every page: accessibility, the width of a phone, and the browser console.

use super::documents::files;
use super::inspection::{Inspection, Page};
use super::{ROOT, journey_with, superuser, superuser_journey};
use crate::records::{self, Records};
use docent_app::accounts::api_keys::{self, ApiKeyInput};
use docent_app::accounts::create::Flags;
use docent_domain::access::Actor;
use docent_domain::api_key::{ApiKeyName, ApiKeyScopes};
use docent_domain::text::Email;
use docent_ports::clock::Clock;
use docent_tests::app::{PASSWORD, TestApp};
use serde_json::json;
use std::time::Duration;
use totp_rs::{Builder, Secret};

/// Longer than the time that creating the records takes.
pub(super) const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

pub(super) const PAGES: &[Page] = &[
    ("dashboard", "/admin"),
    ("account", "/account"),
    ("account-email", "/account/email"),
    ("account-password", "/account/password"),
    ("account-second-factor", "/account/second-factor"),
    ("account-confirm", "/account/confirm?next=/admin/users/add"),
    ("account-sessions", "/account/sessions"),
    ("account-api-keys", "/account/api-keys"),
    ("account-api-key-add", "/account/api-keys/add"),
    ("account-api-key-revoke", "/account/api-keys/{key}/revoke"),
    ("account-applications", "/account/applications"),
    ("account-application-disconnect", "/account/applications/{application}/disconnect"),
    ("authorize", "{authorize}"),
    ("account-identities", "/account/identities"),
    ("account-groups", "/account/groups"),
    ("account-group", "/account/groups/{group}"),
    ("account-delete", "/account/delete"),
    ("documents", "/admin/documents"),
    ("documents-last", "/admin/documents?page=2"),
    ("documents-failed", "/admin/documents?status=failed"),
    ("documents-none-fits", "/admin/documents?q=nothing"),
    ("upload", "/admin/documents/upload"),
    ("document", "/admin/documents/{ingested}"),
    ("document-failed", "/admin/documents/{failed}"),
    ("document-pending", "/admin/documents/{pending}"),
    ("documents-of-collection", "/admin/documents?collection={collection}"),
    ("chunks", "/admin/documents/{ingested}/chunks"),
    ("readers", "/admin/documents/{ingested}/readers"),
    ("collections", "/admin/collections"),
    ("collections-none-fits", "/admin/collections?q=nothing"),
    ("collection-add", "/admin/collections/add"),
    ("collection", "/admin/collections/{collection}"),
    ("collection-of-everyone", "/admin/collections/{everyone}"),
    ("collection-personal", "/admin/collections/{user}"),
    ("collection-delete", "/admin/collections/{collection}/delete"),
    ("find", "/admin/find?q=pump"),
    ("find-none-fits", "/admin/find?q=nothing"),
    ("service", "/admin/service"),
    ("jobs", "/admin/jobs"),
    ("model", "/admin/model"),
    ("usage", "/admin/usage"),
    ("conversations", "/admin/conversations"),
    ("conversation", "/admin/conversations/{conversation}"),
    ("search", "/admin/search?q=How+often+is+the+pump+serviced%3F"),
    ("search-wrong", "/admin/search?q=pump&filters=x"),
    ("search-none-fits", "/admin/search?q=nothing"),
    ("answers", "/admin/answers"),
    ("answers-none-fits", "/admin/answers?kind=low&below=0"),
    ("webhooks", "/admin/webhooks"),
    ("webhook", "/admin/webhooks/{webhook}"),
    ("users", "/admin/users"),
    ("user-add", "/admin/users/add"),
    ("user", "/admin/users/{user}"),
    ("user-collections", "/admin/users/{user}/collections"),
    ("user-password", "/admin/users/{user}/password"),
    ("user-limits", "/admin/users/{user}/limits"),
    ("user-delete", "/admin/users/{user}/delete"),
    ("user-disconnect", "/admin/users/{user}/identities/disconnect?issuer=https://id.example.org&subject=7"),
    ("groups", "/admin/groups"),
    ("group-add", "/admin/groups/add"),
    ("group", "/admin/groups/{group}"),
    ("group-delete", "/admin/groups/{group}/delete"),
    ("api-keys", "/admin/api-keys"),
    ("api-key-add", "/admin/api-keys/add"),
    ("api-key", "/admin/api-keys/{key}"),
    ("api-key-revoke", "/admin/api-keys/{key}/revoke"),
    ("sessions", "/admin/sessions"),
    ("sessions-of-one", "/admin/sessions?user=ada%40example.org"),
    ("invitations", "/admin/invitations"),
    ("invite", "/admin/invitations/add"),
    ("verifications", "/admin/verifications"),
    ("audit", "/admin/audit"),
    ("audit-entry", "/admin/audit/{entry}"),
    ("not-found", "/admin/nothing"),
    ("document-not-found", "/admin/documents/x"),
    ("forgot-password", "/account/forgot-password"),
    ("reset-password", "/account/reset-password?token=x"),
    ("invitation", "/account/invitation?token=x"),
    ("verify-email", "/account/verify-email?token=x"),
    ("confirm-email", "/account/confirm-email?token=x"),
];

/// The sections of an empty installation.
pub(super) const EMPTY: &[Page] = &[
    ("dashboard", "/admin"),
    ("account", "/account"),
    ("account-api-keys", "/account/api-keys"),
    ("documents", "/admin/documents"),
    ("find", "/admin/find"),
    ("service", "/admin/service"),
    ("jobs", "/admin/jobs"),
    ("model", "/admin/model"),
    ("usage", "/admin/usage"),
    ("conversations", "/admin/conversations"),
    ("search", "/admin/search"),
    ("answers", "/admin/answers"),
    ("webhooks", "/admin/webhooks"),
    ("collections", "/admin/collections"),
    ("groups", "/admin/groups"),
    ("api-keys", "/admin/api-keys"),
    ("verifications", "/admin/verifications"),
];

/// Inspects pages with open menus, dialogs and running uploads.
async fn visit_states(inspection: &mut Inspection<'_>, records: &Records) {
    let window = inspection.window;
    window.goto("/admin").await;
    window.resize(360, 900).await;
    window.press("Menu").await;
    window.find("nav[aria-label=Panel] a").await;
    inspection.inspect_on_phone("menu").await;

    for menu in ["Columns", "Views"] {
        window.goto("/admin/users").await;
        window.press(menu).await;
        inspection.inspect(&format!("menu-{menu}")).await;
    }
    window.keys("?").await;
    window.see("Select the row").await;
    inspection.inspect("keys").await;
    window.goto("/admin/users").await;
    window.click("a[data-palette]").await;
    window.fill("palette-input", "pump").await;
    window.see("Handbook of the new pump.pdf").await;
    inspection.inspect("palette").await;

    window.goto(&records.fill("/admin/documents/{ingested}")).await;
    window.press("Delete…").await;
    window.find("button.danger").await;
    inspection.inspect("document-delete").await;
    window.goto(&records.fill("/admin/conversations/{conversation}")).await;
    window.click("main details summary").await;
    inspection.inspect("conversation-sources").await;

    let (_folder, paths) = files(&["Zebras.pdf", "Notes.txt"]);
    window.goto("/admin/documents/upload").await;
    window.choose("#file", &[&paths[0], &paths[1]]).await;
    window.press("Upload").await;
    window.find("[data-upload-list] .stages").await;
    window.see("Only PDF files are supported").await;
    // The browser logs the refused upload.
    window.console_errors().await;
    inspection.inspect("upload-under-way").await;

    window.goto("/admin/documents?status=failed").await;
    window.click("thead input[type=checkbox]").await;
    window.see("selected").await;
    inspection.inspect("documents-selected").await;
}

/// Inspects the pages that submitted forms return.
async fn visit_form_results(inspection: &mut Inspection<'_>, records: &Records) {
    let window = inspection.window;
    window.goto("/admin/users/add").await;
    window.fill("email", "no address").await;
    window.press("Create account").await;
    window.see("Please fix these errors:").await;
    inspection.inspect("user-add-wrong").await;

    window.goto("/admin/api-keys/add").await;
    window.fill("name", "Nightly import").await;
    window.click("#scopes input[value=read]").await;
    window.press("Create key").await;
    window.find("#secret").await;
    inspection.inspect("api-key-made").await;

    window.goto(&records.fill("/admin/users/{user}")).await;
    window.press("Create password reset link").await;
    window.find("#secret").await;
    inspection.inspect("verification-made").await;

    window.goto(&records.fill("/admin/groups/{group}")).await;
    window.press("Save").await;
    window.find(".flash").await;
    inspection.inspect("group-saved").await;

    window.goto(&records.fill("/admin/collections/{collection}")).await;
    window.fill("email", "missing@example.org").await;
    window.press("Add member").await;
    window.see("belongs to no account").await;
    inspection.inspect("collection-member-wrong").await;

    window.goto("/admin/service").await;
    window.press("Test all").await;
    window.find("main [role=status]").await;
    inspection.inspect("service-tested").await;

    for (button, page) in [("Retry ingestion…", "bulk-retry"), ("Delete…", "bulk-delete")] {
        window.goto("/admin/documents?status=failed").await;
        window.click("thead input[type=checkbox]").await;
        window.press(button).await;
        window.find("form [name=confirmed] ~ .actions").await;
        inspection.inspect(page).await;
    }
    window.fill("word", "no").await;
    window.click("main button.danger").await;
    window.see("Nothing has been deleted.").await;
    inspection.inspect("bulk-delete-wrong").await;

    window.goto("/account/verify-email?token=x").await;
    window.press("Confirm").await;
    window.find(".alert").await;
    inspection.inspect("verify-email-refused").await;
}

/// Inspects the pages of visitors who are signed out or have no permissions.
async fn visit_as_others(app: &TestApp, inspection: &mut Inspection<'_>) {
    let window = inspection.window;
    window.goto("/admin").await;
    window.press("Sign out").await;
    window.arrive("/admin/login").await;
    inspection.inspect("login").await;
    window.submit_login("ada@example.org", "wrong").await;
    window.find(".alert").await;
    inspection.inspect("login-wrong").await;
    app.account("no-staff@example.org", Flags::default()).await;
    window.submit_login("no-staff@example.org", PASSWORD).await;
    window.see("no access to the panel").await;
    inspection.inspect("login-without-access").await;
    let staff = app.account("limited@example.org", Flags { is_staff: true, is_superuser: false }).await;
    window.login(staff.email.as_str()).await;
    inspection.inspect("dashboard-without-rights").await;
    window.goto("/admin/users").await;
    inspection.inspect("forbidden").await;
    visit_account(app, inspection).await;
}

/// Inspects the account pages of an account without permissions, for which a superuser created a key.
async fn visit_account(app: &TestApp, inspection: &mut Inspection<'_>) {
    let window = inspection.window;
    let plain = app.account("plain@example.org", Flags::default()).await;
    let email = Email::parse(ROOT).unwrap();
    let root = app.ports.store.read().await.unwrap().users().by_email(&email).await.unwrap().unwrap();
    let input = ApiKeyInput {
        user: plain.id,
        name: ApiKeyName::parse("Export of conversations").unwrap(),
        scopes: ApiKeyScopes::parse(["chat"]).unwrap(),
        collections: None,
        expires_at: None,
    };
    api_keys::create(&app.app, &Actor::of(&root).unwrap(), input).await.unwrap();
    window.goto("/account").await;
    window.press("Sign out").await;
    window.arrive("/account/login").await;
    inspection.inspect("account-login").await;
    window.submit_login("plain@example.org", PASSWORD).await;
    window.see("created the API key").await;
    inspection.inspect("account-with-news").await;
    window.goto("/account/api-keys").await;
    inspection.inspect("account-key-of-other").await;
    window.goto("/account/password").await;
    window.fill("present", "wrong").await;
    window.press("Change password").await;
    window.see("Please fix these errors:").await;
    inspection.inspect("account-password-wrong").await;
    window.goto("/account/delete").await;
    inspection.inspect("account-delete-plain").await;
    visit_second_factor(app, inspection).await;
}

/// Sets up the second factor of the signed-in account, and signs in with it.
async fn visit_second_factor(app: &TestApp, inspection: &mut Inspection<'_>) {
    let window = inspection.window;
    window.goto("/account/second-factor").await;
    window.press("Set up an authenticator app").await;
    window.find("svg.qr").await;
    inspection.inspect("account-second-factor-setup").await;
    let key = window.texts("code.key").await.concat().replace(' ', "");
    let totp = Builder::new().with_secret(Secret::try_from_base32(key).unwrap()).build().unwrap();
    let code = || totp.generate(u64::try_from(app.clock.now().timestamp()).unwrap()).to_string();
    window.fill("code", "000").await;
    window.press("Turn on").await;
    window.see("Please fix these errors:").await;
    inspection.inspect("account-second-factor-wrong").await;
    window.fill("code", &code()).await;
    window.press("Turn on").await;
    window.see("Keep these codes in a safe place now.").await;
    inspection.inspect("account-recovery-codes").await;
    window.press("Done").await;
    window.see("Remove the second factor").await;
    inspection.inspect("account-second-factor-active").await;
    window.press("Sign out").await;
    window.arrive("/account/login").await;
    window.submit_login("plain@example.org", PASSWORD).await;
    window.find("#code").await;
    inspection.inspect("account-login-code").await;
    window.goto("/admin/login/code").await;
    inspection.inspect("login-code").await;
    window.goto("/account/login/code").await;
    app.advance(Duration::from_secs(30));
    window.fill("code", &code()).await;
    window.press("Sign in").await;
    window.arrive("/account").await;
}

async fn inspect_all_pages(scheme: &'static str) {
    journey_with(
        |setup| {
            setup.api_keys().script(records::script()).settings(|settings| settings.access_token_ttl = MONTH)
        },
        async |app, window| {
            superuser(app, window).await;
            let mut inspection = Inspection::begin(window, scheme).await;
            inspection.visit(EMPTY, "empty-", &Records::default()).await;
            let records = Records::create(app).await;
            // The clock has moved by days, so the session has expired.
            window.login(ROOT).await;
            inspection.visit(PAGES, "", &records).await;
            visit_states(&mut inspection, &records).await;
            visit_form_results(&mut inspection, &records).await;
            visit_as_others(app, &mut inspection).await;
            assert!(
                inspection.not_inspected().is_empty(),
                "pages missing from PAGES: {:?}",
                inspection.not_inspected()
            );
            inspection.assert_no_findings();
            app.leave_jobs();
        },
    )
    .await;
}

// Invariant: Every page of the panel is accessible, fits a phone and causes no browser errors.
#[tokio::test]
async fn every_page_passes_inspection_in_light() {
    inspect_all_pages("light").await;
}

// Invariant: Every page of the panel is accessible, fits a phone and causes no browser errors.
#[tokio::test]
async fn every_page_passes_inspection_in_dark() {
    inspect_all_pages("dark").await;
}

/// Shows that the inspection can fail.
// Invariant: Every page of the panel is accessible, fits a phone and causes no browser errors.
#[tokio::test]
async fn defects_of_a_page_are_found() {
    superuser_journey(async |_, window| {
        let mut inspection = Inspection::begin(window, "light").await;
        window.goto("/admin").await;
        let harm = "const image = document.createElement('img');
            const text = document.createElement('p');
            image.src = 'https://elsewhere.example/x.png';
            text.textContent = 'faint';
            text.style.color = '#aaa';
            text.style.width = '2000px';
            document.querySelector('main').append(image, text);";
        window.run(harm, vec![]).await;
        inspection.inspect("harmed").await;
        let findings = inspection.findings().join("\n");
        for found in ["image-alt", "color-contrast", "scrolls sideways at 1440", "Content Security Policy"] {
            assert!(findings.contains(found), "{found}: {findings}");
        }
    })
    .await;
}

#[tokio::test]
async fn chosen_theme_is_remembered() {
    superuser_journey(async |_, window| {
        let ground = "return getComputedStyle(document.body).backgroundColor";
        let mut seen = Vec::new();
        for scheme in ["light", "dark"] {
            let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
            window.devtools("Emulation.setEmulatedMedia", json!({ "features": features })).await;
            seen.push(window.run(ground, vec![]).await);
        }
        assert_ne!(seen[0], seen[1], "the default follows the system");
        window.click("button[data-theme]").await;
        assert_eq!(window.run(ground, vec![]).await, seen[0]);
        window.goto("/admin/documents").await;
        assert_eq!(window.run(ground, vec![]).await, seen[0]);

        // The account page names the choice, and takes it back.
        window.goto("/account").await;
        let chosen = "return document.querySelector('[data-themes] input:checked').value";
        assert_eq!(window.run(chosen, vec![]).await, json!("light"));
        window.press("Like the system").await;
        assert_eq!(window.run(ground, vec![]).await, seen[1]);
        window.goto("/chat").await;
        assert_eq!(window.run(ground, vec![]).await, seen[1]);
        window.click("#account").await;
        window.arrive("/account").await;
        window.press("Light").await;
        assert_eq!(window.run(ground, vec![]).await, seen[0]);
        assert_eq!(window.console_errors().await, Vec::<String>::new());
    })
    .await;
}
