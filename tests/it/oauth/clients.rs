//! Registration of clients, and clients that are named by the URL of their metadata.

use super::{CALLBACK, Case, authorize_path, is_error, parameter, register};
use docent_ports::client_metadata::ClientMetadataError;
use docent_testkit::fakes::client_metadata::FakeClientMetadata;
use docent_tests::rules;
use reqwest::Method;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const CLIENT_URL: &str = "https://client.example/oauth/client.json";

rules! {
    async fn redirect_uris_that_could_leak_a_code_are_not_registered(setup) {
        let app = setup.start().await;
        for uri in [
            "http://client.example/callback",
            "http://127.0.0.1.client.example/callback",
            "https://client.example/callback#fragment",
            "https://user@client.example/callback",
            "javascript:alert(1)",
            "data:text/html,x",
            "client:/callback",
            "/callback",
            "",
        ] {
            let body = json!({ "redirect_uris": [CALLBACK, uri] });
            is_error(&app.post("/oauth/register", body).await, "invalid_redirect_uri");
        }
        is_error(&app.post("/oauth/register", json!({ "redirect_uris": [] })).await, "invalid_redirect_uri");
        let many: Vec<_> = (0..21).map(|n| format!("https://client.example/{n}")).collect();
        is_error(&app.post("/oauth/register", json!({ "redirect_uris": many })).await, "invalid_redirect_uri");
        for body in [json!({}), json!([]), json!({ "redirect_uris": "x" }), json!({ "redirect_uris": [1] })] {
            is_error(&app.post("/oauth/register", body).await, "invalid_client_metadata");
        }
        let body = json!({ "redirect_uris": [CALLBACK], "client_name": "a\u{0}b" });
        is_error(&app.post("/oauth/register", body).await, "invalid_client_metadata");
        let huge = json!({ "redirect_uris": [CALLBACK], "client_name": "x".repeat(20_000) });
        let _ = app.post("/oauth/register", huge).await.expect(413);
    }

    async fn registrations_are_limited_per_network(setup) {
        let app = setup.start().await;
        for _ in 0..300 {
            let _ = register(&app, CALLBACK).await;
        }
        let reply = app.post("/oauth/register", json!({ "redirect_uris": [CALLBACK] })).await.expect(429);
        assert_eq!(reply.header("retry-after"), "3600");
        app.advance(Duration::from_secs(3600));
        let _ = register(&app, CALLBACK).await;
    }

    async fn client_is_named_by_the_url_of_its_metadata(setup) {
        let source = Arc::new(FakeClientMetadata::default());
        let document = |id: &str, uri: &str| {
            json!({ "client_id": id, "client_name": "Assistant", "redirect_uris": [uri] }).to_string()
        };
        source.set(CLIENT_URL, Ok(&document(CLIENT_URL, CALLBACK)));
        let other = "https://client.example/other.json";
        source.set(other, Ok(&document(CLIENT_URL, CALLBACK)));
        let slow = "https://client.example/slow.json";
        source.set(slow, Err(ClientMetadataError::Timeout));
        let mut case = Case::new(setup.client_metadata(Arc::clone(&source) as _).start().await).await;

        // Without a sign-in nothing is fetched for a client.
        let path = authorize_path(&case.app, CLIENT_URL, &[]);
        let reply = case.app.send(case.app.request(Method::GET, &path)).await.expect(303);
        assert!(reply.header("location").starts_with("/account/login?next="), "{}", reply.header("location"));
        assert_eq!(source.fetches(), 0);

        let page = case.browser.get(&path).await.expect(200).text;
        assert!(page.contains("Connect Assistant") && page.contains("client.example"), "{page}");
        CLIENT_URL.clone_into(&mut case.client);
        let (access, _) = case.connect().await;
        let _ = super::use_mcp(&case.app, &access).await.expect(200);
        assert_eq!(source.fetches(), 1, "the document is cached");

        let refused = case.browser.get(&authorize_path(&case.app, other, &[])).await.expect(400).text;
        assert!(refused.contains("client_id in the document is not its URL"), "{refused}");
        let refused = case.browser.get(&authorize_path(&case.app, slow, &[])).await.expect(400).text;
        assert!(refused.contains("did not answer in time"), "{refused}");
        let unknown = authorize_path(&case.app, "https://client.example/unknown", &[]);
        assert!(case.browser.get(&unknown).await.expect(400).text.contains("cannot be reached"));
        let elsewhere = [("redirect_uri", "https://evil.example/callback")];
        let _ = case.browser.get(&authorize_path(&case.app, CLIENT_URL, &elsewhere)).await.expect(400);
    }

    async fn port_of_this_machine_can_differ_and_nothing_else(setup) {
        let mut case = Case::new(setup.start().await).await;
        let client = register(&case.app, "http://127.0.0.1/cb").await;
        let with = |uri: &str| authorize_path(&case.app, &client, &[("redirect_uri", uri)]);
        let (allowed, refused) = (
            with("http://127.0.0.1:4711/cb"),
            [with("http://localhost:4711/cb"), with("http://127.0.0.1:4711/other"), with("http://127.0.0.1:4711/cb?x")],
        );
        let page = case.browser.get(&allowed).await.expect(200);
        assert!(page.text.contains("a program on this device"), "{}", page.text);
        let reply = case.answer(&allowed, &[("decision", "deny")]).await.expect(303);
        assert!(reply.header("location").starts_with("http://127.0.0.1:4711/cb?error=access_denied"));
        assert!(parameter(reply.header("location"), "iss").is_some());
        for path in refused {
            let _ = case.browser.get(&path).await.expect(400);
        }
    }
}
