//! API keys: `Authorization: Bearer dk_…`, or `X-API-Key`.

use docent_app::accounts::api_keys::{ApiKeyInput, NewApiKey};
use docent_app::accounts::create::Flags;
use docent_app::audit::Initiator;
use docent_domain::api_key::{ApiKeyName, ApiKeyScopes};
use docent_domain::audit::AuditAction;
use docent_domain::group::AssignedPermissions;
use docent_domain::listing::{AuditFilter, PageRequest, UsageFilter, UsageGrouping};
use docent_domain::permission::{Permission, RecordKind};
use docent_domain::user::User;
use docent_ports::clock::Clock;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::member::{form, question_body};
use docent_tests::pdf::pdf;
use docent_tests::reply::Reply;
use docent_tests::{rules, wait};
use reqwest::{Method, RequestBuilder};
use serde_json::json;
use std::time::Duration;

const DETAIL: &str = "Could not validate credentials";

async fn ada(app: &TestApp) -> User {
    app.account("ada@example.org", Flags::default()).await
}

/// Lists documents with this value in `Authorization: Bearer`.
async fn with_bearer(app: &TestApp, credential: &str) -> Reply {
    app.send(app.request(Method::GET, "/documents").bearer_auth(credential)).await
}

/// Lists documents with this value in `X-API-Key`.
async fn with_header(app: &TestApp, key: &str) -> Reply {
    app.send(app.request(Method::GET, "/documents").header("X-API-Key", key)).await
}

/// Checks that the key is refused in either header.
async fn assert_refused(app: &TestApp, key: &str) {
    for reply in [with_bearer(app, key).await, with_header(app, key).await] {
        reply.refused(401, DETAIL);
        assert!(reply.header("www-authenticate").starts_with("Bearer"));
    }
}

async fn stored(app: &TestApp, key: &NewApiKey) -> docent_domain::api_key::ApiKey {
    app.ports.store.read().await.unwrap().api_keys().get(key.record.id).await.unwrap().unwrap()
}

rules! {
    async fn key_is_accepted_in_either_header(setup) {
        let app = setup.api_keys().start().await;
        let key = app.api_key(ada(&app).await.id, &["read"]).await.key;
        let _ = with_bearer(&app, &key).await.expect(200);
        let _ = with_header(&app, &key).await.expect(200);
        let _ = with_header(&app, &format!(" {key} ")).await.expect(200);
    }

    async fn keys_are_refused_unless_configured_as_auth_backend(setup) {
        let app = setup.start().await;
        let key = app.api_key(ada(&app).await.id, &["read"]).await.key;
        assert_refused(&app, &key).await;
    }

    async fn tokens_are_refused_when_only_keys_are_accepted(setup) {
        let app = setup.api_keys().settings(|settings| settings.accepts_jwt = false).start().await;
        let ada = app.ada().await;
        ada.get("/documents").await.refused(401, DETAIL);
        let key = app.api_key(ada.user.id, &["read"]).await.key;
        let _ = with_bearer(&app, &key).await.expect(200);
    }

    async fn unknown_or_altered_key_is_refused(setup) {
        let app = setup.api_keys().start().await;
        let user = ada(&app).await;
        let (key, other) = (app.api_key(user.id, &["read"]).await.key, app.api_key(user.id, &["read"]).await.key);
        let (prefix, secret) = key.rsplit_once('_').unwrap();
        let last = if key.ends_with('a') { "b" } else { "a" };
        for wrong in [
            "dk_".to_owned(),
            "dk_abcdefghijkm_".to_owned(),
            format!("dk_abcdefghijkm_{secret}"),
            format!("{prefix}_{}", other.rsplit_once('_').unwrap().1),
            format!("{}{last}", &key[..key.len() - 1]),
            format!("{key}a"),
            key[..key.len() - 1].to_owned(),
            key.to_uppercase(),
            prefix.to_owned(),
        ] {
            assert_refused(&app, &wrong).await;
        }
        let _ = with_bearer(&app, &key).await.expect(200);
    }

    async fn key_expires_at_its_exact_second(setup) {
        let app = setup.api_keys().start().await;
        let user = ada(&app).await.id;
        let (name, scopes) = (ApiKeyName::parse("short").unwrap(), ApiKeyScopes::parse(["read"]).unwrap());
        let expires_at = Some(app.clock.now() + Duration::from_secs(60));
        let request = ApiKeyInput { user, name, scopes, collections: None, expires_at };
        let key = app.app.account_service().create_api_key(&Initiator::command_line(), request).await.unwrap().key;
        app.advance(Duration::from_secs(59));
        let _ = with_bearer(&app, &key).await.expect(200);
        app.advance(Duration::from_secs(1));
        assert_refused(&app, &key).await;
    }

    async fn revoked_key_is_refused_immediately_and_others_keep_working(setup) {
        let app = setup.api_keys().start().await;
        let user = ada(&app).await;
        let (key, other) = (app.api_key(user.id, &["read"]).await, app.api_key(user.id, &["read"]).await);
        let _ = with_bearer(&app, &key.key).await.expect(200);
        app.app.account_service().revoke_api_key(&Initiator::command_line(), key.record.id).await.unwrap();
        assert_refused(&app, &key.key).await;
        let _ = with_bearer(&app, &other.key).await.expect(200);
        let filter = AuditFilter { kind: Some(RecordKind::ApiKey), ..AuditFilter::default() };
        let entries = app.audit(filter).await;
        let revoked = entries.iter().find(|entry| entry.action == AuditAction::Revoke).unwrap();
        assert_eq!(revoked.record, key.record.id.to_string());
        assert!(!format!("{entries:?}").contains(key.key.rsplit_once('_').unwrap().1), "the audit log contains no secret");
    }

    async fn key_of_a_deactivated_account_is_refused(setup) {
        let app = setup.api_keys().start().await;
        let user = ada(&app).await;
        let key = app.api_key(user.id, &["read", "admin"]).await.key;
        app.app.account_service().set_active(&Initiator::command_line(), user.id, false).await.unwrap();
        assert_refused(&app, &key).await;
        app.app.account_service().set_active(&Initiator::command_line(), user.id, true).await.unwrap();
        let _ = with_bearer(&app, &key).await.expect(200);
    }

    // Invariant: Every route requires its API key scope.
    async fn route_requires_its_scope(setup) {
        let app = setup.api_keys().always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["words"])).await;
        app.leave_jobs();
        let send = async |scope: &str, request: RequestBuilder| {
            let key = app.api_key(ada.user.id, &[scope]).await.key;
            app.send(request.bearer_auth(key)).await.status
        };
        for scope in ["read", "ingest", "chat", "admin"] {
            let own = format!("/documents/{id}");
            let get = |path: &str| app.request(Method::GET, path);
            let status = |needed: &str, success: u16| if scope == needed { success } else { 403 };
            for path in ["/documents", &own, &format!("{own}/report")] {
                assert_eq!(send(scope, get(path)).await, status("read", 200), "{scope} {path}");
            }
            let search = app.request(Method::POST, "/search").json(&json!({ "query": "q" }));
            assert_eq!(send(scope, search).await, status("read", 200), "{scope}");
            let create = app.request(Method::POST, "/documents").json(&json!({ "title": "t" }));
            assert_eq!(send(scope, create).await, status("ingest", 201), "{scope}");
            let upload = app.request(Method::POST, "/documents/upload");
            let upload = upload.multipart(form("b.pdf", "application/pdf", pdf(&["more"])));
            assert_eq!(send(scope, upload).await, status("ingest", 202), "{scope}");
            let ask = app.request(Method::POST, "/agents/chat").json(&question_body("q"));
            assert_eq!(send(scope, ask).await, status("chat", 200), "{scope}");
            let retry = app.request(Method::POST, &format!("{own}/retry"));
            assert_eq!(send(scope, retry).await, status("ingest", 409), "{scope}");
            let logout = app.request(Method::POST, "/auth/logout").json(&json!({ "refresh_token": ada.refresh }));
            assert_eq!(send(scope, logout).await, 403, "{scope}: a key cannot end a session");
        }
    }

    async fn key_with_only_the_chat_scope_gets_answers_from_documents(setup) {
        let app = setup.api_keys().script([Turn::searching("zebra"), Turn::saying("In Africa.")]).start().await;
        let ada = app.ada().await;
        ada.add("a.pdf", pdf(&["The zebra lives in Africa."])).await;
        app.run_jobs().await;
        let key = app.api_key(ada.user.id, &["chat"]).await.key;
        let mut body = question_body("Where does the zebra live?");
        body["include_sources"] = json!(true);
        let ask = app.request(Method::POST, "/agents/chat").json(&body).bearer_auth(&key);
        let reply = app.send(ask).await.expect(200);
        assert_eq!(reply.event("sources").unwrap()["results"][0]["title"], "a.pdf");
        let search = app.request(Method::POST, "/search").json(&json!({ "query": "zebra" })).bearer_auth(&key);
        assert_eq!(app.send(search).await.status, 403, "the key alone cannot search");
    }

    async fn deleting_own_documents_requires_the_ingest_scope(setup) {
        let app = setup.api_keys().start().await;
        let ada = app.ada().await;
        let (own, others) = (ada.add("a.pdf", pdf(&["words"])).await, app.member("bob@example.org").await);
        let theirs = others.add("b.pdf", pdf(&["words"])).await;
        app.leave_jobs();
        let delete = async |key: &str, id: &str| {
            let request = app.request(Method::DELETE, &format!("/documents/{id}")).bearer_auth(key);
            app.send(request).await.status
        };
        let all_but = app.api_key(ada.user.id, &["read", "chat", "admin"]).await.key;
        assert_eq!(delete(&all_but, &own).await, 403);
        let ingest = app.api_key(ada.user.id, &["ingest"]).await.key;
        assert_eq!(delete(&ingest, &theirs).await, 403);
        assert_eq!(delete(&ingest, &own).await, 204);
    }

    async fn key_with_the_admin_scope_has_the_accounts_permissions(setup) {
        let app = setup.api_keys().start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let (first, second) = (bob.add("a.pdf", pdf(&["a"])).await, bob.add("b.pdf", pdf(&["b"])).await);
        app.leave_jobs();
        let delete = async |credential: &str, id: &str| {
            let request = app.request(Method::DELETE, &format!("/documents/{id}")).bearer_auth(credential);
            app.send(request).await.status
        };
        let key = app.api_key(ada.user.id, &["admin"]).await.key;
        let ingest = app.api_key(ada.user.id, &["ingest"]).await.key;
        assert_eq!(delete(&key, &first).await, 403, "the account lacks the permission");
        let permissions = [Permission::DeleteDocument].into_iter().collect();
        let mut work = app.ports.store.begin().await.unwrap();
        work.groups().set_assigned_permissions(ada.user.id, &AssignedPermissions { permissions, ..AssignedPermissions::default() }).await.unwrap();
        work.commit().await.unwrap();
        assert_eq!(delete(&ingest, &first).await, 403, "the key lacks the scope");
        assert_eq!(delete(&key, &first).await, 204);
        assert_eq!(delete(&ada.access, &second).await, 204);
    }

    async fn superusers_key_without_the_scope_is_refused(setup) {
        let app = setup.api_keys().start().await;
        let root = app.superuser().await;
        let key = app.api_key(root.user.id, &["admin"]).await.key;
        with_bearer(&app, &key).await.refused(403, "The API key lacks the scope `read`");
    }

    async fn usage_record_names_the_key(setup) {
        let app = setup.api_keys().always(Turn::saying("hello world")).start().await;
        let user = ada(&app).await;
        let key = app.api_key(user.id, &["chat"]).await;
        let ask = app.request(Method::POST, "/agents/chat").json(&question_body("q"));
        let _ = app.send(ask.header("X-API-Key", &key.key)).await.expect(200);
        wait::until("usage is recorded", async || app.usage(user.id).await.completion > 0).await;
        let grouping = UsageGrouping { by_key: true, ..UsageGrouping::default() };
        let mut view = app.ports.store.read().await.unwrap();
        let sums = view.usage().sums(&UsageFilter::default(), grouping, PageRequest { offset: 0, limit: 9 }).await.unwrap();
        let by_key: Vec<_> = sums.records.iter().map(|sum| (sum.api_key, sum.answers)).collect();
        assert_eq!(by_key, [(Some(key.record.id), 1)]);
    }

    async fn last_use_is_recorded_at_most_once_a_minute(setup) {
        let app = setup.api_keys().start().await;
        let key = app.api_key(ada(&app).await.id, &["read"]).await;
        assert_eq!(stored(&app, &key).await.last_used_at, None);
        let first = app.clock.now();
        let _ = with_bearer(&app, &key.key).await.expect(200);
        app.advance(Duration::from_secs(59));
        let _ = with_bearer(&app, &key.key).await.expect(200);
        assert_eq!(stored(&app, &key).await.last_used_at, Some(first));
        app.advance(Duration::from_secs(1));
        let _ = with_bearer(&app, &key.key).await.expect(200);
        assert_eq!(stored(&app, &key).await.last_used_at, Some(app.clock.now()));
    }

    async fn bearer_token_takes_precedence_over_the_key_header(setup) {
        let app = setup.api_keys().start().await;
        let ada = app.ada().await;
        let chat_only = app.api_key(ada.user.id, &["chat"]).await.key;
        let both = |token: &str, key: &str| {
            app.request(Method::GET, "/documents").bearer_auth(token).header("X-API-Key", key)
        };
        let _ = app.send(both(&ada.access, &chat_only)).await.expect(200);
        let valid = app.api_key(ada.user.id, &["read"]).await.key;
        app.send(both("nonsense", &valid)).await.refused(401, DETAIL);
        app.send(both(&chat_only, &valid)).await.refused(403, "The API key lacks the scope `read`");
        for other in ["Basic YWRhOnNlY3JldA==", "Negotiate abc", "Bearer", ""] {
            let request = app.request(Method::GET, "/documents").header("Authorization", other);
            let _ = app.send(request.header("X-API-Key", &valid)).await.expect(200);
            let request = app.request(Method::GET, "/documents").header("Authorization", other);
            app.send(request).await.refused(401, DETAIL);
        }
        let token = app.request(Method::GET, "/documents").header("X-API-Key", &ada.access);
        app.send(token).await.refused(401, DETAIL);
    }
}
