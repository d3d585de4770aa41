//! What every clock does.

use docent_ports::clock::Clock;
use std::{sync::Arc, time::Duration};

crate::battery! {
    clock_contract in clock (Arc<dyn Clock>);

    /// Instants fit what databases keep, so that a value read back equals the one written.
    async fn tells_whole_microseconds(clock) {
        assert_eq!(clock.now().timestamp_subsec_nanos() % 1000, 0);
    }

    /// It tells a time after this battery was written, and never goes back between two looks.
    async fn goes_forward(clock) {
        let first = clock.now();
        assert!(first.timestamp() >= 1_767_225_600, "{first}");
        assert!(clock.now() >= first);
    }

    /// Waiting for no time is over at once.
    async fn an_empty_pause_is_over_at_once(clock) {
        clock.sleep(Duration::ZERO).await;
    }
}
