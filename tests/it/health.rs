//! Health checks: `/health/…`.

use docent_domain::fault::FaultKind;
use docent_ports::store::Schema;
use docent_tests::rules;
use serde_json::json;

rules! {
    async fn live_returns_ok_without_dependencies(setup) {
        let app = setup.start().await;
        assert_eq!(app.get("/health/live").await.expect(200).json(), json!({ "status": "ok" }));
        app.faults.database.all.fail_all(FaultKind::Unavailable);
        assert_eq!(app.get("/health/live").await.expect(200).json(), json!({ "status": "ok" }));
        assert_eq!(app.faults.tokens.calls(), 0, "no component is asked");
    }

    async fn ready_names_every_component(setup) {
        let app = setup.start().await;
        let body = app.get("/health/ready").await.expect(200).json();
        let ok = json!({
            "database": "ok", "schema": "ok", "key_value_store": "ok", "blob_store": "ok", "vector_store": "ok",
        });
        assert_eq!(body, json!({ "status": "ok", "checks": ok }));
    }

    async fn ready_without_database_returns_503(setup) {
        let app = setup.start().await;
        app.faults.database.all.fail_all(FaultKind::Unavailable);
        let body = app.get("/health/ready").await.expect(503).json();
        assert_eq!(body["status"], "unavailable");
        assert_eq!(body["detail"], "The database cannot be reached");
        assert_eq!(body["checks"]["database"], "the database cannot be reached");
        assert_eq!(body["checks"]["vector_store"], "ok");
    }

    async fn ready_with_missing_or_older_schema_returns_503(setup) {
        let app = setup.start().await;
        for (schema, message) in [(Schema::Missing, "no schema yet"), (Schema::Older, "older than this program")] {
            app.faults.database.pretend(schema);
            let body = app.get("/health/ready").await.expect(503).json();
            assert_eq!((&body["status"], &body["checks"]["database"]), (&json!("unavailable"), &json!("ok")));
            assert!(body["checks"]["schema"].as_str().unwrap().contains(message), "{body}");
            assert!(body["detail"].as_str().unwrap().contains(message), "{body}");
        }
    }

    async fn ready_with_newer_schema_is_degraded(setup) {
        let app = setup.start().await;
        app.faults.database.pretend(Schema::Newer);
        let body = app.get("/health/ready").await.expect(200).json();
        assert_eq!(body["status"], "degraded");
        assert_eq!(body["checks"]["schema"], "The database schema is newer than this program");
    }

    async fn ready_without_reranker_is_degraded(setup) {
        let app = setup.reranking().start().await;
        assert_eq!(app.get("/health/ready").await.expect(200).json()["checks"]["reranking_back_end"], "ok");
        app.faults.reranker.fail_all(FaultKind::Timeout);
        let body = app.get("/health/ready").await.expect(200).json();
        assert_eq!(body["status"], "degraded");
        assert_eq!(body["checks"]["reranking_back_end"], "the reranking back end did not answer in time");
    }

    async fn ready_without_another_component_is_degraded(setup) {
        let app = setup.start().await;
        let faults = &app.faults;
        for (switch, name) in
            [(&faults.index, "vector_store"), (&faults.blobs, "blob_store"), (&faults.tokens, "key_value_store")]
        {
            switch.fail_all(FaultKind::Timeout);
            let body = app.get("/health/ready").await.expect(200).json();
            assert_eq!(body["status"], "degraded");
            let checks = body["checks"].as_object().unwrap();
            let failing: Vec<_> = checks.iter().filter(|(_, message)| *message != "ok").map(|(name, _)| name).collect();
            assert_eq!(failing, [name]);
            switch.clear();
        }
        assert_eq!(app.get("/health/ready").await.expect(200).json()["status"], "ok");
    }
}
