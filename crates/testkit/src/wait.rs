//! Waits for conditions without sleeping. A condition that never comes true fails the test instead of stopping all
//! tests.

use std::time::Duration;

/// Far longer than any condition takes on any machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Waits until `condition` is true.
///
/// # Panics
/// When it is not true within the timeout.
pub async fn until(what: &str, condition: impl AsyncFnMut() -> bool) {
    assert!(comes_true(condition).await, "never happened: {what}");
}

/// Waits until `condition` is true; returns false after the timeout.
pub async fn comes_true(mut condition: impl AsyncFnMut() -> bool) -> bool {
    let wait = async {
        while !condition().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TIMEOUT, wait).await.is_ok()
}
