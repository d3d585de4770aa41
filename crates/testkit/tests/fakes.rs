//! Every fake passes the battery of its port.

mod rate_limiter {
    use docent_testkit::fakes::rate_limiter::FakeRateLimiter;
    use std::sync::Arc;

    docent_testkit::rate_limiter_contract!(async { (Arc::new(FakeRateLimiter::default()) as _, ()) });
}
