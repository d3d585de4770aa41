//! Waiting for what happens elsewhere, without sleeping.

use std::time::Duration;

/// What is far too long on any machine.
const TOO_LONG: Duration = Duration::from_secs(20);

/// Waits until `is_so` is true.
///
/// # Panics
/// When it never is.
pub async fn until(what: &str, is_so: impl AsyncFnMut() -> bool) {
    assert!(comes_true(is_so).await, "never happened: {what}");
}

/// Waits until `is_so` is true; false when it never is.
pub async fn comes_true(mut is_so: impl AsyncFnMut() -> bool) -> bool {
    let wait = async {
        while !is_so().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TOO_LONG, wait).await.is_ok()
}
