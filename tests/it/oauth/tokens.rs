//! `/oauth/token` and `/oauth/revoke`

use super::{CALLBACK, Case, VERIFIER, is_error, list_documents, token, tokens_of, url_of, use_mcp};
use docent_tests::rules;
use serde_json::json;
use std::time::Duration;

rules! {
    async fn code_is_exchanged_for_tokens_of_the_account(setup) {
        let mut case = Case::new(setup.start().await).await;
        let code = case.code().await;
        let reply = case.exchange(&code, &[]).await.expect(200);
        assert_eq!(reply.header("cache-control"), "no-store");
        let body = reply.json();
        assert_eq!((&body["token_type"], &body["expires_in"], &body["scope"]), (&json!("Bearer"), &json!(900), &json!("read")));
        let (access, _) = tokens_of(&reply);
        let tools = use_mcp(&case.app, &access).await.expect(200).json();
        assert_eq!(tools["result"]["tools"][0]["name"], json!("search_docs"));
        case.app.advance(Duration::from_secs(900));
        let _ = use_mcp(&case.app, &access).await.expect(401);
    }

    async fn code_is_bound_to_verifier_redirect_uri_and_resource(setup) {
        let mut case = Case::new(setup.start().await).await;
        let code = case.code().await;
        let (api, long) = (url_of(&case.app, ""), "a".repeat(129));
        for (changes, error) in [
            ([("code_verifier", "")], "invalid_request"),
            ([("code_verifier", "wrong")], "invalid_grant"),
            ([("code_verifier", &*VERIFIER.to_lowercase())], "invalid_grant"),
            ([("code_verifier", super::CHALLENGE)], "invalid_grant"),
            ([("code_verifier", &*long)], "invalid_grant"),
            ([("redirect_uri", "https://client.example/other")], "invalid_grant"),
            ([("resource", &*api)], "invalid_target"),
            ([("resource", "https://other.example/mcp")], "invalid_target"),
            ([("client_id", "")], "invalid_request"),
            ([("code", "")], "invalid_request"),
            ([("code", "unknown")], "invalid_grant"),
            ([("grant_type", "")], "invalid_request"),
            ([("grant_type", "password")], "unsupported_grant_type"),
            ([("grant_type", "client_credentials")], "unsupported_grant_type"),
        ] {
            is_error(&case.exchange(&code, &changes).await, error);
        }
        // What the client may leave out.
        let _ = case.exchange(&code, &[("redirect_uri", ""), ("resource", "")]).await.expect(200);
    }

    async fn repeated_fields_and_other_bodies_are_refused(setup) {
        let mut case = Case::new(setup.start().await).await;
        let code = case.code().await;
        let fields = [
            ("grant_type", "authorization_code"), ("client_id", &*case.client), ("code", &*code),
            ("code", &*code), ("code_verifier", VERIFIER), ("redirect_uri", CALLBACK),
        ];
        is_error(&token(&case.app, &fields, &[]).await, "invalid_request");
        is_error(&case.app.post("/oauth/token", json!({ "grant_type": "refresh_token" })).await, "invalid_request");
        let _ = case.exchange(&code, &[]).await.expect(200);
    }

    async fn code_expires_after_a_minute(setup) {
        let mut case = Case::new(setup.start().await).await;
        let (first, second) = (case.code().await, case.code().await);
        case.app.advance(Duration::from_secs(59));
        let _ = case.exchange(&first, &[]).await.expect(200);
        case.app.advance(Duration::from_secs(1));
        is_error(&case.exchange(&second, &[]).await, "invalid_grant");
    }

    // Invariant: The second use of an authorization code or of a refresh token ends the access.
    async fn second_use_of_a_code_disconnects_the_application(setup) {
        let mut case = Case::new(setup.start().await).await;
        let code = case.code().await;
        let (access, refresh) = tokens_of(&case.exchange(&code, &[]).await.expect(200));
        let _ = use_mcp(&case.app, &access).await.expect(200);
        is_error(&case.exchange(&code, &[]).await, "invalid_grant");
        let _ = use_mcp(&case.app, &access).await.expect(401);
        is_error(&case.refresh(&refresh, &[]).await, "invalid_grant");
    }

    // Invariant: Access tokens of applications work only for their resource.
    async fn token_for_mcp_is_refused_by_the_api_and_not_the_reverse(setup) {
        let mut case = Case::new(setup.start().await).await;
        let (access, _) = case.connect().await;
        for path in ["/documents", "/collections", "/conversations", "/v1/models"] {
            let _ = case.app.send(case.app.request(reqwest::Method::GET, path).bearer_auth(&access)).await.expect(401);
        }
        let reply = list_documents(&case.app, &access).await;
        assert!(reply.header("www-authenticate").contains("error=\"invalid_token\""));
        let _ = use_mcp(&case.app, &access).await.expect(200);
        let (access, _) = case.connect_to_api(&["read"]).await;
        let _ = list_documents(&case.app, &access).await.expect(200);
        let _ = use_mcp(&case.app, &access).await.expect(200);
    }

    async fn scopes_are_enforced_as_those_of_keys(setup) {
        let mut case = Case::new(setup.start().await).await;
        let (access, _) = case.connect_to_api(&["chat"]).await;
        let get = async |path: &str| case.app.send(case.app.request(reqwest::Method::GET, path).bearer_auth(&access)).await;
        let _ = get("/conversations").await.expect(200);
        let reply = list_documents(&case.app, &access).await.expect(403);
        assert!(reply.header("www-authenticate").contains("error=\"insufficient_scope\", scope=\"read\""));
        let _ = use_mcp(&case.app, &access).await.expect(403);
        // The panel and the account pages accept no tokens.
        let _ = get("/account/api-keys").await.expect(303);
        let request = case.app.request(reqwest::Method::POST, "/auth/logout").bearer_auth(&access);
        let _ = case.app.send(request.json(&json!({ "refresh_token": "x" }))).await.expect(403);
    }

    async fn refresh_replaces_the_tokens(setup) {
        let mut case = Case::new(setup.start().await).await;
        let (first, refresh) = case.connect().await;
        case.app.advance(Duration::from_secs(60));
        let (second, next) = tokens_of(&case.refresh(&refresh, &[]).await.expect(200));
        assert_ne!((&first, &refresh), (&second, &next));
        let _ = use_mcp(&case.app, &second).await.expect(200);
        // A client that lost the response repeats the request and gets the same successor.
        let (_, again) = tokens_of(&case.refresh(&refresh, &[]).await.expect(200));
        assert_eq!(again, next);
        let _ = case.refresh(&next, &[]).await.expect(200);
    }

    async fn reuse_of_a_refresh_token_disconnects_the_application(setup) {
        let mut case = Case::new(setup.start().await).await;
        let (_, refresh) = case.connect().await;
        let (access, next) = tokens_of(&case.refresh(&refresh, &[]).await.expect(200));
        case.app.advance(Duration::from_secs(30));
        is_error(&case.refresh(&refresh, &[]).await, "invalid_grant");
        let _ = use_mcp(&case.app, &access).await.expect(401);
        is_error(&case.refresh(&next, &[]).await, "invalid_grant");
        let entries = case.app.audit(docent_domain::listing::AuditFilter::default()).await;
        let reason = entries.iter().find_map(|entry| entry.changes.get("reason")?.after.clone());
        assert_eq!(reason.as_deref(), Some("refresh token reused"));
    }

    async fn refresh_cannot_gain_scopes_or_another_resource(setup) {
        let mut case = Case::new(setup.start().await).await;
        let (_, refresh) = case.connect_to_api(&["read", "chat"]).await;
        for scope in ["read admin", "admin", "ingest", "other"] {
            is_error(&case.refresh(&refresh, &[("scope", scope)]).await, "invalid_scope");
        }
        let mcp = url_of(&case.app, "/mcp");
        is_error(&case.refresh(&refresh, &[("resource", &mcp)]).await, "invalid_target");
        let reply = case.refresh(&refresh, &[("scope", "chat")]).await.expect(200);
        assert_eq!(reply.json()["scope"], json!("chat"));
        let (access, next) = tokens_of(&reply);
        let _ = list_documents(&case.app, &access).await.expect(403);
        let reply = case.refresh(&next, &[]).await.expect(200);
        assert_eq!(reply.json()["scope"], json!("read chat"), "fewer scopes hold for one access token");
    }

    async fn tokens_of_sessions_and_applications_are_not_interchangeable(setup) {
        let mut case = Case::new(setup.start().await).await;
        let (access, refresh) = case.connect().await;
        let session = case.app.login(super::ADA, docent_tests::app::PASSWORD).await.expect(200);
        let (session_access, session_refresh) = tokens_of(&session);
        is_error(&case.refresh(&session_refresh, &[]).await, "invalid_grant");
        is_error(&case.refresh(&access, &[]).await, "invalid_grant");
        is_error(&case.refresh("x", &[]).await, "invalid_grant");
        let body = json!({ "refresh_token": refresh });
        let _ = case.app.post("/auth/refresh", body).await.expect(401);
        let _ = use_mcp(&case.app, &refresh).await.expect(401);
        let _ = use_mcp(&case.app, &session_access).await.expect(200);
        let _ = use_mcp(&case.app, &access).await.expect(200);
    }

    async fn connection_ends_at_the_latest_with_the_lifetime_of_a_session(setup) {
        let setup = setup.settings(|settings| {
            settings.refresh_token_ttl = Duration::from_secs(100);
            settings.session_lifetime = Duration::from_secs(150);
        });
        let mut case = Case::new(setup.start().await).await;
        let (_, refresh) = case.connect().await;
        case.app.advance(Duration::from_secs(99));
        let reply = case.refresh(&refresh, &[]).await.expect(200);
        assert_eq!(reply.json()["expires_in"], json!(51));
        let (_, refresh) = tokens_of(&reply);
        case.app.advance(Duration::from_secs(50));
        let (access, refresh) = tokens_of(&case.refresh(&refresh, &[]).await.expect(200));
        case.app.advance(Duration::from_secs(1));
        is_error(&case.refresh(&refresh, &[]).await, "invalid_grant");
        let _ = use_mcp(&case.app, &access).await.expect(401);
    }

    async fn application_can_revoke_its_tokens(setup) {
        let mut case = Case::new(setup.start().await).await;
        for is_access in [true, false] {
            let (access, refresh) = case.connect().await;
            let token = if is_access { &access } else { &refresh };
            let fields = [("client_id", &*case.client), ("token", &**token), ("token_type_hint", "access_token")];
            let _ = case.app.submit("/oauth/revoke", &fields).await.expect(200);
            let _ = case.app.submit("/oauth/revoke", &fields).await.expect(200);
            let _ = use_mcp(&case.app, &access).await.expect(401);
            is_error(&case.refresh(&refresh, &[]).await, "invalid_grant");
        }
        let _ = case.app.submit("/oauth/revoke", &[("client_id", &*case.client), ("token", "x")]).await.expect(200);
        is_error(&case.app.submit("/oauth/revoke", &[("token", "x")]).await, "invalid_request");
    }
}
