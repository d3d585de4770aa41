//! Cross-origin requests.

use docent_tests::app::TestApp;
use docent_tests::reply::Reply;
use docent_tests::rules;
use reqwest::Method;
use std::collections::BTreeSet;

const ORIGIN: &str = "https://app.example.org";

async fn preflight(app: &TestApp, origin: &str) -> Reply {
    preflight_of(app, origin, "/documents", "POST").await
}

async fn preflight_of(app: &TestApp, origin: &str, path: &str, method: &str) -> Reply {
    let request = app.request(Method::OPTIONS, path).header("Origin", origin);
    app.send(request.header("Access-Control-Request-Method", method)).await
}

rules! {
    async fn configured_origin_can_read_responses(setup) {
        let app = setup.http(|http| http.cors_allowed_origins = vec![ORIGIN.into()]).start().await;
        let reply = preflight(&app, ORIGIN).await.expect(204);
        assert_eq!(reply.header("access-control-allow-origin"), ORIGIN);
        assert!(reply.header("access-control-allow-methods").contains("POST"));
        assert!(reply.header("access-control-allow-headers").contains("Authorization"));
        // Errors carry the headers too.
        let reply = app.send(app.request(Method::GET, "/documents").header("Origin", ORIGIN)).await.expect(401);
        assert_eq!(reply.header("access-control-allow-origin"), ORIGIN);
        assert!(reply.header("access-control-expose-headers").contains("X-Request-Id"));
        assert_eq!(reply.header("vary"), "Origin");
    }

    async fn every_method_of_every_route_passes_the_preflight(setup) {
        let app = setup.http(|http| http.cors_allowed_origins = vec![ORIGIN.into()]).start().await;
        let mut methods = BTreeSet::new();
        for (path, of_path) in docent_server::routes::all() {
            for method in of_path {
                let reply = preflight_of(&app, ORIGIN, path, method).await.expect(204);
                let allowed = reply.header("access-control-allow-methods");
                assert!(allowed.split(", ").any(|allowed| allowed == *method), "{method} {path}: {allowed}");
                methods.insert(*method);
            }
        }
        assert!(methods.contains("PUT") && !methods.contains("TRACE"), "{methods:?}");
    }

    async fn other_origins_are_refused(setup) {
        let app = setup.http(|http| http.cors_allowed_origins = vec![ORIGIN.into()]).start().await;
        for origin in ["https://evil.example", "https://app.example.org.evil.example", "null"] {
            let reply = preflight(&app, origin).await.expect(405);
            assert_eq!(reply.header("access-control-allow-origin"), "");
        }
    }

    async fn all_origins_are_refused_by_default(setup) {
        let app = setup.start().await;
        assert_eq!(preflight(&app, ORIGIN).await.expect(405).header("access-control-allow-origin"), "");
    }
}
