//! The rate limit per client address.

use docent_domain::fault::FaultKind;
use docent_tests::rules;
use futures::future::join_all;
use std::time::Duration;

rules! {
    async fn request_21_of_20_returns_429(setup) {
        let app = setup.rate_limit(20, 60).start().await;
        for _ in 0..20 {
            let reply = app.get("/status").await.expect(200);
            assert_eq!(reply.header("retry-after"), "");
        }
        app.advance(Duration::from_millis(18_500));
        let reply = app.get("/status").await;
        reply.refused(429, "Too Many Requests");
        assert_eq!(reply.header("retry-after"), "42");
    }

    async fn counter_resets_when_the_window_ends(setup) {
        let app = setup.rate_limit(20, 60).start().await;
        for _ in 0..21 {
            app.get("/status").await;
        }
        app.advance(Duration::from_secs(59));
        let _ = app.get("/status").await.expect(429);
        app.advance(Duration::from_secs(1));
        for _ in 0..20 {
            let _ = app.get("/status").await.expect(200);
        }
        let _ = app.get("/status").await.expect(429);
    }

    async fn concurrent_requests_up_to_the_limit_pass(setup) {
        let app = setup.rate_limit(20, 60).start().await;
        let replies = join_all((0..200).map(|_| app.get("/status"))).await;
        let of = |status| replies.iter().filter(|reply| reply.status == status).count();
        assert_eq!((of(200), of(429)), (20, 180));
    }

    async fn every_path_except_health_is_counted(setup) {
        let app = setup.rate_limit(3, 60).start().await;
        for path in ["/nothing", "/documents", "/admin/login"] {
            assert_ne!(app.get(path).await.status, 429);
        }
        for path in ["/nothing", "/documents", "/admin/login", "/"] {
            let _ = app.get(path).await.expect(429);
        }
        for path in ["/health/live", "/health/ready"] {
            let _ = app.get(path).await.expect(200);
        }
    }

    async fn limit_without_key_value_store_holds_per_process(setup) {
        let app = setup.rate_limit(5, 60).start().await;
        app.faults.limiter.fail_all(FaultKind::Unavailable);
        let tried = app.faults.limiter.calls();
        for _ in 0..5 {
            let _ = app.get("/status").await.expect(200);
        }
        let _ = app.get("/status").await.expect(429);
        assert_eq!(app.faults.limiter.calls() - tried, 1, "an absent store is tried once a second");
        app.advance(Duration::from_secs(60));
        let _ = app.get("/status").await.expect(200);
        app.faults.limiter.clear();
        app.advance(Duration::from_secs(1));
        for _ in 0..5 {
            let _ = app.get("/status").await.expect(200);
        }
        let _ = app.get("/status").await.expect(429);
    }
}
