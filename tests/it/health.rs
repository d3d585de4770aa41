//! Health checks: `/health/…`.

use docent_domain::fault::FaultKind;
use docent_ports::store::Schema;
use docent_tests::app::TestApp;
use docent_tests::reply::Reply;
use docent_tests::rules;
use futures::future::join_all;
use reqwest::Method;
use serde_json::json;
use std::time::Duration;

/// The token that lets a request see error messages.
const TOKEN: &str = "a metrics token";

/// Requests a new check and its error messages.
async fn ready(app: &TestApp) -> Reply {
    app.advance(Duration::from_secs(5));
    app.send(app.request(Method::GET, "/health/ready").bearer_auth(TOKEN)).await
}

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
        let rest = json!({ "status": "ok", "checks": ok, "text_recognition": false, "upload_types": ["pdf"] });
        assert_eq!(body, rest);
    }

    async fn ready_without_database_returns_503(setup) {
        let app = setup.metrics(Some(TOKEN)).start().await;
        app.faults.database.all.fail_all(FaultKind::Unavailable);
        let body = ready(&app).await.expect(503).json();
        assert_eq!(body["status"], "unavailable");
        assert_eq!(body["detail"], "The database cannot be reached");
        assert_eq!(body["checks"]["database"], "the database cannot be reached");
        assert_eq!(body["checks"]["vector_store"], "ok");
    }

    async fn ready_with_a_database_that_cannot_be_written_is_degraded(setup) {
        let app = setup.metrics(Some(TOKEN)).start().await;
        for (kind, message) in [
            (FaultKind::Full, "the database has no room left"),
            (FaultKind::Timeout, "the database did not answer in time"),
            (FaultKind::Unavailable, "the database cannot be reached"),
        ] {
            app.faults.database.commit.fail_all(kind);
            let body = ready(&app).await.expect(200).json();
            assert_eq!((&body["status"], &body["checks"]["database"]), (&json!("degraded"), &json!(message)));
            app.faults.database.commit.clear();
        }
        assert_eq!(ready(&app).await.expect(200).json()["status"], "ok");
    }

    async fn ready_with_missing_or_older_schema_returns_503(setup) {
        let app = setup.metrics(Some(TOKEN)).start().await;
        for (schema, message) in [(Schema::Missing, "no schema yet"), (Schema::Older, "older than this program")] {
            app.faults.database.pretend(schema);
            let body = ready(&app).await.expect(503).json();
            assert_eq!((&body["status"], &body["checks"]["database"]), (&json!("unavailable"), &json!("ok")));
            assert!(body["checks"]["schema"].as_str().unwrap().contains(message), "{body}");
            assert!(body["detail"].as_str().unwrap().contains(message), "{body}");
        }
    }

    async fn ready_with_newer_schema_is_degraded(setup) {
        let app = setup.metrics(Some(TOKEN)).start().await;
        app.faults.database.pretend(Schema::Newer);
        let body = ready(&app).await.expect(200).json();
        assert_eq!(body["status"], "degraded");
        assert_eq!(body["checks"]["schema"], "The database schema is newer than this program");
    }

    async fn ready_without_reranker_is_degraded(setup) {
        let app = setup.reranking().metrics(Some(TOKEN)).start().await;
        assert_eq!(ready(&app).await.expect(200).json()["checks"]["reranking_back_end"], "ok");
        app.faults.reranker.fail_all(FaultKind::Timeout);
        let body = ready(&app).await.expect(200).json();
        assert_eq!(body["status"], "degraded");
        assert_eq!(body["checks"]["reranking_back_end"], "the reranking back end did not answer in time");
    }

    async fn ready_without_another_component_is_degraded(setup) {
        let app = setup.metrics(Some(TOKEN)).start().await;
        let faults = &app.faults;
        for (switch, name) in
            [(&faults.index, "vector_store"), (&faults.blobs, "blob_store"), (&faults.tokens, "key_value_store")]
        {
            switch.fail_all(FaultKind::Timeout);
            let body = ready(&app).await.expect(200).json();
            assert_eq!(body["status"], "degraded");
            let checks = body["checks"].as_object().unwrap();
            let failing: Vec<_> = checks.iter().filter(|(_, message)| *message != "ok").map(|(name, _)| name).collect();
            assert_eq!(failing, [name]);
            switch.clear();
        }
        assert_eq!(ready(&app).await.expect(200).json()["status"], "ok");
    }

    async fn ready_checks_components_once_in_five_seconds(setup) {
        let app = setup.start().await;
        let get = async || app.get("/health/ready").await.expect(200);
        let before = app.faults.index.calls();
        join_all((0..20).map(|_| get())).await;
        assert_eq!(app.faults.index.calls() - before, 1, "concurrent callers share a check");
        app.faults.index.fail_all(FaultKind::Unavailable);
        app.advance(Duration::from_millis(4900));
        assert_eq!(get().await.json()["status"], "ok");
        app.advance(Duration::from_millis(100));
        assert_eq!(get().await.json()["status"], "degraded");
        assert_eq!(app.faults.index.calls() - before, 2);
    }

    async fn ready_shows_error_messages_only_to_staff_and_the_metrics_token(setup) {
        let app = setup.metrics(Some(TOKEN)).start().await;
        let (ada, staff) = (app.ada().await, app.superuser().await);
        app.faults.index.fail_all(FaultKind::Unavailable);
        let get = |token| app.request(Method::GET, "/health/ready").bearer_auth(token);
        let public = app.request(Method::GET, "/health/ready");
        for (request, message) in [
            (public, "unavailable"),
            (get("another"), "unavailable"),
            (ada.request(Method::GET, "/health/ready"), "unavailable"),
            (get(TOKEN), "the vector store cannot be reached"),
            (staff.request(Method::GET, "/health/ready"), "the vector store cannot be reached"),
        ] {
            let body = app.send(request).await.expect(200).json();
            assert_eq!(body["checks"]["vector_store"], message);
            assert_eq!((&body["status"], &body["checks"]["database"]), (&json!("degraded"), &json!("ok")));
        }
    }
}
