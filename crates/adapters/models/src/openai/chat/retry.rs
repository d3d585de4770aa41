//! When a failed call of the chat model is repeated.

use chrono::{DateTime, Utc};
use docent_domain::fault::{Fault, FaultCause, FaultKind};
use docent_ports::clock::Clock;
use std::time::Duration;

/// Maximum number of attempts for one call.
pub(super) const ATTEMPTS: u32 = 10;
/// Number of attempts if the back end does not say that it will be available soon.
const SHORT_ATTEMPTS: u32 = 3;
/// Pause before the second attempt; doubled before each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Longest pause that the back end did not request.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The attempts of one call, before its first event.
pub(super) struct Retries<'c> {
    clock: &'c dyn Clock,
    until: DateTime<Utc>,
    attempts: u32,
    failures: u32,
}

impl<'c> Retries<'c> {
    /// Limits the time of all attempts.
    pub(super) fn new(clock: &'c dyn Clock, limit: Duration, attempts: u32) -> Self {
        Self { clock, until: clock.now() + limit, attempts, failures: 0 }
    }

    /// The pause before the next attempt; `None` if the call is not repeated.
    pub(super) fn pause_after(&mut self, fault: &Fault) -> Option<Duration> {
        self.failures += 1;
        let attempts = match (fault.kind(), fault.known_cause()) {
            (_, Some(FaultCause::OutOfMemory)) => 1,
            (FaultKind::RateLimited, _) | (FaultKind::Unavailable, Some(FaultCause::Loading)) => {
                self.attempts
            }
            (FaultKind::Unavailable, _) if fault.retry_after().is_some() => self.attempts,
            (FaultKind::Unavailable, _) => SHORT_ATTEMPTS.min(self.attempts),
            // After a timeout there is no time left.
            (
                FaultKind::Timeout
                | FaultKind::InUse
                | FaultKind::Full
                | FaultKind::Rejected
                | FaultKind::InvalidResponse
                | FaultKind::Unconfigured
                | FaultKind::Internal,
                _,
            ) => 1,
        };
        if self.failures >= attempts {
            return None;
        }
        let own = FIRST_PAUSE.saturating_mul(1 << (self.failures - 1).min(8)).min(LONGEST_PAUSE);
        let pause = fault.retry_after().unwrap_or(own);
        (self.clock.now() + pause <= self.until).then_some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::fault::Component;
    use docent_testkit::clock::TestClock;

    fn fault(kind: FaultKind) -> Fault {
        Fault::new(Component::ChatModel, kind, "no")
    }

    /// The pauses until the call fails, with the time passing.
    fn pauses(fault: &Fault) -> Vec<u64> {
        let clock = TestClock::default();
        let mut retries = Retries::new(&clock, Duration::from_secs(20), ATTEMPTS);
        let next = || {
            let pause = retries.pause_after(fault)?;
            clock.advance(pause);
            Some(pause.as_millis() as u64)
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn repeated_attempts_end_within_the_time_limit() {
        let seconds = |seconds| Duration::from_secs(seconds);
        assert_eq!(pauses(&fault(FaultKind::Unavailable)), [500, 1000]);
        let loading = fault(FaultKind::Unavailable).with_known_cause(FaultCause::Loading);
        assert_eq!(pauses(&loading), [500, 1000, 2000, 4000, 5000, 5000]);
        assert_eq!(pauses(&fault(FaultKind::RateLimited)), [500, 1000, 2000, 4000, 5000, 5000]);
        assert_eq!(pauses(&fault(FaultKind::RateLimited).with_retry_after(seconds(8))), [8000, 8000]);
        assert_eq!(pauses(&fault(FaultKind::RateLimited).with_retry_after(seconds(21))), [0; 0]);
        assert_eq!(pauses(&fault(FaultKind::RateLimited).with_retry_after(Duration::ZERO)), [0; 9]);
        for kind in [FaultKind::Rejected, FaultKind::Timeout, FaultKind::InvalidResponse] {
            assert_eq!(pauses(&fault(kind)), [0; 0]);
        }
    }
}
