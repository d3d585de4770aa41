//! Rules for every request.

use docent_domain::fault::FaultKind;
use docent_tests::rules;
use reqwest::Method;
use serde_json::json;

rules! {
    async fn unknown_path_returns_404(setup) {
        let app = setup.start().await;
        for path in ["/nothing", "/documents/a/b", "/health", "/auth"] {
            app.get(path).await.refused(404, "Not found");
        }
    }

    async fn wrong_method_returns_405_with_allow(setup) {
        let app = setup.start().await;
        for (method, path, allow) in [
            (Method::POST, "/status", "GET, HEAD"),
            (Method::GET, "/auth/token", "POST"),
            (Method::DELETE, "/documents", "GET, POST, HEAD"),
            (Method::GET, "/documents/upload", "POST"),
            (Method::GET, "/agents/chat", "POST"),
        ] {
            let reply = app.send(app.request(method, path)).await;
            reply.refused(405, "Method not allowed");
            assert_eq!(reply.header("allow"), allow);
        }
    }

    async fn unknown_agent_returns_404_for_every_method(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        ada.post("/agents/nope", json!({})).await.refused(404, "Agent not found");
        for method in [Method::GET, Method::DELETE, Method::PUT] {
            app.send(app.request(method, "/agents/nope")).await.refused(404, "Agent not found");
        }
    }

    async fn head_returns_get_headers_without_a_body(setup) {
        let app = setup.start().await;
        let reply = app.send(app.request(Method::HEAD, "/status")).await.expect(200);
        assert_eq!(reply.text, "");
        assert_eq!(reply.header("content-type"), "application/json");
    }

    async fn trailing_slash_is_ignored(setup) {
        let app = setup.start().await;
        let _ = app.get("/status/").await.expect(200);
        let ada = app.ada().await;
        assert_eq!(ada.get("/documents/").await.expect(200).json(), json!([]));
    }

    async fn every_response_has_a_request_id(setup) {
        let app = setup.start().await;
        let (one, two) = (app.get("/status").await, app.get("/nothing").await);
        for reply in [&one, &two] {
            assert_eq!(reply.header("x-request-id").len(), 32);
        }
        assert_ne!(one.header("x-request-id"), two.header("x-request-id"));
    }

    async fn valid_request_id_is_returned(setup) {
        let app = setup.start().await;
        let send = async |id: &str| {
            let request = app.request(Method::GET, "/documents").header("X-Request-Id", id);
            app.send(request).await.header("x-request-id").to_owned()
        };
        assert_eq!(send("abc-1.2_3").await, "abc-1.2_3");
        for wrong in ["", "a b", "a/b", &"x".repeat(129)] {
            assert_ne!(send(wrong).await, wrong);
        }
    }

    async fn responses_have_security_headers(setup) {
        let app = setup.start().await;
        for path in ["/status", "/nothing", "/admin/login"] {
            let reply = app.get(path).await;
            assert_eq!(reply.header("x-content-type-options"), "nosniff");
            assert_eq!(reply.header("x-frame-options"), "DENY");
            assert!(reply.header("content-security-policy").contains("frame-ancestors 'none'"));
            assert!(!reply.header("referrer-policy").is_empty());
        }
    }

    async fn unavailable_database_returns_503(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        app.faults.database.all.fail_all(FaultKind::Unavailable);
        ada.get("/documents").await.refused(503, "The database cannot be reached");
        ada.post("/documents", json!({ "title": "t" })).await.refused(503, "The database cannot be reached");
        app.faults.database.all.clear();
        let _ = ada.get("/documents").await.expect(200);
    }

    async fn internal_error_reveals_no_details(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        app.faults.database.read.fail_after(1, 1, FaultKind::Internal);
        ada.get("/documents").await.refused(500, "Internal server error");
    }

    async fn body_over_the_limit_returns_413(setup) {
        let app = setup.http(|http| http.max_json_bytes = 1000).start().await;
        let reply = app.post("/auth/token", json!({ "email": "x".repeat(2000), "password": "" })).await;
        reply.refused(413, "The request is larger than 1000 bytes");
        // Without Content-Length, the limit is enforced while reading.
        let chunks = (0..3).map(|_| Ok::<_, std::io::Error>(vec![b' '; 600]));
        let body = reqwest::Body::wrap_stream(futures::stream::iter(chunks));
        let reply = app.send(app.request(Method::POST, "/auth/token").body(body)).await;
        reply.refused(413, "The request is larger than 1000 bytes");
    }
}
