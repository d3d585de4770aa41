//! The client address behind proxies.

use docent_tests::app::TestApp;
use docent_tests::rules;
use reqwest::Method;

/// Requests `/status` with this `X-Forwarded-For` and returns the status code.
async fn status_from(app: &TestApp, forwarded_for: &str) -> u16 {
    app.send(app.request(Method::GET, "/status").header("X-Forwarded-For", forwarded_for)).await.status
}

rules! {
    async fn forwarded_address_from_an_untrusted_client_is_ignored(setup) {
        let app = setup.rate_limit(2, 60).start().await;
        assert_eq!(status_from(&app, "192.0.2.1").await, 200);
        assert_eq!(status_from(&app, "192.0.2.2").await, 200);
        assert_eq!(status_from(&app, "192.0.2.3").await, 429);
    }

    async fn forwarded_address_from_a_trusted_proxy_is_used(setup) {
        let app = setup.rate_limit(2, 60).http(|http| http.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()]);
        let app = app.start().await;
        for _ in 0..2 {
            assert_eq!(status_from(&app, "192.0.2.1").await, 200);
        }
        assert_eq!(status_from(&app, "192.0.2.1").await, 429);
        assert_eq!(status_from(&app, "192.0.2.2").await, 200);
        assert_eq!(status_from(&app, "192.0.2.2, 192.0.2.1").await, 429, "addresses that the client added are ignored");
    }

    async fn ipv6_network_counts_as_one_client(setup) {
        let app = setup.rate_limit(2, 60).http(|http| http.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()]);
        let app = app.start().await;
        assert_eq!(status_from(&app, "2001:db8:0:1::1").await, 200);
        assert_eq!(status_from(&app, "2001:db8:0:1:ffff::2").await, 200);
        assert_eq!(status_from(&app, "2001:db8:0:1::3").await, 429);
        assert_eq!(status_from(&app, "2001:db8:0:2::1").await, 200);
    }
}
