//! `POST /auth/password-reset`, `POST /auth/password-reset/confirm`, `/account/reset-password`

use docent_app::accounts::create::Flags;
use docent_app::accounts::verification::{self, NewLink};
use docent_app::audit::Initiator;
use docent_app::error::Error;
use docent_domain::access::Actor;
use docent_domain::audit::{AuditAction, AuditActor};
use docent_domain::fault::FaultKind;
use docent_domain::group::AssignedPermissions;
use docent_domain::id::UserId;
use docent_domain::listing::{AuditFilter, PageRequest};
use docent_domain::permission::{Permission, PermissionSet, RecordKind};
use docent_domain::user::Password;
use docent_domain::verification::VerificationPurpose;
use docent_tests::app::{DATA, PASSWORD, TestApp};
use docent_tests::member::Member;
use docent_tests::reply::Reply;
use docent_tests::rules;
use reqwest::Method;
use serde_json::json;
use std::time::Duration;

const ADA: &str = "ada@example.org";
const REFUSED: &str = "This link is not valid: it was used, has expired or was revoked";
const NEW: &str = "password reset";

/// The permissions for the data of accounts.
fn data() -> PermissionSet {
    DATA.iter().copied().collect()
}

async fn request_link(app: &TestApp, email: &str) -> Reply {
    app.post("/auth/password-reset", json!({ "email": email })).await
}

async fn confirm(app: &TestApp, token: &str, password: &str) -> Reply {
    app.post("/auth/password-reset/confirm", json!({ "token": token, "password": password })).await
}

/// Requests a link and returns the token in the email.
async fn token(app: &TestApp, email: &str) -> String {
    let before = app.mails().await.len();
    let _ = request_link(app, email).await.expect(202);
    let mails = app.mails().await;
    assert_eq!(mails.len(), before + 1);
    token_in(&mails[before].text).to_owned()
}

fn token_in(text: &str) -> &str {
    text.split("/account/reset-password?token=").nth(1).unwrap().split_whitespace().next().unwrap()
}

/// Grants an account these permissions and that to create links.
async fn issuer(app: &TestApp, user: UserId, permissions: PermissionSet) -> Actor {
    let permissions = permissions.union([Permission::AddVerification].into_iter().collect());
    let mut work = app.ports.store.begin().await.unwrap();
    work.groups()
        .set_assigned_permissions(
            user,
            &AssignedPermissions { permissions, ..AssignedPermissions::default() },
        )
        .await
        .unwrap();
    let user = work.users().get(user).await.unwrap().unwrap();
    work.commit().await.unwrap();
    Actor::of(&user).unwrap().with_permissions(permissions)
}

/// Creates a link as a member of staff.
async fn issue(
    app: &TestApp,
    by: &Actor,
    user: UserId,
    purpose: VerificationPurpose,
) -> Result<NewLink, Error> {
    verification::issue(&app.app, by, &by.authorize().unwrap(), user, purpose).await
}

rules! {
    async fn emailed_link_sets_a_new_password(setup) {
        let app = setup.settings(|settings| settings.public_url = "https://docs.example.org".to_owned()).start().await;
        let ada = app.ada().await;
        app.advance(Duration::from_secs(1));
        let reply = request_link(&app, " Ada@Example.org ").await.expect(202);
        assert_eq!(reply.text, "");
        let [mail] = app.mails().await.try_into().unwrap();
        assert_eq!(mail.to.as_str(), ADA);
        assert!(mail.text.contains("https://docs.example.org/account/reset-password?token="), "{}", mail.text);
        let _ = ada.get("/documents").await.expect(200);
        let reply = confirm(&app, token_in(&mail.text), NEW).await.expect(204);
        assert_eq!(reply.text, "");
        app.login(ADA, PASSWORD).await.refused(401, "Invalid email or password");
        let _ = app.login(ADA, NEW).await.expect(200);
    }

    async fn reset_ends_all_sessions_and_is_audited(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        app.advance(Duration::from_secs(1));
        let token = token(&app, ADA).await;
        let _ = confirm(&app, &token, NEW).await.expect(204);
        ada.get("/documents").await.refused(401, "Could not validate credentials");
        let refresh = app.post("/auth/refresh", json!({ "refresh_token": ada.refresh })).await;
        refresh.refused(401, "Invalid refresh token");
        assert!(app.sessions(ada.user.id).await.iter().all(|session| session.revoked_at.is_some()));
        let filter = AuditFilter { action: Some(AuditAction::SetPassword), ..AuditFilter::default() };
        let [entry] = app.audit(filter).await.try_into().unwrap();
        assert_eq!(entry.actor, AuditActor::User { id: ada.user.id, email: ADA.to_owned(), api_key: None });
        assert_eq!(entry.client_ip, Some("127.0.0.1".parse().unwrap()));
        let filter = AuditFilter { kind: Some(RecordKind::Verification), ..AuditFilter::default() };
        let asked = app.audit(filter).await;
        assert_eq!((asked.len(), &asked[0].actor), (1, &AuditActor::Unauthenticated));
        assert!(!format!("{asked:?}").contains(&token));
    }

    // Invariant: An emailed link works once, and using it ends the account's others for the same purpose.
    async fn link_works_once(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        let token = token(&app, ADA).await;
        let attempts = futures::future::join_all((0..8).map(|_| confirm(&app, &token, NEW))).await;
        assert_eq!(attempts.iter().filter(|reply| reply.status == 204).count(), 1);
        confirm(&app, &token, "another password").await.refused(400, REFUSED);
        let _ = app.login(ADA, NEW).await.expect(200);
    }

    async fn link_expires_at_its_time(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        let (first, second) = (token(&app, ADA).await, Duration::from_secs(1));
        app.advance(Duration::from_secs(60 * 60));
        confirm(&app, &first, NEW).await.refused(400, REFUSED);
        let token = token(&app, ADA).await;
        app.advance(Duration::from_secs(60 * 60) - second);
        let _ = confirm(&app, &token, NEW).await.expect(204);
    }

    // Invariant: An emailed link works once, and using it ends the account's others for the same purpose.
    async fn newer_link_leaves_older_ones_valid_until_one_is_used(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        let (first, second) = (token(&app, ADA).await, token(&app, ADA).await);
        let _ = confirm(&app, &first, NEW).await.expect(204);
        confirm(&app, &second, "another password").await.refused(400, REFUSED);
    }

    async fn unknown_or_altered_link_is_refused(setup) {
        let app = setup.start().await;
        let user = app.account(ADA, Flags::default()).await;
        let valid = token(&app, ADA).await;
        let actor = issuer(&app, user.id, PermissionSet::EMPTY).await;
        let other = issue(&app, &actor, user.id, VerificationPurpose::VerifyEmail).await.unwrap();
        for wrong in ["", "x", &valid[1..], &valid.to_uppercase(), &other.token] {
            confirm(&app, wrong, NEW).await.refused(400, REFUSED);
        }
        let _ = confirm(&app, &valid, NEW).await.expect(204);
    }

    async fn refused_password_does_not_use_up_the_link(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        let token = token(&app, ADA).await;
        confirm(&app, &token, "short").await.invalid(&["body.password"]);
        confirm(&app, &token, &"x".repeat(1025)).await.invalid(&["body.password"]);
        app.post("/auth/password-reset/confirm", json!({})).await.invalid(&["body.token", "body.password"]);
        let _ = confirm(&app, &token, NEW).await.expect(204);
    }

    // Invariant: Requesting a link does not reveal whether an account exists.
    async fn unknown_and_inactive_accounts_get_the_same_response_and_no_email(setup) {
        let app = setup.start().await;
        let gone = app.account("gone@example.org", Flags::default()).await;
        app.deactivate(gone.id).await;
        for email in ["unknown@example.org", "gone@example.org"] {
            for n in 0..4 {
                let reply = request_link(&app, email).await;
                assert_eq!(reply.status, if n < 3 { 202 } else { 429 }, "{email}");
            }
        }
        app.post("/auth/password-reset", json!({ "email": "no address" })).await.invalid(&["body.email"]);
        assert!(app.mails().await.is_empty());
    }

    async fn link_of_a_deactivated_account_is_refused(setup) {
        let app = setup.start().await;
        let user = app.account(ADA, Flags::default()).await;
        let token = token(&app, ADA).await;
        app.app.account_service().set_active(&Initiator::command_line(), user.id, false).await.unwrap();
        confirm(&app, &token, NEW).await.refused(400, REFUSED);
    }

    async fn emails_to_an_account_are_rate_limited(setup) {
        let app = setup.http(|http| http.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()]).start().await;
        app.account(ADA, Flags::default()).await;
        let ask_from = async |address: &str| {
            let request = app.request(Method::POST, "/auth/password-reset").header("X-Forwarded-For", address);
            app.send(request.json(&json!({ "email": ADA }))).await
        };
        for _ in 0..3 {
            let _ = ask_from("192.0.2.1").await.expect(202);
        }
        let reply = ask_from("192.0.2.1").await;
        reply.refused(429, "Too Many Requests");
        assert_eq!(reply.header("retry-after"), "900");
        let _ = ask_from("192.0.2.2").await.expect(202);
        app.advance(Duration::from_secs(15 * 60));
        let _ = ask_from("192.0.2.1").await.expect(202);
    }

    async fn requests_of_others_neither_fill_the_mailbox_nor_keep_the_owner_from_a_link(setup) {
        let app = setup.http(|http| http.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()]).start().await;
        app.account(ADA, Flags::default()).await;
        let ask_from = async |address: String| {
            let request = app.request(Method::POST, "/auth/password-reset").header("X-Forwarded-For", address);
            app.send(request.json(&json!({ "email": ADA }))).await
        };
        for minute in 0..60 {
            let _ = ask_from(format!("192.0.2.{minute}")).await.expect(202);
            app.settle().await;
            app.advance(Duration::from_secs(60));
        }
        let _ = ask_from("198.51.100.1".to_owned()).await.expect(202);
        let mails = app.mails().await;
        // Three at once, and one when the newest of them was half an hour old.
        assert_eq!(mails.len(), 4);
        let _ = confirm(&app, token_in(&mails.last().unwrap().text), NEW).await.expect(204);
    }

    async fn mail_server_refusal_does_not_change_the_response(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        app.mailer.refuse_all();
        let _ = request_link(&app, ADA).await.expect(202);
        assert!(app.mails().await.is_empty());
    }

    async fn request_without_key_value_store_sends_nothing(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        app.faults.limiter.fail_all(FaultKind::Unavailable);
        for email in [ADA, "unknown@example.org"] {
            request_link(&app, email).await.refused(503, "The key-value store cannot be reached");
        }
        assert!(app.mails().await.is_empty());
    }

    async fn staff_create_links_without_a_mail_server(setup) {
        let app = setup.start().await;
        app.mailer.go_away();
        let (staff, ada) = (app.account("staff@example.org", Flags::default()).await, app.account(ADA, Flags::default()).await);
        let _ = request_link(&app, ADA).await.expect(202);
        let page = PageRequest { offset: 0, limit: 9 };
        app.settle().await;
        let made = app.ports.store.read().await.unwrap().verifications().list(None, page).await.unwrap();
        assert_eq!(made.total, 0, "no link that could not be delivered");
        let actor = issuer(&app, staff.id, data()).await;
        let new = issue(&app, &actor, ada.id, VerificationPurpose::ResetPassword).await.unwrap();
        assert_eq!(token_in(&new.link), new.token);
        assert!(!format!("{new:?}").contains(&new.token));
        let _ = confirm(&app, &new.token, NEW).await.expect(204);
        let filter = AuditFilter { kind: Some(RecordKind::Verification), ..AuditFilter::default() };
        let [entry] = app.audit(filter).await.try_into().unwrap();
        let by = AuditActor::User { id: staff.id, email: "staff@example.org".to_owned(), api_key: None };
        assert_eq!((entry.action, entry.actor), (AuditAction::Add, by));
    }

    // Invariant: No account can create a link for an account with more permissions.
    async fn link_for_an_account_with_more_permissions_is_refused(setup) {
        let app = setup.start().await;
        let staff = app.account("staff@example.org", Flags::default()).await;
        let root = app.account("root@example.org", Flags { is_staff: true, is_superuser: true }).await;
        let editor = app.account("editor@example.org", Flags::default()).await;
        let change: PermissionSet = [Permission::ChangeUser].into_iter().collect();
        issuer(&app, editor.id, change).await;
        for rights in [data(), change] {
            let limited = issuer(&app, staff.id, rights).await;
            for above in [root.id, editor.id] {
                let refused = issue(&app, &limited, above, VerificationPurpose::ResetPassword).await;
                assert!(matches!(refused, Err(Error::MissingAccess(_))), "{refused:?}");
                issue(&app, &limited, above, VerificationPurpose::VerifyEmail).await.unwrap();
            }
        }
        let equal = issuer(&app, staff.id, change.union(data())).await;
        issue(&app, &equal, editor.id, VerificationPurpose::ResetPassword).await.unwrap();
        let unlimited = Actor::of(&root).unwrap();
        issue(&app, &unlimited, root.id, VerificationPurpose::ResetPassword).await.unwrap();
    }

    async fn new_password_invalidates_the_link(setup) {
        let app = setup.start().await;
        let user = app.account(ADA, Flags::default()).await;
        let token = token(&app, ADA).await;
        let password = Password::parse_new("set by hand".to_owned()).unwrap();
        app.app.account_service().set_password(&Initiator::command_line(), user.id, password).await.unwrap();
        confirm(&app, &token, NEW).await.refused(400, REFUSED);
    }

    async fn link_page_works_without_a_script(setup) {
        let app = setup.start().await;
        let user = app.account(ADA, Flags::default()).await;
        let token = token(&app, ADA).await;
        let path = "/account/reset-password";
        let page = app.get(&format!("{path}?token={token}")).await.expect(200);
        assert!(page.header("content-type").starts_with("text/html"));
        assert_eq!(page.header("referrer-policy"), "no-referrer");
        assert!(page.text.contains(&format!("value=\"{token}\"")));
        let escaped = app.get(&format!("{path}?token=%22%3E%3Cscript%3E")).await.expect(200);
        assert!(!escaped.text.contains("<script"), "{}", escaped.text);
        let submit = async |password: &str| app.submit(path, &[("token", &token), ("password", password)]).await;
        assert!(submit("short").await.expect(422).text.contains("at least 8"));
        let _ = submit(NEW).await.expect(200);
        assert!(submit("another password").await.expect(400).text.contains("not valid"));
        let _ = app.login(ADA, NEW).await.expect(200);
        assert_eq!(Member::login_with(&app, user, NEW).await.user.email.as_str(), ADA);
    }

    async fn form_sends_a_link_to_accounts_only(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        let path = "/account/forgot-password";
        assert!(app.get(path).await.expect(200).text.contains("Send link"));
        let sent = app.submit(path, &[("email", ADA)]).await.expect(200).text;
        let unknown = app.submit(path, &[("email", "none@example.org")]).await.expect(200).text;
        assert!(sent.contains("Check your email") && sent == unknown);
        let [mail] = app.mails().await.try_into().unwrap();
        assert_eq!(mail.to.as_str(), ADA);
        let _ = confirm(&app, token_in(&mail.text), NEW).await.expect(204);

        let invalid = app.submit(path, &[("email", "\"><b>")]).await.expect(422).text;
        assert!(invalid.contains("This is not a valid email address.") && !invalid.contains("<b>"), "{invalid}");
        for _ in 0..2 {
            let _ = app.submit(path, &[("email", ADA)]).await.expect(200);
        }
        let many = app.submit(path, &[("email", ADA)]).await.expect(429);
        assert!(!many.header("retry-after").is_empty() && many.text.contains("Send link"), "{}", many.text);
    }

    async fn sign_in_pages_lead_to_the_form_or_to_an_administrator(setup) {
        let app = setup.start().await;
        let (link, sentence) = ("<a href=\"/account/forgot-password\">", "Ask an administrator for a link");
        for path in ["/account/login", "/admin/login"] {
            let page = app.get(path).await.expect(200).text;
            assert!(page.contains(link) && !page.contains(sentence), "{path}: {page}");
        }
        app.mailer.go_away();
        for path in ["/account/login", "/admin/login", "/account/forgot-password"] {
            let page = app.get(path).await.expect(200).text;
            assert!(!page.contains(link) && page.contains(sentence), "{path}: {page}");
        }
        let page = app.submit("/account/forgot-password", &[("email", ADA)]).await.expect(200).text;
        assert!(page.contains(sentence) && !page.contains("Send link"), "{page}");
    }
}
