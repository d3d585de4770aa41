//! Shutdown.

use docent_testkit::fakes::chat_model::Turn;
use docent_tests::member::question_body;
use docent_tests::{rules, wait};
use reqwest::Method;
use std::time::Duration;

rules! {
    // Invariant: An answer ends with its last token, an error or a disconnect; empty chunks from the model do
    // not keep it open.
    async fn answer_interrupted_by_shutdown_ends_with_an_error_and_is_metered(setup) {
        let app = setup.script([Turn::new().text("one two three").stall()]).start().await;
        let ada = app.ada().await;
        let request = ada.request(Method::POST, "/agents/chat").json(&question_body("q"));
        let mut response = request.send().await.unwrap();
        assert_eq!(response.chunk().await.unwrap().unwrap(), "data: \"one two three\"\n\n");
        app.stop().await;
        let rest = response.text().await.unwrap();
        assert_eq!(rest, "event: error\ndata: {\"detail\":\"The service is stopping\"}\n\n");
        assert!(app.usage(ada.user.id).await.completion >= 3);
        wait::until("the model is stopped", async || app.model.cut_short() == 1).await;
    }

    async fn draining_service_is_not_ready_but_serves(setup) {
        let drain = Duration::from_secs(20);
        let app = setup.drain(drain).start().await;
        let ada = app.ada().await;
        assert_eq!(app.get("/health/ready").await.expect(200).json()["status"], "ok");
        app.begin_stop();
        wait::until("the service is not ready", async || app.get("/health/ready").await.status == 503).await;
        let ready = app.get("/health/ready").await.expect(503).json();
        assert_eq!((&ready["status"], &ready["detail"]), (&"unavailable".into(), &"The service is stopping".into()));
        assert_eq!(ready["checks"]["database"], "ok");
        let _ = app.get("/health/live").await.expect(200);
        let _ = ada.get("/documents").await.expect(200);
        let _ = ada.post("/documents", serde_json::json!({ "title": "late" })).await.expect(201);
        assert!(!app.has_stopped());
        // Repeated, since the wait may begin after the clock was advanced.
        wait::until("the service has stopped", async || { app.advance(drain); app.has_stopped() }).await;
    }
}
