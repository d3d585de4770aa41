//! Operations that need a recent proof of identity: `/account/confirm`, and `proof_needed` in the API.

use super::{ADA, ada, at_account};
use docent_app::accounts::create::Flags;
use docent_app::accounts::second_factor;
use docent_domain::access::Actor;
use docent_domain::audit::AuditAction;
use docent_domain::listing::AuditFilter;
use docent_ports::clock::Clock;
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::browser::{Browser, form_token};
use docent_tests::member::Member;
use docent_tests::reply::Reply;
use docent_tests::rules;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use totp_rs::Totp;

const TEN_MINUTES: Duration = Duration::from_secs(10 * 60);
const ROOT: Flags = Flags { is_staff: true, is_superuser: true };

/// Requests to the API that give or take away access, or send documents elsewhere, with their status on
/// success. Each changes something that [`Secret::state`] shows.
const SENSITIVE: [(&str, &str, &str, u16); 7] = [
    ("PUT", "/collections/COLLECTION/members", r#"{"email":"root@example.org","role":"manager"}"#, 200),
    ("PATCH", "/collections/COLLECTION", r#"{"role_of_all":"viewer"}"#, 200),
    ("POST", "/webhooks", r#"{"url":"https://evil.example/events"}"#, 201),
    ("PATCH", "/webhooks/WEBHOOK", r#"{"url":"https://evil.example/other"}"#, 200),
    ("PATCH", "/webhooks/WEBHOOK", r#"{"events":["document.failed"]}"#, 200),
    ("POST", "/webhooks/WEBHOOK/secret", "", 200),
    ("DELETE", "/collections/COLLECTION", "", 204),
];

/// Requests about the same records that anyone may send who may change them.
const HARMLESS: [(&str, &str, &str, u16); 4] = [
    ("PATCH", "/collections/COLLECTION", r#"{"name":"Other","description":"d"}"#, 200),
    ("PATCH", "/webhooks/WEBHOOK", r#"{"description":"d","active":false}"#, 200),
    ("DELETE", "/collections/COLLECTION/members/MEMBER", "", 204),
    ("DELETE", "/webhooks/WEBHOOK", "", 204),
];

/// A collection of Ada's with a member, and a webhook of a superuser.
struct Secret {
    app: TestApp,
    ada: Member,
    root: Member,
    collection: String,
    webhook: String,
    member: String,
}

impl Secret {
    async fn new(app: &TestApp) -> Self {
        let id = |reply: Reply| reply.json()["id"].as_str().unwrap().to_owned();
        let (ada, root, bob) = (app.ada().await, app.superuser().await, app.member("bob@example.org").await);
        let collection = id(ada.post("/collections", json!({ "name": "Secret" })).await.expect(201));
        let member = json!({ "email": "bob@example.org", "role": "viewer" });
        let _ = ada.put(&format!("/collections/{collection}/members"), member).await.expect(200);
        let webhook = id(root.post("/webhooks", json!({ "url": "https://example.org/a" })).await.expect(201));
        let member = bob.user.id.to_string();
        Self { app: app.clone(), ada, root, collection, webhook, member }
    }

    /// Returns the method, path and body of a request about these records.
    fn request<'a>(
        &self,
        (method, path, body, _): (&'a str, &str, &'a str, u16),
    ) -> (Method, String, &'a str) {
        let path = path.replace("COLLECTION", &self.collection).replace("WEBHOOK", &self.webhook);
        (method.parse().unwrap(), path.replace("MEMBER", &self.member), body)
    }

    /// Sends a request as the web chat does.
    async fn send(&self, browser: &mut Browser, case: (&str, &str, &str, u16)) -> Reply {
        let (method, path, body) = self.request(case);
        browser.send(self.app.request(method, &path).body(body.to_owned())).await
    }

    /// Sends a request with an access token or an API key.
    async fn send_with(&self, credential: &str, case: (&str, &str, &str, u16)) -> Reply {
        let (method, path, body) = self.request(case);
        self.app.send(self.app.request(method, &path).bearer_auth(credential).body(body.to_owned())).await
    }

    /// Returns all that the requests could change. The audit log shows a new secret.
    async fn state(&self) -> Vec<Value> {
        let get = async |by: &Member, path: &str| by.get(path).await.json();
        let ada = Member::login(&self.app, self.ada.user.clone()).await;
        let root = Member::login(&self.app, self.root.user.clone()).await;
        let changes = self.app.audit(AuditFilter::default()).await;
        let changes = changes.iter().filter(|entry| entry.action != AuditAction::Login).count();
        vec![
            get(&ada, &format!("/collections/{}", self.collection)).await,
            get(&ada, &format!("/collections/{}/members", self.collection)).await,
            get(&root, "/webhooks").await,
            json!(changes),
        ]
    }
}

rules! {
    async fn keys_need_the_password_after_ten_minutes(setup) {
        let app = setup.api_keys().start().await;
        let (mut ada, _) = ada(&app).await;
        app.advance(TEN_MINUTES - Duration::from_secs(1));
        let token = form_token(&ada.get("/account/api-keys/add").await.expect(200));
        app.advance(Duration::from_secs(1));
        let key = [("form_token", token.as_str()), ("name", "CI"), ("scopes", "read")];
        let reply = ada.post("/account/api-keys/add", &key).await.expect(307);
        assert_eq!(reply.header("location"), "/account/confirm?action=%2Faccount%2Fapi-keys%2Fadd");
        let confirm = ada.get("/account/api-keys/add").await.expect(303).header("location").to_owned();
        assert_eq!(confirm, "/account/confirm?next=%2Faccount%2Fapi-keys%2Fadd");
        assert!(ada.get("/account/api-keys").await.expect(200).text.contains("No API keys"));
        let token = form_token(&ada.get(&confirm).await.expect(200));
        let submit = async |browser: &mut Browser, proof: &str| {
            let fields =
                [("form_token", token.as_str()), ("next", "/account/api-keys/add"), ("proof", proof)];
            browser.post("/account/confirm", &fields).await
        };
        assert!(submit(&mut ada, "").await.expect(422).text.contains("must not be empty"));
        assert!(submit(&mut ada, "wrong").await.expect(422).text.contains("is incorrect"));
        let reply = submit(&mut ada, PASSWORD).await.expect(303);
        assert_eq!(reply.header("location"), "/account/api-keys/add");
        let _ = ada.get("/account/api-keys/add").await.expect(200);
    }

    async fn rights_links_and_exports_need_the_password_after_ten_minutes(setup) {
        let app = setup.start().await;
        let user = app.account(ADA, Flags::default()).await;
        app.account("root@example.org", ROOT).await;
        let mut root = Browser::new(&app);
        let _ = root.login("root@example.org", PASSWORD).await.expect(303);
        let token = form_token(&root.get("/admin/users/add").await.expect(200));
        app.advance(TEN_MINUTES);
        let account = format!("/admin/users/{}", user.id);
        let [delete, limits, password] = ["delete", "limits", "password"].map(|form| format!("{account}/{form}"));
        for page in
            ["/admin/users/add", "/admin/groups/add", "/admin/usage.csv", "/admin/usage%2Ecsv", &delete, &limits, &password]
        {
            for reply in [root.get(page).await.expect(303), root.head(page).await.expect(303)] {
                let proof = reply.header("location").starts_with("/account/confirm?next=%2Fadmin%2F");
                assert!(proof, "{page}: {}", reply.header("location"));
            }
        }
        let id = user.id.to_string();
        for (action, fields) in [
            (account.as_str(), [("email", "eve@example.org"), ("is_staff", "on")]),
            (&delete, [("", ""), ("", "")]),
            ("/admin/groups/00000000-0000-4000-8000-000000000000/delete", [("", ""), ("", "")]),
            (&limits, [("answers", "0"), ("tokens_per_day", "0")]),
            ("/admin/users/add", [("email", "no address"), ("password", "short")]),
            ("/admin/verifications/add", [("user", id.as_str()), ("purpose", "reset_password")]),
        ] {
            let fields = [&[("form_token", token.as_str())][..], &fields].concat();
            let reply = root.post(action, &fields).await.expect(307);
            assert!(reply.header("location").starts_with("/account/confirm?action=%2Fadmin%2F"), "{action}");
        }
        let page = root.get(&account).await.expect(200).text;
        assert!(page.contains(ADA) && !page.contains("eve@example.org"), "viewing needs no proof, and nothing changed");
    }

    async fn export_starts_on_its_page_after_the_password(setup) {
        let app = setup.start().await;
        app.account("root@example.org", ROOT).await;
        let mut root = Browser::new(&app);
        let _ = root.login("root@example.org", PASSWORD).await.expect(303);
        app.advance(TEN_MINUTES);
        let file = "/admin/usage.csv?by=user";
        let confirm = root.get(file).await.expect(303).header("location").to_owned();
        let token = form_token(&root.get(&confirm).await.expect(200));
        let fields = [("form_token", token.as_str()), ("next", file), ("proof", PASSWORD)];
        let reply = root.post("/account/confirm", &fields).await.expect(303);
        assert_eq!(reply.header("location"), "/admin/usage?by=user");
        let download = format!("http-equiv=\"refresh\" content=\"0; url={file}\"");
        let page = root.get("/admin/usage?by=user").await.expect(200).text;
        assert!(page.contains(&download) && page.contains(&format!("<a href=\"{file}\">")), "{page}");
        let _ = root.get(file).await.expect(200);
        // Once only: a reload of the page does not download the file again.
        assert!(!root.get("/admin/usage?by=user").await.expect(200).text.contains(&download));
    }

    async fn export_starts_on_its_page_after_signing_in(setup) {
        let app = setup.start().await;
        app.account("root@example.org", ROOT).await;
        let mut root = Browser::new(&app);
        let sign_in = root.get("/admin/answers.jsonl?kind=up").await.expect(303).header("location").to_owned();
        let token = form_token(&root.get(&sign_in).await.expect(200));
        let fields = [
            ("form_token", token.as_str()),
            ("email", "root@example.org"),
            ("password", PASSWORD),
            ("next", "/admin/answers.jsonl?kind=up"),
        ];
        let reply = root.post("/admin/login", &fields).await.expect(303);
        assert_eq!(reply.header("location"), "/admin/answers?kind=up");
        let page = root.get("/admin/answers?kind=up").await.expect(200).text;
        assert!(page.contains("url=/admin/answers.jsonl?kind=up"), "{page}");
    }

    async fn ending_other_sessions_is_no_proof(setup) {
        let app = setup.api_keys().start().await;
        let (mut ada, _) = ada(&app).await;
        app.advance(TEN_MINUTES);
        let token = form_token(&ada.get("/account/sessions").await.expect(200));
        let _ = ada.post("/account/sessions/end-others", &[("form_token", &token)]).await.expect(303);
        let _ = ada.get("/account/api-keys/add").await.expect(303);
    }

    async fn wrong_proofs_are_rate_limited(setup) {
        let app = setup.start().await;
        let (mut ada, _) = ada(&app).await;
        let token = form_token(&ada.get("/account/confirm").await.expect(200));
        for _ in 0..10 {
            let _ = ada.post("/account/confirm", &[("form_token", &token), ("proof", "000000")]).await.expect(422);
        }
        let _ = ada.post("/account/confirm", &[("form_token", &token), ("proof", PASSWORD)]).await.expect(429);
    }

    async fn form_without_a_recent_proof_is_kept_and_sent_after_it(setup) {
        let app = setup.start().await;
        app.account("root@example.org", ROOT).await;
        let mut root = at_account(&app, "root@example.org").await;
        let token = form_token(&root.get("/admin/groups/add").await.expect(200));
        app.advance(TEN_MINUTES);
        // As a browser does, the test sends the same form to the page that it is redirected to.
        let form = [
            ("form_token", token.as_str()),
            ("name", "R&D <\"team\">"),
            ("permissions", "documents.view_document"),
            ("permissions", "documents.add_document"),
        ];
        let confirm = root.post("/admin/groups/add", &form).await.expect(307).header("location").to_owned();
        let page = root.post(&confirm, &form).await.expect(200).text;
        assert!(page.contains("What you entered is kept"), "{page}");
        assert!(page.contains("action=\"/account/confirm?action=%2Fadmin%2Fgroups%2Fadd\""), "{page}");
        let hidden = |name: &str, value: &str| format!("<input type=\"hidden\" name=\"{name}\" value=\"{value}\">");
        for (name, value) in [
            ("name", "R&amp;D &lt;&quot;team&quot;&gt;"),
            ("permissions", "documents.view_document"),
            ("permissions", "documents.add_document"),
        ] {
            assert!(page.contains(&hidden(name, value)), "{name}: {page}");
        }
        let prove = async |root: &mut Browser, proof: &str| {
            root.post(&confirm, &[&form[..], &[("proof", proof)]].concat()).await
        };
        assert!(prove(&mut root, "").await.expect(422).text.contains(&hidden("permissions", "documents.add_document")));
        let page = prove(&mut root, "mistyped").await.expect(422).text;
        assert!(page.contains("is incorrect") && !page.contains("mistyped"), "{page}");
        assert!(!root.get("/admin/groups").await.expect(200).text.contains("R&amp;D"));
        let reply = prove(&mut root, PASSWORD).await.expect(307);
        assert_eq!(reply.header("location"), "/admin/groups/add");
        let reply = root.post("/admin/groups/add", &[&form[..], &[("proof", PASSWORD)]].concat()).await.expect(303);
        let group = root.get(reply.header("location")).await.expect(200).text;
        assert!(group.contains("R&amp;D") && !group.contains(PASSWORD), "{group}");
    }

    async fn form_of_the_proof_sends_nothing_to_other_places(setup) {
        let app = setup.start().await;
        let (mut ada, _) = ada(&app).await;
        let token = form_token(&ada.get("/account/confirm").await.expect(200));
        for action in ["https://evil.example/", "//evil.example/", "/chat", "/account/login", ""] {
            let encoded = action.replace(':', "%3A").replace('/', "%2F");
            let fields = [("form_token", token.as_str()), ("proof", PASSWORD)];
            let reply = ada.post(&format!("/account/confirm?action={encoded}"), &fields).await.expect(303);
            assert_eq!(reply.header("location"), "/account", "{action}");
        }
        // Nor does a link with an action: only a form of the session can name one.
        let page = ada.get("/account/confirm?action=%2Faccount%2Fsessions%2Fend-others").await.expect(200).text;
        assert!(page.contains("action=\"/account/confirm\"") && !page.contains("end-others"), "{page}");
        let other = [("form_token", "of another site"), ("proof", PASSWORD)];
        let _ = ada.post("/account/confirm?action=%2Faccount%2Fsessions%2Fend-others", &other).await.expect(403);
    }

    async fn role_of_all_needs_the_password_and_a_name_does_not(setup) {
        let app = setup.start().await;
        let secret = Secret::new(&app).await;
        let mut root = at_account(&app, "root@example.org").await;
        let path = format!("/admin/collections/{}", secret.collection);
        let token = form_token(&root.get(&path).await.expect(200));
        app.advance(TEN_MINUTES);
        let page = root.get(&path).await.expect(200).text;
        assert!(page.contains("role_of_all") && page.contains("/delete"), "the page offers what needs a proof");
        let form = |role| [("form_token", token.as_str()), ("name", "Renamed"), ("role_of_all", role)];
        let _ = root.post(&path, &form("")).await.expect(303);
        let reply = root.post(&path, &form("viewer")).await.expect(307);
        assert!(reply.header("location").starts_with("/account/confirm?action=%2Fadmin%2Fcollections%2F"));
        let collection = secret.state().await.swap_remove(0);
        assert_eq!((&collection["name"], &collection["role_of_all"]), (&json!("Renamed"), &Value::Null));
    }

    async fn api_asks_an_old_session_for_a_proof_and_changes_nothing(setup) {
        let app = setup.start().await;
        let secret = Secret::new(&app).await;
        let mut root = Browser::in_chat(&app, "root@example.org", PASSWORD).await;
        app.advance(TEN_MINUTES);
        let before = secret.state().await;
        for case in SENSITIVE {
            let reply = secret.send(&mut root, case).await.expect(403);
            assert_eq!(reply.json()["code"], "proof_needed", "{case:?}");
            assert!(reply.json()["detail"].as_str().unwrap().contains("password"), "{}", reply.text);
        }
        assert_eq!(secret.state().await, before);
        for case in HARMLESS {
            let _ = secret.send(&mut root, case).await.expect(case.3);
        }
    }

    async fn api_accepts_a_session_after_the_proof(setup) {
        let app = setup.start().await;
        let secret = Secret::new(&app).await;
        let mut root = Browser::in_chat(&app, "root@example.org", PASSWORD).await;
        app.advance(TEN_MINUTES);
        let _ = secret.send(&mut root, SENSITIVE[0]).await.expect(403);
        let _ = root.post("/chat/session/confirm", &[("proof", PASSWORD)]).await.expect(204);
        for case in SENSITIVE {
            let _ = secret.send(&mut root, case).await.expect(case.3);
        }
    }

    async fn access_tokens_and_api_keys_need_no_proof(setup) {
        let app = setup.api_keys().start().await;
        let secret = Secret::new(&app).await;
        let key = app.api_key(secret.root.user.id, &["admin", "ingest"]).await.key;
        app.advance(TEN_MINUTES);
        for credential in [&secret.root.access, &key] {
            for case in &SENSITIVE[..6] {
                let _ = secret.send_with(credential, *case).await.expect(case.3);
            }
        }
        let _ = secret.send_with(&key, SENSITIVE[6]).await.expect(204);
        // A token that is sent with an old cookie is the credential of the request.
        let mut root = Browser::in_chat(&app, "root@example.org", PASSWORD).await;
        app.advance(TEN_MINUTES);
        let token = Member::login(&app, secret.root.user.clone()).await.access;
        let request = app.request(Method::POST, "/webhooks").bearer_auth(token);
        let _ = root.send(request.json(&json!({ "url": "https://example.org/b" }))).await.expect(201);
    }

    async fn missing_permission_is_no_reason_to_ask_for_a_proof(setup) {
        let app = setup.start().await;
        let secret = Secret::new(&app).await;
        app.account("eve@example.org", Flags::default()).await;
        let mut eve = Browser::in_chat(&app, "eve@example.org", PASSWORD).await;
        app.advance(TEN_MINUTES);
        for case in [SENSITIVE[0], SENSITIVE[1], SENSITIVE[6]] {
            let reply = secret.send(&mut eve, case).await.expect(404);
            assert_eq!(reply.json(), json!({ "detail": "Collection not found" }));
        }
    }

    async fn web_chat_confirms_with_the_password_or_a_code(setup) {
        let app = setup.start().await;
        let user = app.account(ADA, Flags::default()).await;
        let actor = Actor::of(&user).unwrap();
        let enrolment = second_factor::begin(&app.app, &actor, "Docent").await.unwrap();
        let totp = Totp::from_url(&enrolment.uri).unwrap();
        let code = |app: &TestApp| totp.generate(u64::try_from(app.clock.now().timestamp()).unwrap()).to_string();
        let recovery_code = second_factor::confirm(&app.app, &actor, &code(&app)).await.unwrap().0.swap_remove(0);
        app.advance(Duration::from_secs(60));
        let mut chat = at_account(&app, ADA).await;
        let form = form_token(&chat.get("/account/login/code").await.expect(200));
        let present = code(&app);
        let _ = chat.post("/account/login/code", &[("form_token", &form), ("code", &present)]).await.expect(303);
        chat.account = Some(user.id.to_string());
        let is_asked = async |chat: &mut Browser| {
            let webhook = json!({ "url": "https://example.org/a" });
            chat.send_json(Method::POST, "/webhooks", &webhook).await.status == 403
        };
        let confirm = async |chat: &mut Browser, proof: &str| {
            chat.post("/chat/session/confirm", &[("proof", proof)]).await
        };
        for proof in [PASSWORD.to_owned(), "".to_owned(), recovery_code] {
            app.advance(TEN_MINUTES);
            assert!(is_asked(&mut chat).await);
            for wrong in ["", "000000", "wrong"] {
                let error = confirm(&mut chat, wrong).await.expect(422).json();
                assert_eq!(error["errors"][0]["loc"], json!(["body", "proof"]));
            }
            assert!(is_asked(&mut chat).await, "a wrong one proves nothing");
            let proof = if proof.is_empty() { code(&app) } else { proof };
            let _ = confirm(&mut chat, &proof).await.expect(204);
            assert!(!is_asked(&mut chat).await);
        }
    }

    async fn only_the_web_chat_of_the_account_confirms(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        let mut chat = Browser::in_chat(&app, ADA, PASSWORD).await;
        app.advance(TEN_MINUTES);
        let confirm = async |browser: &mut Browser, headers: &[(&'static str, &'static str)]| {
            let mut request = app.request(Method::POST, "/chat/session/confirm");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let form = "application/x-www-form-urlencoded";
            browser.send(request.header("Content-Type", form).body("proof=correct%20horse")).await.status
        };
        assert_eq!(confirm(&mut chat.with_account(None), &[]).await, 403, "without the header");
        assert_eq!(confirm(&mut chat.clone(), &[("Sec-Fetch-Site", "cross-site")]).await, 403);
        assert_eq!(confirm(&mut Browser::new(&app).with_account(Some("none")), &[]).await, 401, "no session");
        let grace = app.account("grace@example.org", Flags::default()).await.id.to_string();
        assert_eq!(confirm(&mut chat.with_account(Some(&grace)), &[]).await, 401, "another account");
        let webhook = json!({ "url": "https://example.org/a" });
        let _ = chat.send_json(Method::POST, "/webhooks", &webhook).await.expect(403);
        assert_eq!(confirm(&mut chat, &[]).await, 204);
        let _ = chat.send_json(Method::POST, "/webhooks", &webhook).await.expect(201);
    }

    async fn wrong_proofs_in_the_web_chat_are_rate_limited(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        let mut chat = Browser::in_chat(&app, ADA, PASSWORD).await;
        for _ in 0..10 {
            let _ = chat.post("/chat/session/confirm", &[("proof", "000000")]).await.expect(422);
        }
        let reply = chat.post("/chat/session/confirm", &[("proof", PASSWORD)]).await.expect(429);
        assert_ne!(reply.header("retry-after"), "");
    }
}
