//! Rules for every request.

use docent_domain::fault::FaultKind;
use docent_tests::{rules, wait};
use futures::channel::mpsc;
use reqwest::{Body, Method};
use serde_json::{Value, json};
use std::time::Duration;

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
        let body = Body::wrap_stream(futures::stream::iter(chunks));
        let reply = app.send(app.request(Method::POST, "/auth/token").body(body)).await;
        reply.refused(413, "The request is larger than 1000 bytes");
    }

    async fn bodies_that_need_no_login_are_small(setup) {
        let app = setup.start().await;
        let reply = app.post("/auth/token", json!({ "email": "x".repeat(20_000), "password": "" })).await;
        reply.refused(413, "The request is larger than 16384 bytes");
        let form = app.request(Method::POST, "/admin/login").header("content-type", "application/x-www-form-urlencoded");
        assert_eq!(app.send(form.body(format!("password={}", "x".repeat(20_000)))).await.status, 413);
    }

    async fn slow_body_times_out_however_short_its_pauses_are(setup) {
        let app = setup.start().await;
        let (send, body) = mpsc::unbounded::<Result<&str, std::io::Error>>();
        let body = Body::wrap_stream(body);
        send.unbounded_send(Ok("{")).unwrap();
        let request = app.send(app.request(Method::POST, "/auth/token").body(body));
        let slow = async {
            for _ in 0..4 {
                tokio::time::sleep(Duration::from_millis(100)).await;
                app.advance(Duration::from_secs(20));
                let _ = send.unbounded_send(Ok(" "));
            }
            std::future::pending::<()>().await;
        };
        let reply = tokio::select! {
            reply = request => reply,
            () = slow => unreachable!(),
        };
        reply.refused(408, "The request body took too long");
    }

    async fn invalid_request_has_a_short_reply(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let errors = async |body: Value| {
            let reply = ada.post("/agents/chat", body).await.expect(422);
            assert!(reply.text.len() < 64 * 1024, "{} bytes", reply.text.len());
            reply.json()["errors"].as_array().unwrap().clone()
        };
        assert_eq!(errors(json!({ "messages": vec![0; 1_000_000] })).await.len(), 100);
        let messages = json!([{ "role": "user", "content": "q" }]);
        let many = errors(json!({ "messages": messages, "document_ids": vec![0; 1_000_000] })).await;
        assert_eq!(many.len(), 1);
        assert_eq!(many[0]["msg"], "must have at most 1000 items");
        let keys = (0..200).map(|n| (format!("{n}{}", "\u{1}".repeat(1_000)), json!(0))).collect::<serde_json::Map<_, _>>();
        assert!(!errors(Value::Object(keys)).await.is_empty());
    }

    async fn large_bodies_share_a_budget_and_small_ones_do_not(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let unfinished = || {
            let (send, body) = mpsc::unbounded::<Result<Vec<u8>, std::io::Error>>();
            send.unbounded_send(Ok(vec![b' '; 4 * 1024 * 1024 - 1])).unwrap();
            (send, tokio::spawn(ada.request(Method::POST, "/search").body(Body::wrap_stream(body)).send()))
        };
        let search = async |bytes| {
            app.send(ada.request(Method::POST, "/search").body(vec![b' '; bytes])).await
        };
        let mut held: Vec<_> = (0..8).map(|_| unfinished()).collect();
        wait::until("the budget is used up", async || {
            // One that came after another search was refused.
            held.iter_mut().filter(|(_, request)| request.is_finished()).for_each(|held| *held = unfinished());
            search(200 * 1024).await.status == 503
        }).await;
        assert_eq!(search(200 * 1024).await.header("retry-after"), "5");
        let _ = ada.post("/search", json!({ "query": "pump" })).await.expect(200);
        held.clear();
        wait::until("the budget is free", async || search(200 * 1024).await.status == 422).await;
    }
}
