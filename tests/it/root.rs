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

    async fn status_returns_app_debug_and_version(setup) {
        let app = setup.http(|http| { http.app_name = "Library".into(); http.debug = true }).start().await;
        let body = app.get("/status").await.expect(200).json();
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(body, json!({ "status": "ok", "app": "Library", "debug": true, "framework_version": version }));
    }
}
