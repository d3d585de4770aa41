//! `/` and `/status`

use docent_tests::rules;
use serde_json::json;

rules! {
    async fn root_returns_a_message(setup) {
        let app = setup.start().await;
        let body = app.get("/").await.expect(200).json();
        assert!(body["message"].is_string());
        assert_eq!(body.as_object().unwrap().len(), 1);
    }

    async fn browsers_are_sent_to_the_chat_and_other_clients_get_json(setup) {
        let app = setup.http(|http| http.cors_allowed_origins = vec!["https://app.example.org".into()]).start().await;
        let get = async |accept: &str| {
            let request = app.request(reqwest::Method::GET, "/").header("Accept", accept);
            app.send(request.header("Origin", "https://app.example.org")).await
        };
        for accept in ["text/html", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "application/json;q=0.5, text/html"] {
            let reply = get(accept).await.expect(303);
            assert_eq!((reply.header("location"), reply.text.as_str()), ("/chat", ""), "{accept}");
        }
        for accept in ["*/*", "", "application/json", "application/json, text/html;q=0.9", "text/plain", "text/html;q=0", "no media type"] {
            let reply = get(accept).await.expect(200);
            assert!(reply.json()["message"].is_string(), "{accept}");
            let vary: Vec<_> = reply.headers.get_all("vary").iter().map(|value| value.to_str().unwrap()).collect();
            assert!(vary.contains(&"Accept") && vary.contains(&"Origin"), "{vary:?}");
        }
        assert!(app.get("/").await.expect(200).json()["message"].is_string());
    }

    async fn status_returns_app_debug_and_version(setup) {
        let app = setup.http(|http| { http.app_name = "Library".into(); http.debug = true }).start().await;
        let body = app.get("/status").await.expect(200).json();
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(body, json!({ "status": "ok", "app": "Library", "debug": true, "framework_version": version }));
    }

    async fn unknown_address_is_a_page_for_browsers_and_json_for_other_clients(setup) {
        let app = setup.start().await;
        let get = async |path: &str, accept: &str, language: &str| {
            let request = app.request(reqwest::Method::GET, path).header("Accept", accept);
            app.send(request.header("Accept-Language", language)).await.expect(404)
        };
        let reply = get("/nonsense", "text/html,application/xhtml+xml,*/*;q=0.8", "en").await;
        assert!(reply.header("content-type").starts_with("text/html"), "{}", reply.text);
        for text in ["Page not found", "href=\"/chat\"", "href=\"/admin\""] {
            assert!(reply.text.contains(text), "{text}: {}", reply.text);
        }
        let reply = get("/a/b?c=<script>", "text/html", "de").await;
        assert!(reply.text.contains("Seite nicht gefunden") && !reply.text.contains("<script>"), "{}", reply.text);
        for accept in ["*/*", "application/json", "application/json, text/html;q=0.9"] {
            assert_eq!(get("/nonsense", accept, "en").await.json(), json!({ "detail": "Not found" }), "{accept}");
        }
        // A known path keeps the form of its own errors.
        let reply = get("/agents/nonsense", "text/html", "en").await;
        assert_eq!(reply.json(), json!({ "detail": "Agent not found" }));
    }
}
