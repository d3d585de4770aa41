//! Adapts the rate of calls to a back end's rate limit; all callers of the process share it.
//!
//! Calls are unlimited until the back end requests a pause. After the pause one call is made alone; the others follow
//! at the rate that the back end was observed to accept, which rises slightly with each successful call.

use chrono::{DateTime, TimeDelta, Utc};
use docent_ports::clock::Clock;
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::{Mutex as AsyncMutex, Notify};

/// Longer pauses are returned as an error.
const PATIENCE: TimeDelta = TimeDelta::seconds(60);
/// The first pause for a back end that does not say how long; each further one in a row is twice as long.
const UNTOLD_PAUSE: TimeDelta = TimeDelta::seconds(1);
/// The longest of these.
const MAX_UNTOLD_PAUSE: TimeDelta = TimeDelta::seconds(30);
/// What a call that succeeds leaves of the gap between calls: it halves in 139 of them. A back end that
/// allows a steady rate is overrun once in some twenty calls at the most.
const LEFT_OF_GAP: f64 = 0.995;
/// A gap that was too short becomes this much longer at least,
const TOO_SHORT: f64 = 1.1;
/// and no longer than so many of the longest pauses.
const LONGEST_GAP: f64 = 1.25;
/// After so long without a call the back end has forgotten the calls before.
const IDLE: TimeDelta = TimeDelta::seconds(1);

/// Limits the rate of calls to one back end.
pub(super) struct Pace {
    state: Mutex<State>,
    /// Queues callers; the holder waits for the next permitted time or for a call in flight.
    line: AsyncMutex<()>,
    ended: Notify,
    clock: Arc<dyn Clock>,
}

#[derive(Debug)]
struct State {
    /// The earliest time of the next call.
    not_before: DateTime<Utc>,
    /// The time between calls.
    gap: TimeDelta,
    under_way: usize,
    at_once: usize,
    /// Counts the pauses. A call from before the last one tells nothing new.
    pauses: u64,
    /// Number of consecutive pauses of unspecified length.
    untold: u32,
    /// Gaps are not much longer than the longest pause that was asked for: refusals at random are no rate.
    longest_pause: TimeDelta,
    /// Number of successful calls since `since`.
    succeeded: i32,
    since: DateTime<Utc>,
    last_call: DateTime<Utc>,
}

/// Permission for one call. Dropping it reports no outcome.
pub(super) struct Turn<'a> {
    pace: &'a Pace,
    pauses: u64,
}

/// What the first caller in the queue waits for.
enum Wait {
    Until(DateTime<Utc>),
    ForAnEnd,
    TooLong(TimeDelta),
}

impl State {
    fn new(now: DateTime<Utc>) -> Self {
        Self {
            not_before: now,
            gap: TimeDelta::zero(),
            under_way: 0,
            at_once: usize::MAX,
            pauses: 0,
            untold: 0,
            longest_pause: TimeDelta::zero(),
            succeeded: 0,
            since: now,
            last_call: now,
        }
    }

    fn start(&mut self, now: DateTime<Utc>) -> Result<u64, Wait> {
        let wait = self.not_before - now;
        if wait > PATIENCE {
            return Err(Wait::TooLong(wait));
        }
        if self.under_way >= self.at_once {
            return Err(Wait::ForAnEnd);
        }
        if wait > TimeDelta::zero() {
            return Err(Wait::Until(self.not_before));
        }
        if self.under_way == 0 && now - self.last_call > IDLE.max(self.gap * 2) {
            (self.succeeded, self.since) = (0, now);
        }
        self.under_way += 1;
        self.last_call = now;
        self.not_before = now + self.gap;
        Ok(self.pauses)
    }

    fn succeed(&mut self, pauses: u64) {
        if pauses == self.pauses {
            self.succeeded = self.succeeded.saturating_add(1);
            self.untold = 0;
            self.at_once = self.at_once.saturating_add(1);
            self.gap = scaled(self.gap, LEFT_OF_GAP);
        }
    }

    fn hold_up(&mut self, pauses: u64, asked: Option<TimeDelta>, now: DateTime<Utc>) {
        let is_news = pauses == self.pauses;
        let pause = asked.unwrap_or_else(|| {
            let doubled = UNTOLD_PAUSE * (1 << self.untold.min(10));
            self.untold += u32::from(is_news);
            doubled.min(MAX_UNTOLD_PAUSE)
        });
        if is_news {
            self.longest_pause = self.longest_pause.max(pause).min(PATIENCE);
            // So many calls in so long were allowed, and the gap until now was too short.
            if self.succeeded > 0 {
                let seen = (now - self.since + pause.min(PATIENCE)) / self.succeeded;
                let longest = scaled(self.longest_pause, LONGEST_GAP);
                self.gap = seen.max(scaled(self.gap, TOO_SHORT)).min(longest);
            }
        }
        self.pause(pause, now);
    }

    fn pause(&mut self, pause: TimeDelta, now: DateTime<Utc>) {
        let over = now.checked_add_signed(pause).unwrap_or(DateTime::<Utc>::MAX_UTC);
        self.not_before = self.not_before.max(over);
        self.at_once = 1;
        self.pauses += 1;
        (self.succeeded, self.since) = (0, self.not_before);
    }
}

fn scaled(gap: TimeDelta, by: f64) -> TimeDelta {
    let micros = gap.num_microseconds().unwrap_or(i64::MAX);
    TimeDelta::microseconds((micros as f64 * by) as i64)
}

impl Pace {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        let state = Mutex::new(State::new(clock.now()));
        Self { state, line: AsyncMutex::default(), ended: Notify::new(), clock }
    }

    /// Waits for permission to make a call, in FIFO order. Cancel-safe.
    ///
    /// # Errors
    /// The rest of a pause that is longer than `MAX_WAIT`.
    pub(super) async fn turn(&self) -> Result<Turn<'_>, Duration> {
        let _first = self.line.lock().await;
        loop {
            let ended = self.ended.notified();
            let now = self.clock.now();
            let started = self.state().start(now);
            match started {
                Ok(pauses) => return Ok(Turn { pace: self, pauses }),
                Err(Wait::Until(at)) => self.clock.sleep((at - now).to_std().unwrap_or_default()).await,
                Err(Wait::ForAnEnd) => ended.await,
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

impl Turn<'_> {
    /// The back end did what it was asked.
    pub(super) fn succeeded(self) {
        self.pace.state().succeed(self.pauses);
    }

    /// Reports that the back end requested a pause, possibly of unspecified length.
    pub(super) fn held_up(self, pause: Option<Duration>) {
        let pause = pause.map(|pause| TimeDelta::from_std(pause).unwrap_or(TimeDelta::MAX));
        let now = self.pace.clock.now();
        self.pace.state().hold_up(self.pauses, pause, now);
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.pace.state().under_way -= 1;
        self.pace.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_testkit::{builders::at, clock::TestClock};

    fn seconds(n: i64) -> TimeDelta {
        TimeDelta::seconds(n)
    }

    #[tokio::test]
    async fn nobody_waits_before_the_back_end_asks_for_it() {
        let pace = Pace::new(Arc::new(TestClock::default()));
        let turns = futures::future::join_all((0..100).map(|_| pace.turn())).await;
        assert!(turns.iter().all(Result::is_ok));
    }

    #[tokio::test]
    async fn after_a_pause_one_call_goes_ahead_alone() {
        let clock = Arc::new(TestClock::default());
        let pace = Pace::new(Arc::clone(&clock) as _);
        pace.turn().await.unwrap().held_up(Some(Duration::from_secs(5)));
        let mut first = std::pin::pin!(pace.turn());
        assert!(futures::poll!(&mut first).is_pending(), "the pause is not over");
        clock.advance(Duration::from_secs(5));
        let first = first.await.unwrap();
        let mut second = std::pin::pin!(pace.turn());
        clock.advance(Duration::from_secs(60));
        assert!(futures::poll!(&mut second).is_pending(), "the first one is under way");
        first.succeeded();
        assert!(second.await.is_ok());
        assert!(pace.turn().await.is_ok(), "and then two at once");
    }

    #[tokio::test]
    async fn a_turn_that_is_dropped_or_given_up_blocks_nobody() {
        let clock = Arc::new(TestClock::default());
        let pace = Pace::new(Arc::clone(&clock) as _);
        pace.pause(Duration::from_secs(1));
        {
            let mut gone = std::pin::pin!(pace.turn());
            assert!(futures::poll!(&mut gone).is_pending());
        }
        clock.advance(Duration::from_secs(1));
        drop(pace.turn().await.unwrap());
        assert!(pace.turn().await.is_ok());
    }

    #[test]
    fn the_gap_is_what_was_seen_to_be_allowed() {
        let mut state = State::new(at(0));
        for _ in 0..10 {
            let pauses = state.start(at(0)).ok().unwrap();
            state.succeed(pauses);
        }
        state.hold_up(0, Some(seconds(5)), at(1));
        assert_eq!(state.gap, TimeDelta::milliseconds(600));
        let (gap, not_before) = (state.gap, state.not_before);
        // Other calls were in flight when the pause was requested.
        state.hold_up(0, Some(seconds(5)), at(1));
        assert_eq!((state.gap, state.not_before), (gap, not_before));
        state.under_way = 0;
        let pauses = state.start(at(6)).ok().unwrap();
        state.succeed(pauses);
        assert!(state.gap < gap, "it is a little shorter after each success");
        state.hold_up(pauses, Some(seconds(50)), at(7));
        assert!(state.gap > gap);
    }

    #[test]
    fn pauses_without_a_length_grow_up_to_a_bound() {
        let mut state = State::new(at(0));
        let mut pauses = Vec::new();
        for _ in 0..7 {
            let now = state.not_before;
            state.hold_up(state.pauses, None, now);
            pauses.push((state.not_before - now).num_seconds());
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30]);
    }

    #[test]
    fn a_long_pause_is_told_and_overflows_nothing() {
        let mut state = State::new(at(0));
        let pauses = state.start(at(0)).ok().unwrap();
        state.succeed(pauses);
        state.hold_up(pauses, Some(TimeDelta::MAX), at(1));
        assert!(matches!(state.start(at(2)), Err(Wait::TooLong(_))));
        assert!(state.gap <= scaled(PATIENCE, LONGEST_GAP));
    }
}
