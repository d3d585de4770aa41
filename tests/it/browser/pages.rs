//! Every page: accessible, within the width of a phone, and without a complaint of the browser.

use super::{
    ROOT,
    documents::files,
    journey,
    records::{self, Records},
    superuser,
};
use docent_app::accounts::create::Flags;
use docent_tests::{
    app::TestApp,
    chromium::{Chromium, optional_setting, setting},
};
use serde_json::{Value, json};
use std::{path::Path, time::Duration};

/// The file of axe-core that pages are checked with.
const AXE: &str = "DOCENT_TEST_AXE";
/// The folder for pictures of every page; none are taken without it.
const PICTURES: &str = "DOCENT_TEST_SCREENSHOTS";

/// Longer than what the records take.
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A wide screen, a tablet, a phone.
const WIDTHS: [u32; 3] = [1440, 768, 360];

/// A page of the panel: what pictures of it are called, and its address, in which `{…}` stands for a record.
type Page = (&'static str, &'static str);

const PAGES: &[Page] = &[
    ("dashboard", "/admin"),
    ("account", "/admin/account"),
    ("documents", "/admin/documents"),
    ("documents-last", "/admin/documents?page=2"),
    ("documents-failed", "/admin/documents?status=failed"),
    ("documents-none-fits", "/admin/documents?q=nothing"),
    ("upload", "/admin/documents/upload"),
    ("document", "/admin/documents/{ingested}"),
    ("document-failed", "/admin/documents/{failed}"),
    ("document-pending", "/admin/documents/{pending}"),
    ("chunks", "/admin/documents/{ingested}/chunks"),
    ("jobs", "/admin/jobs"),
    ("usage", "/admin/usage"),
    ("conversations", "/admin/conversations"),
    ("conversation", "/admin/conversations/{conversation}"),
    ("users", "/admin/users"),
    ("user-add", "/admin/users/add"),
    ("user", "/admin/users/{user}"),
    ("user-password", "/admin/users/{user}/password"),
    ("user-delete", "/admin/users/{user}/delete"),
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
    ("verifications", "/admin/verifications"),
    ("audit", "/admin/audit"),
    ("audit-entry", "/admin/audit/{entry}"),
    ("not-found", "/admin/nothing"),
    ("document-not-found", "/admin/documents/x"),
    ("reset-password", "/account/reset-password?token=x"),
    ("verify-email", "/account/verify-email?token=x"),
];

/// The sections of an installation where nothing has happened.
const EMPTY: &[Page] = &[
    ("dashboard", "/admin"),
    ("account", "/admin/account"),
    ("documents", "/admin/documents"),
    ("jobs", "/admin/jobs"),
    ("usage", "/admin/usage"),
    ("conversations", "/admin/conversations"),
    ("groups", "/admin/groups"),
    ("api-keys", "/admin/api-keys"),
    ("verifications", "/admin/verifications"),
];

/// What is looked at, and what was found.
struct Inspection<'a> {
    window: &'a Chromium,
    scheme: &'static str,
    findings: Vec<String>,
}

impl<'a> Inspection<'a> {
    async fn begin(window: &'a Chromium, scheme: &'static str) -> Self {
        // Colours that fade would be caught half way.
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        window.devtools("Emulation.setEmulatedMedia", json!({ "features": features })).await;
        Self { window, scheme, findings: Vec::new() }
    }

    /// Opens pages one after the other.
    async fn visit(&mut self, pages: &[Page], name: &str, records: &Records) {
        for (page, address) in pages {
            let path = records.fill(address);
            self.window.goto(&path).await;
            assert_eq!(self.window.path().await, path, "{page} leads elsewhere");
            self.look(&format!("{name}{page}")).await;
        }
    }

    /// Looks at the page that is shown, at each width.
    async fn look(&mut self, page: &str) {
        for complaint in self.window.complaints().await {
            // The browser tells of a page that is an error by itself.
            let is_page =
                complaint.contains(&format!("{} - Failed to load resource", self.window.url().await));
            if !is_page {
                self.find(page, &complaint);
            }
        }
        for width in WIDTHS {
            self.window.resize(width, 900).await;
            let size = "const root = document.documentElement; return [root.scrollWidth, root.scrollHeight]";
            let size = self.window.run(size, vec![]).await;
            if size[0].as_u64().unwrap() > u64::from(width) {
                self.find(page, &format!("scrolls sideways at {width}: its content is {} wide", size[0]));
            }
            if width != 768 {
                self.run_axe(page, width).await;
            }
            self.keep_picture(page, width, &size[1]).await;
        }
        self.window.resize(WIDTHS[0], 900).await;
    }

    /// Has axe-core look at the page; what it holds for serious or critical is a finding.
    async fn run_axe(&mut self, page: &str, width: u32) {
        let axe = std::fs::read_to_string(setting(AXE)).unwrap();
        self.window.run(&axe, vec![]).await;
        let check = "const done = arguments[0];
            axe.run(document, { resultTypes: ['violations'] })
                .then((results) => done(results.violations.map(({ id, impact, help, nodes }) =>
                    ({ id, impact, help, places: nodes.map((node) => node.target.join(' ')) }))))
                .catch((error) => done(String(error)))";
        let violations = self.window.run_async(check, vec![]).await;
        let violations = violations.as_array().unwrap_or_else(|| panic!("{page}: {violations}"));
        for violation in violations {
            if ["serious", "critical"].contains(&violation["impact"].as_str().unwrap_or_default()) {
                let Value::Array(places) = &violation["places"] else { continue };
                let places: Vec<_> = places.iter().filter_map(Value::as_str).take(4).collect();
                let (id, help) = (&violation["id"], &violation["help"]);
                self.find(page, &format!("{id} at {width}: {help}: {}", places.join(", ")));
            }
        }
    }

    /// Takes a picture of the whole page, if pictures are wanted.
    async fn keep_picture(&self, page: &str, width: u32, height: &Value) {
        let Some(folder) = optional_setting(PICTURES) else { return };
        let height = u32::try_from(height.as_u64().unwrap()).unwrap().clamp(600, 8000);
        self.window.resize(width, height).await;
        let path = Path::new(&folder).join(format!("{page}-{width}-{}.png", self.scheme));
        std::fs::write(path, self.window.picture().await).unwrap();
    }

    fn find(&mut self, page: &str, what: &str) {
        self.findings.push(format!("{page} ({}): {what}", self.scheme));
    }

    fn end(self) {
        assert!(self.findings.is_empty(), "{} findings:\n{}", self.findings.len(), self.findings.join("\n"));
    }
}

/// What forms and menus of a page open.
async fn visit_states(inspection: &mut Inspection<'_>, records: &Records) {
    let window = inspection.window;
    window.goto("/admin").await;
    window.resize(360, 900).await;
    window.press("Menu").await;
    window.find("nav[aria-label=Panel] a").await;
    inspection.run_axe("menu", 360).await;
    inspection.keep_picture("menu", 360, &json!(900)).await;
    window.resize(WIDTHS[0], 900).await;

    window.goto(&records.fill("/admin/documents/{ingested}")).await;
    window.press("Delete…").await;
    window.find("button.danger").await;
    inspection.look("document-delete").await;
    window.goto(&records.fill("/admin/conversations/{conversation}")).await;
    window.press("Sources: 5").await;
    inspection.look("conversation-sources").await;

    let (_folder, paths) = files(&["Zebras.pdf", "Notes.txt"]);
    window.goto("/admin/documents/upload").await;
    window.choose("#file", &[&paths[0], &paths[1]]).await;
    window.press("Upload").await;
    window.find("[data-upload-list] .stages").await;
    window.see("Only PDF files are supported").await;
    // The refusal is an answer that the browser tells of.
    window.complaints().await;
    inspection.look("upload-under-way").await;

    window.goto("/admin/documents?status=failed").await;
    window.click("thead input[type=checkbox]").await;
    window.see("selected").await;
    inspection.look("documents-selected").await;
}

/// Answers to forms.
async fn visit_answers(inspection: &mut Inspection<'_>, records: &Records) {
    let window = inspection.window;
    window.goto("/admin/users/add").await;
    window.fill("email", "no address").await;
    window.press("Create the account").await;
    window.see("Nothing was saved.").await;
    inspection.look("user-add-wrong").await;

    window.goto("/admin/api-keys/add").await;
    window.fill("name", "Nightly import").await;
    window.click("#scopes input[value=read]").await;
    window.press("Create key").await;
    window.find("#secret").await;
    inspection.look("api-key-made").await;

    window.goto(&records.fill("/admin/users/{user}")).await;
    window.press("Make a link for a new password").await;
    window.find("#secret").await;
    inspection.look("verification-made").await;

    window.goto(&records.fill("/admin/groups/{group}")).await;
    window.press("Save the group").await;
    window.find(".flash").await;
    inspection.look("group-saved").await;

    for (button, page) in [("Retry the ingestion…", "bulk-retry"), ("Delete…", "bulk-delete")] {
        window.goto("/admin/documents?status=failed").await;
        window.click("thead input[type=checkbox]").await;
        window.press(button).await;
        window.find("form [name=confirmed] ~ .actions").await;
        inspection.look(page).await;
    }
    window.fill("word", "no").await;
    window.click("main button.danger").await;
    window.see("Nothing has been deleted.").await;
    inspection.look("bulk-delete-wrong").await;

    window.goto("/account/verify-email?token=x").await;
    window.press("Confirm").await;
    window.find(".alert").await;
    inspection.look("verify-email-refused").await;
}

/// What those see who are not in, or may do nothing.
async fn visit_as_others(app: &TestApp, inspection: &mut Inspection<'_>) {
    let window = inspection.window;
    window.goto("/admin").await;
    window.press("Log out").await;
    window.arrive("/admin/login").await;
    inspection.look("login").await;
    window.submit_login("ada@example.org", "wrong").await;
    window.find(".alert").await;
    inspection.look("login-wrong").await;
    let staff = app.account("nobody@example.org", Flags { is_staff: true, is_superuser: false }).await;
    window.login(staff.email.as_str()).await;
    inspection.look("dashboard-without-rights").await;
    window.goto("/admin/users").await;
    inspection.look("forbidden").await;
}

async fn all_pages_pass(scheme: &'static str) {
    journey(
        |setup| {
            setup.api_keys().script(records::script()).settings(|settings| settings.access_token_ttl = MONTH)
        },
        async |app, window| {
            superuser(app, window).await;
            let mut inspection = Inspection::begin(window, scheme).await;
            inspection.visit(EMPTY, "empty-", &Records::default()).await;
            let records = Records::make(app).await;
            // That took some days.
            window.login(ROOT).await;
            inspection.visit(PAGES, "", &records).await;
            visit_states(&mut inspection, &records).await;
            visit_answers(&mut inspection, &records).await;
            visit_as_others(app, &mut inspection).await;
            inspection.end();
            app.leave_jobs();
        },
    )
    .await;
}

#[tokio::test]
async fn all_pages_pass_in_light() {
    all_pages_pass("light").await;
}

#[tokio::test]
async fn all_pages_pass_in_dark() {
    all_pages_pass("dark").await;
}

#[tokio::test]
async fn the_theme_that_was_chosen_is_remembered() {
    journey(
        |setup| setup,
        async |app, window| {
            superuser(app, window).await;
            let ground = "return getComputedStyle(document.body).backgroundColor";
            let mut seen = Vec::new();
            for scheme in ["light", "dark"] {
                let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
                window.devtools("Emulation.setEmulatedMedia", json!({ "features": features })).await;
                seen.push(window.run(ground, vec![]).await);
            }
            assert_ne!(seen[0], seen[1], "it follows the system");
            window.click("button[data-theme]").await;
            assert_eq!(window.run(ground, vec![]).await, seen[0]);
            window.goto("/admin/documents").await;
            assert_eq!(window.run(ground, vec![]).await, seen[0]);
        },
    )
    .await;
}
