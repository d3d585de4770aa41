//! Cross-origin requests.

use docent_tests::app::TestApp;
use docent_tests::reply::Reply;
use docent_tests::rules;
use reqwest::Method;

const ORIGIN: &str = "https://app.example.org";

async fn preflight(app: &TestApp, origin: &str) -> Reply {
    let request = app.request(Method::OPTIONS, "/documents").header("Origin", origin);
    app.send(request.header("Access-Control-Request-Method", "POST")).await
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
