//! Contract of every clock.

use docent_ports::clock::Clock;
use std::sync::Arc;
use std::time::Duration;

crate::battery! {
    clock_contract in clock (Arc<dyn Clock>);

    /// Times have the precision of the databases, so that they are read as written.
    async fn now_has_microsecond_precision(clock) {
        assert_eq!(clock.now().timestamp_subsec_nanos() % 1000, 0);
    }

    /// The time is later than this battery and does not decrease.
    async fn now_does_not_decrease(clock) {
        let first = clock.now();
        assert!(first.timestamp() >= 1_767_225_600, "{first}");
        assert!(clock.now() >= first);
    }

    async fn sleep_of_zero_returns_immediately(clock) {
        clock.sleep(Duration::ZERO).await;
    }
}
