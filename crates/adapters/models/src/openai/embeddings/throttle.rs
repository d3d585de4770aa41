//! Adapts the rate of calls to a back end's rate limit; all callers of the process share it.
//!
//! Calls are unlimited until the back end requests a pause. After the pause one call is made alone; the others follow
//! at the rate that the back end was observed to accept, which rises slightly with each successful call.

use chrono::{DateTime, TimeDelta, Utc};
use docent_ports::clock::Clock;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Mutex as AsyncMutex, Notify};

/// Longer pauses are returned as an error.
const MAX_WAIT: TimeDelta = TimeDelta::seconds(60);
/// The pause if the back end does not specify one; it doubles with each consecutive one.
const DEFAULT_PAUSE: TimeDelta = TimeDelta::seconds(1);
/// The longest unspecified pause.
const MAX_DEFAULT_PAUSE: TimeDelta = TimeDelta::seconds(30);
/// Factor of the gap between calls after a success: the gap halves in 139 calls. A back end with a constant rate
/// limit rejects at most about one in twenty calls.
const GAP_DECAY: f64 = 0.995;
/// Minimum factor of the gap after a rejection.
const MIN_GAP_GROWTH: f64 = 1.1;
/// Maximum gap as a multiple of the longest requested pause.
const MAX_GAP_TO_PAUSE: f64 = 1.25;
/// After this time without calls, earlier calls no longer count against the rate limit.
const IDLE: TimeDelta = TimeDelta::seconds(1);

/// Limits the rate of calls to one back end.
pub(super) struct Throttle {
    state: Mutex<State>,
    /// Queues callers; the holder waits for the next permitted time or for a call in flight.
    queue: AsyncMutex<()>,
    call_ended: Notify,
    clock: Arc<dyn Clock>,
}

#[derive(Debug)]
struct State {
    /// The earliest time of the next call.
    not_before: DateTime<Utc>,
    /// The time between calls.
    gap: TimeDelta,
    in_flight: usize,
    max_in_flight: usize,
    /// Number of pauses. The outcome of a call that started before the last pause is ignored.
    pauses: u64,
    /// Number of consecutive pauses of unspecified length.
    default_pauses: u32,
    /// Limits the gap: random rejections do not indicate a rate limit.
    longest_pause: TimeDelta,
    /// Number of successful calls since `since`.
    succeeded: i32,
    since: DateTime<Utc>,
    last_call: DateTime<Utc>,
}

/// Permission for one call. Dropping it reports no outcome.
pub(super) struct CallPermit<'a> {
    throttle: &'a Throttle,
    pauses: u64,
}

/// What the first caller in the queue waits for.
enum Wait {
    Until(DateTime<Utc>),
    ForCallEnd,
    TooLong(TimeDelta),
}

impl State {
    fn new(now: DateTime<Utc>) -> Self {
        Self {
            not_before: now,
            gap: TimeDelta::zero(),
            in_flight: 0,
            max_in_flight: usize::MAX,
            pauses: 0,
            default_pauses: 0,
            longest_pause: TimeDelta::zero(),
            succeeded: 0,
            since: now,
            last_call: now,
        }
    }

    fn start(&mut self, now: DateTime<Utc>) -> Result<u64, Wait> {
        let wait = self.not_before - now;
        if wait > MAX_WAIT {
            return Err(Wait::TooLong(wait));
        }
        if self.in_flight >= self.max_in_flight {
            return Err(Wait::ForCallEnd);
        }
        if wait > TimeDelta::zero() {
            return Err(Wait::Until(self.not_before));
        }
        if self.in_flight == 0 && now - self.last_call > IDLE.max(self.gap * 2) {
            (self.succeeded, self.since) = (0, now);
        }
        self.in_flight += 1;
        self.last_call = now;
        self.not_before = now + self.gap;
        Ok(self.pauses)
    }

    fn succeed(&mut self, pauses: u64) {
        if pauses == self.pauses {
            self.succeeded = self.succeeded.saturating_add(1);
            self.default_pauses = 0;
            self.max_in_flight = self.max_in_flight.saturating_add(1);
            self.gap = scaled(self.gap, GAP_DECAY);
        }
    }

    fn rate_limit(&mut self, pauses: u64, asked: Option<TimeDelta>, now: DateTime<Utc>) {
        let is_current = pauses == self.pauses;
        let pause = asked.unwrap_or_else(|| {
            let doubled = DEFAULT_PAUSE * (1 << self.default_pauses.min(10));
            self.default_pauses += u32::from(is_current);
            doubled.min(MAX_DEFAULT_PAUSE)
        });
        if is_current {
            self.longest_pause = self.longest_pause.max(pause).min(MAX_WAIT);
            // Derives the gap from the calls accepted since the last pause.
            if self.succeeded > 0 {
                let observed = (now - self.since + pause.min(MAX_WAIT)) / self.succeeded;
                let longest = scaled(self.longest_pause, MAX_GAP_TO_PAUSE);
                self.gap = observed.max(scaled(self.gap, MIN_GAP_GROWTH)).min(longest);
            }
        }
        self.pause(pause, now);
    }

    fn pause(&mut self, pause: TimeDelta, now: DateTime<Utc>) {
        let over = now.checked_add_signed(pause).unwrap_or(DateTime::<Utc>::MAX_UTC);
        self.not_before = self.not_before.max(over);
        self.max_in_flight = 1;
        self.pauses += 1;
        (self.succeeded, self.since) = (0, self.not_before);
    }
}

fn scaled(gap: TimeDelta, by: f64) -> TimeDelta {
    let micros = gap.num_microseconds().unwrap_or(i64::MAX);
    TimeDelta::microseconds((micros as f64 * by) as i64)
}

impl Throttle {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        let state = Mutex::new(State::new(clock.now()));
        Self { state, queue: AsyncMutex::default(), call_ended: Notify::new(), clock }
    }

    /// Waits for permission to make a call, in FIFO order. Cancel-safe.
    ///
    /// # Errors
    /// The rest of a pause that is longer than `MAX_WAIT`.
    pub(super) async fn acquire(&self) -> Result<CallPermit<'_>, Duration> {
        let _first = self.queue.lock().await;
        loop {
            let call_ended = self.call_ended.notified();
            let now = self.clock.now();
            let started = self.state().start(now);
            match started {
                Ok(pauses) => return Ok(CallPermit { throttle: self, pauses }),
                Err(Wait::Until(at)) => self.clock.sleep((at - now).to_std().unwrap_or_default()).await,
                Err(Wait::ForCallEnd) => call_ended.await,
                Err(Wait::TooLong(pause)) => return Err(pause.to_std().unwrap_or_default()),
            }
        }
    }

    /// Applies a pause that the back end requested of a call outside the queue.
    pub(super) fn pause(&self, pause: Duration) {
        let now = self.clock.now();
        self.state().pause(TimeDelta::from_std(pause).unwrap_or(TimeDelta::MAX), now);
    }

    // The state is consistent even if a thread panicked while holding the lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallPermit<'_> {
    /// Reports a successful call.
    pub(super) fn succeeded(self) {
        self.throttle.state().succeed(self.pauses);
    }

    /// Reports that the back end requested a pause, possibly of unspecified length.
    pub(super) fn rate_limited(self, pause: Option<Duration>) {
        let pause = pause.map(|pause| TimeDelta::from_std(pause).unwrap_or(TimeDelta::MAX));
        let now = self.throttle.clock.now();
        self.throttle.state().rate_limit(self.pauses, pause, now);
    }
}

impl Drop for CallPermit<'_> {
    fn drop(&mut self) {
        self.throttle.state().in_flight -= 1;
        self.throttle.call_ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_testkit::builders::at;
    use docent_testkit::clock::TestClock;

    fn seconds(n: i64) -> TimeDelta {
        TimeDelta::seconds(n)
    }

    #[tokio::test]
    async fn calls_do_not_wait_before_the_first_pause() {
        let throttle = Throttle::new(Arc::new(TestClock::default()));
        let permits = futures::future::join_all((0..100).map(|_| throttle.acquire())).await;
        assert!(permits.iter().all(Result::is_ok));
    }

    #[tokio::test]
    async fn one_call_is_made_alone_after_a_pause() {
        let clock = Arc::new(TestClock::default());
        let throttle = Throttle::new(Arc::clone(&clock) as _);
        throttle.acquire().await.unwrap().rate_limited(Some(Duration::from_secs(5)));
        let mut first = std::pin::pin!(throttle.acquire());
        assert!(futures::poll!(&mut first).is_pending(), "the pause is not over");
        clock.advance(Duration::from_secs(5));
        let first = first.await.unwrap();
        let mut second = std::pin::pin!(throttle.acquire());
        clock.advance(Duration::from_secs(60));
        assert!(futures::poll!(&mut second).is_pending(), "the first call is in flight");
        first.succeeded();
        assert!(second.await.is_ok());
        assert!(throttle.acquire().await.is_ok(), "two calls may be in flight");
    }

    #[tokio::test]
    async fn dropped_permit_or_cancelled_wait_blocks_no_caller() {
        let clock = Arc::new(TestClock::default());
        let throttle = Throttle::new(Arc::clone(&clock) as _);
        throttle.pause(Duration::from_secs(1));
        {
            let mut cancelled = std::pin::pin!(throttle.acquire());
            assert!(futures::poll!(&mut cancelled).is_pending());
        }
        clock.advance(Duration::from_secs(1));
        drop(throttle.acquire().await.unwrap());
        assert!(throttle.acquire().await.is_ok());
    }

    #[test]
    fn gap_follows_the_observed_rate() {
        let mut state = State::new(at(0));
        for _ in 0..10 {
            let pauses = state.start(at(0)).ok().unwrap();
            state.succeed(pauses);
        }
        state.rate_limit(0, Some(seconds(5)), at(1));
        assert_eq!(state.gap, TimeDelta::milliseconds(600));
        let (gap, not_before) = (state.gap, state.not_before);
        // Other calls were in flight when the pause was requested.
        state.rate_limit(0, Some(seconds(5)), at(1));
        assert_eq!((state.gap, state.not_before), (gap, not_before));
        state.in_flight = 0;
        let pauses = state.start(at(6)).ok().unwrap();
        state.succeed(pauses);
        assert!(state.gap < gap, "the gap shrinks after each success");
        state.rate_limit(pauses, Some(seconds(50)), at(7));
        assert!(state.gap > gap);
    }

    #[test]
    fn unspecified_pauses_double_up_to_a_maximum() {
        let mut state = State::new(at(0));
        let mut pauses = Vec::new();
        for _ in 0..7 {
            let now = state.not_before;
            state.rate_limit(state.pauses, None, now);
            pauses.push((state.not_before - now).num_seconds());
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30]);
    }

    #[test]
    fn long_pause_is_returned_without_overflow() {
        let mut state = State::new(at(0));
        let pauses = state.start(at(0)).ok().unwrap();
        state.succeed(pauses);
        state.rate_limit(pauses, Some(TimeDelta::MAX), at(1));
        assert!(matches!(state.start(at(2)), Err(Wait::TooLong(_))));
        assert!(state.gap <= scaled(MAX_WAIT, MAX_GAP_TO_PAUSE));
    }
}
