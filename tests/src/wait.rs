//! Waiting for what happens elsewhere, without sleeping.

use std::time::Duration;

/// What is far too long on any machine.
const TOO_LONG: Duration = Duration::from_secs(20);

/// Waits until `is_so` is true.
pub async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !is_so().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TOO_LONG, wait).await.unwrap_or_else(|_| panic!("never happened: {what}"));
}
