//! The system's clock and random numbers. No other code may read them.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_ports::clock::Clock;
use docent_ports::entropy::Entropy;
use std::time::{Duration, SystemTime};

/// The system clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the implementation of the clock that all other code uses")]
    fn now(&self) -> DateTime<Utc> {
        // A clock set before 1970 or after the year 200,000 counts as unset.
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let micros = i64::try_from(since_epoch.as_micros()).unwrap_or_default();
        DateTime::from_timestamp_micros(micros).unwrap_or_default()
    }

    async fn sleep(&self, pause: Duration) {
        tokio::time::sleep(pause).await;
    }
}

/// Makes the memory and the environment of this process unreadable for other processes of the same account, such as a
/// PDF worker that a hostile file has taken over, and disables core dumps. Programs that it starts are not affected.
///
/// # Errors
/// If the kernel refuses it.
pub fn deny_inspection() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}

/// The operating system's random number generator.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[expect(clippy::panic, reason = "secrets must not be predictable")]
    fn fill(&self, bytes: &mut [u8]) {
        if let Err(error) = getrandom::fill(bytes) {
            panic!("cannot read random bytes from the operating system: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    docent_testkit::clock_contract!(async { (Arc::new(SystemClock) as _, ()) });

    #[cfg(target_os = "linux")]
    #[test]
    fn inspection_of_this_process_can_be_denied() {
        use rustix::process::{DumpableBehavior, dumpable_behavior};
        deny_inspection().unwrap();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
    }

    #[test]
    fn random_bytes_fill_buffers_and_differ() {
        let (mut a, mut b) = ([0; 32], [0; 32]);
        SystemEntropy.fill(&mut a);
        SystemEntropy.fill(&mut b);
        assert_ne!(a, b);
        // 16 random bytes are all zero once in 2^128 runs.
        assert!(a[..16] != [0; 16] && a[16..] != [0; 16]);
        SystemEntropy.fill(&mut []);
    }
}
