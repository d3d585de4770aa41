//! `/health/…`

use docent_ports::error::FaultKind;
use docent_tests::rules;
use serde_json::json;

rules! {
    async fn live_while_the_process_is_alive(setup) {
        let app = setup.start().await;
        assert_eq!(app.get("/health/live").await.expect(200).json(), json!({ "status": "ok" }));
        app.faults.database.all.fail_all(FaultKind::Unavailable);
        assert_eq!(app.get("/health/live").await.expect(200).json(), json!({ "status": "ok" }));
        assert_eq!(app.faults.tokens.calls(), 0, "it asks nobody");
    }

    async fn ready_names_every_part(setup) {
        let app = setup.start().await;
        let body = app.get("/health/ready").await.expect(200).json();
        let ok = json!({ "database": "ok", "key_value_store": "ok", "blob_store": "ok", "vector_store": "ok" });
        assert_eq!(body, json!({ "status": "ok", "checks": ok }));
    }

    async fn not_ready_without_the_database(setup) {
        let app = setup.start().await;
        app.faults.database.all.fail_all(FaultKind::Unavailable);
        let body = app.get("/health/ready").await.expect(503).json();
        assert_eq!(body["status"], "unavailable");
        assert_eq!(body["detail"], "The database cannot be reached");
        assert_eq!(body["checks"]["database"], "the database cannot be reached");
        assert_eq!(body["checks"]["vector_store"], "ok");
    }

    async fn degraded_without_another_part(setup) {
        let app = setup.start().await;
        let faults = &app.faults;
        for (switch, name) in
            [(&faults.index, "vector_store"), (&faults.blobs, "blob_store"), (&faults.tokens, "key_value_store")]
        {
            switch.fail_all(FaultKind::Timeout);
            let body = app.get("/health/ready").await.expect(200).json();
            assert_eq!(body["status"], "degraded");
            let checks = body["checks"].as_object().unwrap();
            let failing: Vec<_> = checks.iter().filter(|(_, said)| *said != "ok").map(|(name, _)| name).collect();
            assert_eq!(failing, [name]);
            switch.clear();
        }
        assert_eq!(app.get("/health/ready").await.expect(200).json()["status"], "ok");
    }
}
