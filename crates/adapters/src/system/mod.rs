//! The machine's own time and chance: the only place that may read them.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_ports::{clock::Clock, entropy::Entropy};
use std::time::{Duration, SystemTime};

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that all others are told to ask")]
    fn now(&self) -> DateTime<Utc> {
        // A clock set before 1970 or after the year 200,000 is as good as unset.
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let micros = i64::try_from(since_epoch.as_micros()).unwrap_or_default();
        DateTime::from_timestamp_micros(micros).unwrap_or_default()
    }

    async fn sleep(&self, pause: Duration) {
        tokio::time::sleep(pause).await;
    }
}

/// The operating system's source of chance.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[expect(clippy::panic, reason = "to go on would mean secrets that can be guessed")]
    fn fill(&self, bytes: &mut [u8]) {
        if let Err(error) = getrandom::fill(bytes) {
            panic!("the operating system gives no random bytes: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    docent_testkit::clock_contract!(async { (Arc::new(SystemClock) as _, ()) });

    #[test]
    fn chance_fills_all_bytes_and_does_not_repeat_itself() {
        let (mut a, mut b) = ([0; 32], [0; 32]);
        SystemEntropy.fill(&mut a);
        SystemEntropy.fill(&mut b);
        assert_ne!(a, b);
        // That a half of 16 bytes stays zero by chance happens once in 2^128 runs.
        assert!(a[..16] != [0; 16] && a[16..] != [0; 16]);
        SystemEntropy.fill(&mut []);
    }
}
