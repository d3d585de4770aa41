//! Every fake passes the battery of its port.

mod rate_limiter {
    use docent_testkit::fakes::rate_limiter::FakeRateLimiter;
    use std::sync::Arc;

    docent_testkit::rate_limiter_contract!(async { (Arc::new(FakeRateLimiter::default()) as _, ()) });
}

mod store {
    use docent_ports::store::Store;
    use docent_testkit::fakes::store::FakeStore;
    use std::sync::Arc;

    async fn fresh() -> (Arc<dyn Store>, ()) {
        (Arc::new(FakeStore::default()), ())
    }

    docent_testkit::store_contract!(fresh());

    mod documents {
        docent_testkit::documents_contract!(super::fresh());
    }

    mod jobs {
        docent_testkit::jobs_contract!(super::fresh());
    }

    mod job_ledger {
        docent_testkit::job_ledger_contract!(super::fresh());
    }

    mod users {
        docent_testkit::users_contract!(super::fresh());
    }

    mod usage {
        docent_testkit::usage_contract!(super::fresh());
    }
}
