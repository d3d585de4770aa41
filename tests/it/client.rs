//! Who counts as the client.

use docent_tests::{app::TestApp, rules};
use reqwest::Method;

async fn from(app: &TestApp, forwarded_for: &str) -> u16 {
    app.send(app.request(Method::GET, "/status").header("X-Forwarded-For", forwarded_for)).await.status
}

rules! {
    async fn a_stranger_cannot_pretend_to_be_another(setup) {
        let app = setup.rate_limit(2, 60).start().await;
        assert_eq!(from(&app, "192.0.2.1").await, 200);
        assert_eq!(from(&app, "192.0.2.2").await, 200);
        assert_eq!(from(&app, "192.0.2.3").await, 429);
    }

    async fn a_trusted_proxy_speaks_for_its_clients(setup) {
        let app = setup.rate_limit(2, 60).http(|http| http.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()]);
        let app = app.start().await;
        for _ in 0..2 {
            assert_eq!(from(&app, "192.0.2.1").await, 200);
        }
        assert_eq!(from(&app, "192.0.2.1").await, 429);
        assert_eq!(from(&app, "192.0.2.2").await, 200);
        assert_eq!(from(&app, "192.0.2.2, 192.0.2.1").await, 429, "the client's own word is not believed");
    }

    async fn an_ipv6_network_is_one_client(setup) {
        let app = setup.rate_limit(2, 60).http(|http| http.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()]);
        let app = app.start().await;
        assert_eq!(from(&app, "2001:db8:0:1::1").await, 200);
        assert_eq!(from(&app, "2001:db8:0:1:ffff::2").await, 200);
        assert_eq!(from(&app, "2001:db8:0:1::3").await, 429);
        assert_eq!(from(&app, "2001:db8:0:2::1").await, 200);
    }
}
