//! Metadata, and the way to it.

use super::{CALLBACK, Case, authorize_path, metadata_at, register, url_of, use_mcp};
use crate::account::{ADA, at_account};
use docent_app::App;
use docent_app::accounts::authenticate;
use docent_app::accounts::create::Flags;
use docent_app::error::Error;
use docent_app::settings::Settings;
use docent_domain::connection::Resource;
use docent_tests::rules;
use reqwest::Method;
use serde_json::json;

const PUBLIC_URL: &str = "https://docs.example.org/tools/docent";

rules! {
    async fn metadata_names_the_endpoints_and_what_they_support(setup) {
        let app = setup.start().await;
        let server = metadata_at(&app, "/.well-known/oauth-authorization-server").await;
        let at = |path: &str| json!(url_of(&app, path));
        assert_eq!(server["issuer"], at(""));
        assert_eq!(server["authorization_endpoint"], at("/oauth/authorize"));
        assert_eq!(server["token_endpoint"], at("/oauth/token"));
        assert_eq!(server["registration_endpoint"], at("/oauth/register"));
        assert_eq!(server["code_challenge_methods_supported"], json!(["S256"]));
        assert_eq!(server["response_types_supported"], json!(["code"]));
        assert_eq!(server["token_endpoint_auth_methods_supported"], json!(["none"]));
        assert_eq!(server["authorization_response_iss_parameter_supported"], json!(true));
        assert_eq!(server["client_id_metadata_document_supported"], json!(true));
        for (path, resource, scopes) in [
            ("/mcp", "/mcp", json!(["read"])),
            ("", "", json!(["read", "ingest", "chat", "admin"])),
        ] {
            let metadata = metadata_at(&app, &format!("/.well-known/oauth-protected-resource{path}")).await;
            assert_eq!(metadata["resource"], at(resource));
            assert_eq!(metadata["authorization_servers"], json!([at("")]));
            assert_eq!(metadata["scopes_supported"], scopes);
            assert_eq!(metadata["bearer_methods_supported"], json!(["header"]));
        }
    }

    async fn refusals_tell_where_access_is_given(setup) {
        let app = setup.api_keys().start().await;
        let metadata = url_of(&app, "/.well-known/oauth-protected-resource");
        let reply = app.post("/mcp", json!({})).await.expect(401);
        assert_eq!(
            reply.header("www-authenticate"),
            format!("Bearer resource_metadata=\"{metadata}/mcp\", scope=\"read\"")
        );
        let reply = use_mcp(&app, "invalid").await.expect(401);
        assert_eq!(
            reply.header("www-authenticate"),
            format!("Bearer resource_metadata=\"{metadata}/mcp\", scope=\"read\", error=\"invalid_token\"")
        );
        let reply = app.get("/documents").await.expect(401);
        assert_eq!(reply.header("www-authenticate"), format!("Bearer resource_metadata=\"{metadata}\""));
        let reply = app.get("/v1/models").await.expect(401);
        assert_eq!(reply.header("www-authenticate"), format!("Bearer resource_metadata=\"{metadata}\""));
        // A sign-in with a password is no request of an application.
        let reply = app.login("ada@example.org", "wrong password").await.expect(401);
        assert_eq!(reply.header("www-authenticate"), "Bearer");
        let ada = app.ada().await;
        let user = app.account("key@example.org", Flags::default()).await;
        let key = app.api_key(user.id, &["read"]).await.key;
        let _ = use_mcp(&app, &key).await.expect(200);
        let _ = ada.get("/documents").await.expect(200);
        let request = app.request(Method::GET, "/conversations").bearer_auth(&key);
        let reply = app.send(request).await.expect(403);
        assert_eq!(
            reply.header("www-authenticate"),
            format!("Bearer resource_metadata=\"{metadata}\", error=\"insufficient_scope\", scope=\"chat\"")
        );
    }

    async fn service_below_a_path_has_metadata_there_and_at_the_root_of_the_host(setup) {
        let setup = setup.settings(|settings| settings.public_url = PUBLIC_URL.to_owned());
        let app = setup.http(|http| http.public_url = Some(PUBLIC_URL.to_owned())).start().await;
        let server = json!(PUBLIC_URL);
        for path in [
            "/.well-known/oauth-authorization-server",
            "/tools/docent/.well-known/oauth-authorization-server",
            "/.well-known/oauth-authorization-server/tools/docent",
        ] {
            assert_eq!(metadata_at(&app, path).await["issuer"], server, "{path}");
        }
        for path in [
            "/tools/docent/.well-known/oauth-protected-resource/mcp",
            "/.well-known/oauth-protected-resource/tools/docent/mcp",
        ] {
            assert_eq!(metadata_at(&app, path).await["resource"], json!(format!("{PUBLIC_URL}/mcp")), "{path}");
        }
        let metadata = metadata_at(&app, "/.well-known/oauth-protected-resource/tools/docent").await;
        assert_eq!(metadata["resource"], server);
        let _ = app.get("/.well-known/oauth-protected-resource/other/mcp").await.expect(404);
        let reply = app.post("/tools/docent/mcp", json!({})).await.expect(401);
        let location = format!("resource_metadata=\"{PUBLIC_URL}/.well-known/oauth-protected-resource/mcp\"");
        assert!(reply.header("www-authenticate").contains(&location));
    }

    async fn pages_of_all_origins_can_use_the_endpoints_for_tokens_but_not_the_api(setup) {
        let app = setup.start().await;
        for (method, path) in [
            (Method::GET, "/.well-known/oauth-protected-resource/mcp"),
            (Method::GET, "/.well-known/oauth-authorization-server"),
            (Method::POST, "/oauth/token"),
            (Method::POST, "/oauth/register"),
        ] {
            let origin = "https://inspector.example";
            let reply = app.send(app.request(method.clone(), path).header("Origin", origin)).await;
            assert_eq!(reply.header("access-control-allow-origin"), origin, "{path}");
            assert_eq!(reply.header("access-control-allow-credentials"), "", "{path}");
            let preflight = app.request(Method::OPTIONS, path).header("Origin", origin);
            let reply = app.send(preflight.header("Access-Control-Request-Method", method.as_str())).await.expect(204);
            assert_eq!(reply.header("access-control-allow-origin"), origin, "{path}");
        }
        for path in ["/documents", "/oauth/authorize"] {
            let reply = app.send(app.request(Method::GET, path).header("Origin", "https://inspector.example")).await;
            assert_eq!(reply.header("access-control-allow-origin"), "", "{path}");
        }
    }

    async fn nothing_is_there_if_it_is_off(setup) {
        let app = setup.settings(|settings| settings.accepts_oauth = false).start().await;
        for path in ["/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/mcp"] {
            let _ = app.get(path).await.expect(404);
        }
        let _ = app.post("/oauth/register", json!({ "redirect_uris": [CALLBACK] })).await.expect(404);
        let fields = [("grant_type", "refresh_token"), ("client_id", "x"), ("refresh_token", "x")];
        let _ = app.submit("/oauth/token", &fields).await.expect(404);
        let _ = app.submit("/oauth/revoke", &[("client_id", "x"), ("token", "x")]).await.expect(404);
        let _ = app.account(ADA, Flags::default()).await;
        let mut browser = at_account(&app, ADA).await;
        let _ = browser.get(&authorize_path(&app, "x", &[])).await.expect(404);
        let reply = use_mcp(&app, "x").await.expect(401);
        assert_eq!(reply.header("www-authenticate"), "Bearer");
    }

    async fn access_that_was_given_before_is_refused_if_it_is_off(setup) {
        let mut case = Case::new(setup.start().await).await;
        let (access, _) = case.connect().await;
        let bearer = async |accepts_oauth| {
            let settings = Settings { accepts_oauth, ..case.app.app.settings().clone() };
            let app = App::new(case.app.ports.clone(), settings);
            authenticate::bearer(&app, &access, Resource::Mcp).await
        };
        assert!(bearer(true).await.is_ok());
        assert!(matches!(bearer(false).await, Err(Error::Unauthenticated)));
    }

    async fn registered_client_is_public(setup) {
        let app = setup.start().await;
        let body = json!({
            "redirect_uris": ["http://localhost:1234/cb"], "token_endpoint_auth_method": "client_secret_post",
            "grant_types": ["implicit"], "software_id": "x",
        });
        let client = app.post("/oauth/register", body).await.expect(201).json();
        assert_eq!(client["token_endpoint_auth_method"], json!("none"));
        assert_eq!(client["grant_types"], json!(["authorization_code", "refresh_token"]));
        assert_eq!(client["client_name"], json!("Application"));
        assert!(client.get("client_secret").is_none());
        assert_ne!(register(&app, CALLBACK).await, register(&app, CALLBACK).await);
    }
}
