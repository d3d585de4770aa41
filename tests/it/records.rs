//! Records of an installation in use.

use crate::admin::{at_panel, between, submit};
use crate::oauth::{authorize_path, register};
use docent_app::accounts::create::Flags;
use docent_domain::api_key::ApiKey;
use docent_domain::id::{CollectionId, UserId};
use docent_domain::identity::Identity;
use docent_domain::listing::AuditFilter;
use docent_domain::permission::Permission;
use docent_domain::text::Email;
use docent_ports::webhook_sender::DeliveryError;
use docent_testkit::builders::connected;
use docent_testkit::fakes::chat_model::Turn;
use docent_testkit::fakes::webhook_sender::answered;
use docent_tests::app::TestApp;
use docent_tests::browser::Browser;
use docent_tests::member::{Member, question_body};
use docent_tests::pdf::pdf;
use reqwest::Method;
use serde_json::json;
use std::time::Duration;

/// Routes of the panel that do not return an HTML page.
pub(crate) const PANEL_FILES: [&str; 7] = [
    "/admin/admin.css",
    "/admin/admin.js",
    "/admin/picker.js",
    "/admin/messages.js",
    "/admin/documents/{id}/file",
    "/admin/usage.csv",
    "/admin/answers.jsonl",
];
/// Only after the first step of a login.
const CODE_PAGE: &str = "/admin/login/code";
/// Only for an identity that its query names.
const IDENTITY_PAGE: &str = "/admin/users/{id}/identities/disconnect";
/// Further addresses, with results and without.
const ADDRESSES: [&str; 10] = [
    "/admin/documents?page=2",
    "/admin/documents?q=nothing",
    "/admin/documents?failure=not_a_pdf",
    "/admin/find?q=pump",
    "/admin/find?q=nothing",
    "/admin/search?q=How+often+is+the+pump+serviced%3F",
    "/admin/search?q=pump&filters=x&collection=y",
    "/admin/usage?by=day-user-key",
    "/admin/webhooks/{webhook}?page=9",
    "/admin/users/{user}/identities/disconnect?issuer=https://id.example.org&subject=7",
];
/// Email address of the superuser.
pub(crate) const ROOT: &str = "root@example.org";
const CONVERSATION: &str = "01900000-0000-7000-8000-000000000001";
/// Titles that are longer than a line, right to left, in CJK, and without spaces.
const TITLES: [&str; 4] = [
    "Annual report of the committee for the preservation of historical waterways, with appendices, tables, maps and a register of names.pdf",
    "دليل المستخدم للنظام الجديد.pdf",
    "四半期の業績に関する詳細な報告書と今後の見通し.pdf",
    "quarterly_results_2025_final_v2_reviewed_by_finance_and_legal_do_not_distribute_before_announcement.pdf",
];
const ANSWER: &str = "The pump is serviced every 500 hours of operation. Before that, shut the valve and let the \
                      pressure fall.\n\n1. Open the housing.\n2. Replace the seal.\n3. Write the date down.";

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

/// Addresses of all pages of the panel, with placeholders for records.
pub(crate) fn addresses() -> Vec<String> {
    let mut addresses: Vec<_> = ADDRESSES.map(str::to_owned).into();
    for (path, methods) in docent_server::routes::all() {
        if !path.starts_with("/admin")
            || !methods.contains(&"GET")
            || PANEL_FILES.contains(&path)
            || [CODE_PAGE, IDENTITY_PAGE].contains(&path)
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

/// The chat model's script for [`Records::create`].
pub(crate) fn script() -> [Turn; 2] {
    [Turn::searching("pump"), Turn::saying(ANSWER)]
}

/// IDs of records by their placeholder in addresses.
#[derive(Default)]
pub(crate) struct Records(Vec<(&'static str, String)>);

impl Records {
    /// Replaces the placeholders in an address.
    pub(crate) fn fill(&self, address: &str) -> String {
        self.0.iter().fold(address.to_owned(), |path, (name, id)| path.replace(&format!("{{{name}}}"), id))
    }

    /// Creates records of every kind. The superuser must exist.
    pub(crate) async fn create(app: &TestApp) -> Self {
        let flags = Flags { is_staff: true, is_superuser: false };
        let ada = app.account("ada@example.org", flags).await;
        app.permit(ada.id, &[Permission::ViewDocument, Permission::AddDocument, Permission::ViewJob]).await;
        let long = "a.person.with.a.very.long.name.indeed@department.of.a.subsidiary.example.org";
        app.account(long, Flags::default()).await;
        let gone = app.account("gone@example.org", Flags::default()).await;
        app.deactivate(gone.id).await;
        let member = Member::login(app, ada.clone()).await;
        let (ingested, failed, pending) = documents(app, &member).await;
        converse(app, &member).await;
        connect(app, ada.id).await;
        let webhook = webhook(app, &member).await;
        for _ in 0..2 {
            let _ = app.login("ada@example.org", "wrong").await.expect(401);
        }
        let mut root = at_panel(app, ROOT).await;
        let group = group(&mut root).await;
        let collection = collection(&mut root).await;
        let key = key(&mut root).await;
        let (application, authorize) = application(app).await;
        let fields = [("user", &*ada.id.to_string()), ("purpose", "verify_email")];
        let _ = submit(&mut root, "/admin/verifications/add", &fields).await.expect(200);
        app.advance(Duration::from_secs(90));
        let entries = app.audit(AuditFilter::default()).await;
        let entry = entries.iter().find(|entry| entry.record == group).unwrap().id.to_string();
        let user = ada.id.to_string();
        let conversation = CONVERSATION.to_owned();
        Self(vec![
            ("ingested", ingested),
            ("failed", failed),
            ("pending", pending),
            ("conversation", conversation),
            ("user", user),
            ("group", group),
            ("collection", collection),
            ("everyone", CollectionId::EVERYONE.to_string()),
            ("key", key),
            ("application", application),
            ("authorize", authorize),
            ("webhook", webhook),
            ("entry", entry),
        ])
    }
}

/// Connects an account with a person at an identity provider that is no longer configured.
async fn connect(app: &TestApp, user: UserId) {
    let at = app.app.now();
    let identity = Identity {
        issuer: "https://id.example.org".to_owned(),
        subject: "7".to_owned(),
        user,
        email: Some("ada@example.org".to_owned()),
        created_at: at,
        last_used_at: at,
    };
    let mut work = app.ports.store.begin().await.unwrap();
    assert!(work.identities().insert(&identity).await.unwrap());
    work.commit().await.unwrap();
}

/// Connects an application to the superuser's account; returns its ID and the address of another request for access.
async fn application(app: &TestApp) -> (String, String) {
    let mut work = app.ports.store.begin().await.unwrap();
    let root = work.users().by_email(&Email::parse(ROOT).unwrap()).await.unwrap().unwrap();
    let expires_at = Some(app.app.now() + chrono::TimeDelta::days(30));
    let key = ApiKey { expires_at, ..connected(4000, root.id) };
    assert!(work.api_keys().insert(&key).await.unwrap());
    work.commit().await.unwrap();
    let client = register(app, "http://127.0.0.1:4711/callback").await;
    let api = format!("http://{}", app.address);
    let changes = [
        ("redirect_uri", "http://127.0.0.1:4711/callback"),
        ("resource", &api),
        ("scope", "read ingest chat"),
    ];
    (key.id.to_string(), authorize_path(app, &client, &changes))
}

/// Creates more documents than a list page holds; returns an ingested, a failed and a pending one.
async fn documents(app: &TestApp, member: &Member) -> (String, String, String) {
    for n in 1..=60 {
        app.advance(Duration::from_secs(60 * n));
        let title = format!("Minutes of meeting {n}");
        let _ = member.post("/documents", json!({ "title": title })).await.expect(201);
    }
    let words = |page: usize| {
        let line = |n: usize| format!("On page {page} the pump is serviced every 500 hours: step {n}.");
        (0..12).map(line).collect::<Vec<_>>().join(" ")
    };
    let pages = [words(1), words(2), String::new(), words(4)];
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    let mut ingested = String::new();
    for title in TITLES {
        ingested = member.add(title, pdf(&pages)).await;
        app.advance(Duration::from_secs(3600));
    }
    let failed = member.add("Scan of a scan.pdf", pdf(&[""])).await;
    member.add("Not a PDF at all.pdf", b"text".to_vec()).await;
    app.run_jobs().await;
    app.advance(Duration::from_secs(30));
    let pending = member.add("Handbook of the new pump.pdf", pdf(&pages)).await;
    (ingested, failed, pending)
}

async fn converse(app: &TestApp, member: &Member) {
    let mut body = question_body("How often is the pump to be serviced, and what is to be done before?");
    body["conversation_id"] = json!(CONVERSATION);
    let reply = member.post("/agents/chat", body).await.expect(200);
    app.settle().await;
    let path = format!("/conversations/{CONVERSATION}/messages/{}/feedback", reply.header("x-message-id"));
    let comment =
        "The seal is replaced every 250 hours since the last revision of the handbook.\nSee its second page.";
    let body = json!({ "rating": "down", "reason": "wrong_sources", "comment": comment });
    let _ = member.put(&path, body).await.expect(200);
}

/// Creates a webhook with deliveries of each state.
async fn webhook(app: &TestApp, member: &Member) -> String {
    let long =
        format!("https://hooks.department.of.a.subsidiary.example.org/incoming/{}", "a1b2c3d4".repeat(8));
    let off = json!({ "url": "https://example.org/docent", "description": "the old intranet" });
    let off = member.post("/webhooks", off).await.expect(201).json();
    let path = format!("/webhooks/{}", off["id"].as_str().unwrap());
    let switch = member.request(Method::PATCH, &path).json(&json!({ "active": false }));
    let _ = app.send(switch).await.expect(200);
    let created = member
        .post("/webhooks", json!({ "url": long, "description": "the intranet" }))
        .await
        .expect(201)
        .json();
    let id = created["id"].as_str().unwrap().to_owned();
    for outcome in [answered(204), Err(DeliveryError::Refused("is odd".to_owned())), answered(503)] {
        let _ = member.post(&format!("/webhooks/{id}/test"), json!({})).await.expect(202);
        app.receivers.script(outcome);
        app.deliver().await;
    }
    id
}

async fn group(root: &mut Browser) -> String {
    let fields = [
        ("name", "Librarians"),
        ("permissions", "documents.view_document"),
        ("permissions", "documents.delete_document"),
        ("permissions", "jobs.view_job"),
    ];
    let reply = submit(root, "/admin/groups/add", &fields).await.expect(303);
    let page = reply.header("location").to_owned();
    // The superuser manages it, so that the page of its managers can be shown.
    let _ = submit(root, &format!("{page}/members"), &[("emails", ROOT)]).await.expect(303);
    let shown = root.get(&page).await.expect(200).text;
    let (_, rest) = shown.split_once("name=\"user\" value=\"").unwrap();
    let fields = [("user", rest.split('"').next().unwrap()), ("is_manager", "on")];
    let _ = submit(root, &format!("{page}/members/manager"), &fields).await.expect(303);
    page.rsplit('/').next().unwrap().to_owned()
}

/// Creates a collection with members.
async fn collection(root: &mut Browser) -> String {
    let fields = [
        ("name", "Contracts of the committee for the preservation of historical waterways"),
        ("description", "Signed contracts with suppliers. Drafts are in the collection of the department."),
        ("owner", "ada@example.org"),
    ];
    let reply = submit(root, "/admin/collections/add", &fields).await.expect(303);
    let page = reply.header("location").to_owned();
    let long = "a.person.with.a.very.long.name.indeed@department.of.a.subsidiary.example.org";
    for fields in [
        [("email", long), ("role", "manager")],
        [("email", ROOT), ("role", "viewer")],
        [("group", "Librarians"), ("role", "contributor")],
    ] {
        let _ = submit(root, &format!("{page}/members"), &fields).await.expect(303);
    }
    page.rsplit('/').next().unwrap().to_owned()
}

async fn key(root: &mut Browser) -> String {
    let fields = [("name", "Import of the archive"), ("scopes", "read"), ("scopes", "ingest")];
    let _ = submit(root, "/admin/api-keys/add", &fields).await.expect(200);
    let keys = root.get("/admin/api-keys").await.expect(200).text;
    between(&keys, "class=\"row\" href=\"", "\"").rsplit('/').next().unwrap().to_owned()
}
