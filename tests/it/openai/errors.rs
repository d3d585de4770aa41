//! Errors raised before a handler runs.

use super::refused;
use docent_tests::rules;
use reqwest::Method;

rules! {
    // Invariant: Errors below `/v1`, and only those, have the OpenAI error shape.
    async fn errors_below_v1_have_the_openai_shape(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        refused(&app.get("/v1/models").await, 401, None, Some("invalid_api_key"));
        assert_eq!(refused(&ada.get("/v1/nothing").await, 404, None, None), "Not found");
        let reply = ada.get("/v1/chat/completions").await;
        assert_eq!(refused(&reply, 405, None, None), "Method not allowed");
        assert_eq!(reply.header("allow"), "POST");
        let large = ada.request(Method::POST, "/v1/chat/completions").body(vec![b' '; 5 << 20]);
        refused(&app.send(large).await, 413, None, None);
        let named = ada.request(Method::GET, "/v1/models/x").header("X-Request-Id", "mine");
        assert_eq!(app.send(named).await.header("x-request-id"), "mine");
        // Other paths keep the service's own error shape.
        app.get("/documents").await.refused(401, "Could not validate credentials");
    }

    async fn rate_limit_error_has_the_openai_shape(setup) {
        let app = setup.rate_limit(1, 60).start().await;
        let _ = app.get("/status").await.expect(200);
        let reply = app.get("/v1/models").await;
        refused(&reply, 429, None, Some("rate_limit_exceeded"));
        assert_eq!(reply.header("retry-after"), "60");
        app.get("/status").await.refused(429, "Too Many Requests");
    }
}
