//! A rate limiter that goes on when the shared one cannot be reached.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_ports::{
    error::{Fault, Result},
    rate_limiter::{Count, RateLimiter},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    time::Duration,
};

/// How long the shared limiter is left alone after a fault, in microseconds.
const PAUSE: i64 = 1_000_000;

/// In place of an instant: the shared limiter works.
const WORKS: i64 = i64::MIN;

/// In place of an instant: the shared limiter is to be tried with the next event.
const AT_ONCE: i64 = 0;

/// Counts in a shared limiter and, while that fails in whatever way, in a local one: then a limit
/// holds for each replica by itself, and its windows begin anew. After a fault one event a second is
/// tried on the shared limiter, so that slow faults slow nobody else down. The log says once that it
/// is away and once that it is back.
pub struct FallbackRateLimiter {
    shared: Arc<dyn RateLimiter>,
    local: Arc<dyn RateLimiter>,
    /// When the shared limiter is tried again, in microseconds since 1970.
    retry_at: AtomicI64,
}

impl FallbackRateLimiter {
    /// Falls back from `shared` to `local`.
    pub fn new(shared: Arc<dyn RateLimiter>, local: Arc<dyn RateLimiter>) -> Self {
        Self { shared, local, retry_at: AtomicI64::new(WORKS) }
    }

    /// Whether this event is for the shared limiter; of those at a time when it is away, one is.
    fn is_shared(&self, now: i64) -> bool {
        let retry_at = self.retry_at.load(Relaxed);
        if retry_at == WORKS {
            return true;
        }
        // A pause that seems longer than it can be comes of a clock that was set back.
        let waits = now < retry_at && retry_at - now <= PAUSE;
        !waits && self.retry_at.compare_exchange(retry_at, now + PAUSE, Relaxed, Relaxed).is_ok()
    }

    /// Notes how a call went, and gives its answer if there is one.
    fn note<T>(&self, answer: Result<T>, retry_at: i64) -> Option<T> {
        match answer {
            Ok(answer) => {
                let was_away = self.retry_at.load(Relaxed) != WORKS;
                if was_away && self.retry_at.swap(WORKS, Relaxed) != WORKS {
                    tracing::info!("the shared rate limiter is back");
                }
                Some(answer)
            }
            Err(fault) => {
                self.note_fault(&fault, retry_at);
                None
            }
        }
    }

    fn note_fault(&self, fault: &Fault, retry_at: i64) {
        if self.retry_at.swap(retry_at, Relaxed) == WORKS {
            tracing::warn!(%fault, "the shared rate limiter is away; limits hold per process until it is back");
        }
    }
}

#[async_trait]
impl RateLimiter for FallbackRateLimiter {
    async fn hit(&self, key: &str, window: Duration, now: DateTime<Utc>) -> Result<Count> {
        let micros = now.timestamp_micros();
        if self.is_shared(micros) {
            let answer = self.shared.hit(key, window, now).await;
            if let Some(count) = self.note(answer, micros + PAUSE) {
                return Ok(count);
            }
        }
        self.local.hit(key, window, now).await
    }

    async fn peek(&self, key: &str, now: DateTime<Utc>) -> Result<Count> {
        let micros = now.timestamp_micros();
        if self.is_shared(micros) {
            let answer = self.shared.peek(key, now).await;
            if let Some(count) = self.note(answer, micros + PAUSE) {
                return Ok(count);
            }
        }
        self.local.peek(key, now).await
    }

    async fn reset(&self, key: &str) -> Result<()> {
        self.local.reset(key).await?;
        // While the shared limiter is away there is nothing to do there: its window closes by itself.
        if self.retry_at.load(Relaxed) == WORKS {
            let answer = self.shared.reset(key).await;
            self.note(answer, AT_ONCE);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_ports::{
        clock::Clock,
        error::{FaultKind, Part},
    };
    use docent_testkit::{clock::TestClock, fakes::rate_limiter::FakeRateLimiter};
    use std::sync::atomic::{AtomicBool, AtomicUsize};

    const WINDOW: Duration = Duration::from_secs(60);

    /// A limiter that can be taken away, and knows how often it was asked.
    #[derive(Default)]
    struct Shared {
        inner: FakeRateLimiter,
        away: AtomicBool,
        asked: AtomicUsize,
    }

    impl Shared {
        fn ask(&self) -> Result<&FakeRateLimiter> {
            self.asked.fetch_add(1, Relaxed);
            if self.away.load(Relaxed) {
                return Err(Fault::new(Part::KeyValueStore, FaultKind::Unavailable, "away"));
            }
            Ok(&self.inner)
        }
    }

    #[async_trait]
    impl RateLimiter for Shared {
        async fn hit(&self, key: &str, window: Duration, now: DateTime<Utc>) -> Result<Count> {
            self.ask()?.hit(key, window, now).await
        }

        async fn peek(&self, key: &str, now: DateTime<Utc>) -> Result<Count> {
            self.ask()?.peek(key, now).await
        }

        async fn reset(&self, key: &str) -> Result<()> {
            self.ask()?.reset(key).await
        }
    }

    fn limiter() -> (Arc<Shared>, FallbackRateLimiter) {
        let shared = Arc::new(Shared::default());
        let local = Arc::new(FakeRateLimiter::default());
        (Arc::clone(&shared), FallbackRateLimiter::new(shared, local))
    }

    docent_testkit::rate_limiter_contract!(async { (Arc::new(limiter().1) as _, ()) });

    #[tokio::test]
    async fn counts_locally_while_the_shared_one_is_away_and_returns_to_it() {
        let (shared, limiter) = limiter();
        let clock = TestClock::default();
        let hit = || limiter.hit("a", WINDOW, clock.now());
        assert_eq!(hit().await.unwrap().events, 1);
        assert_eq!(hit().await.unwrap().events, 2);
        shared.away.store(true, Relaxed);
        for n in 1..=3 {
            assert_eq!(hit().await.unwrap().events, n);
        }
        assert_eq!(limiter.peek("a", clock.now()).await.unwrap().events, 3);
        assert_eq!(shared.asked.load(Relaxed), 3, "only the first of them was tried on it");
        shared.away.store(false, Relaxed);
        assert_eq!(hit().await.unwrap().events, 4, "within the pause");
        clock.advance(Duration::from_secs(1));
        assert_eq!(hit().await.unwrap().events, 3, "the shared count goes on");
        assert_eq!(hit().await.unwrap().events, 4);
    }

    /// Counts what is logged, whatever it is.
    struct Lines(Arc<AtomicUsize>);

    impl tracing::Subscriber for Lines {
        fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
            tracing::span::Id::from_u64(1)
        }

        fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

        fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

        fn event(&self, _: &tracing::Event<'_>) {
            self.0.fetch_add(1, Relaxed);
        }

        fn enter(&self, _: &tracing::span::Id) {}

        fn exit(&self, _: &tracing::span::Id) {}
    }

    #[tokio::test]
    async fn the_log_says_once_that_it_is_away_and_once_that_it_is_back() {
        let lines = Arc::new(AtomicUsize::new(0));
        let _logging = tracing::subscriber::set_default(Lines(Arc::clone(&lines)));
        let (shared, limiter) = limiter();
        let clock = TestClock::default();
        for (away, expected) in [(false, 0), (true, 1), (false, 2), (true, 3)] {
            shared.away.store(away, Relaxed);
            for _ in 0..10 {
                clock.advance(Duration::from_secs(1));
                limiter.hit("a", WINDOW, clock.now()).await.unwrap();
            }
            assert_eq!(lines.load(Relaxed), expected);
        }
    }

    #[tokio::test]
    async fn one_event_a_second_is_tried_on_the_shared_one() {
        let (shared, limiter) = limiter();
        let clock = TestClock::default();
        shared.away.store(true, Relaxed);
        for _ in 0..100 {
            limiter.hit("a", WINDOW, clock.now()).await.unwrap();
            clock.advance(Duration::from_millis(100));
        }
        assert_eq!(shared.asked.load(Relaxed), 10);
    }

    #[tokio::test]
    async fn a_reset_never_fails_and_forgets_the_local_count() {
        let (shared, limiter) = limiter();
        let now = TestClock::default().now();
        shared.away.store(true, Relaxed);
        limiter.reset("a").await.unwrap();
        limiter.hit("a", WINDOW, now).await.unwrap();
        limiter.reset("a").await.unwrap();
        assert_eq!(limiter.hit("a", WINDOW, now).await.unwrap().events, 1);
        assert_eq!(shared.asked.load(Relaxed), 2, "the first reset and the first event");
    }
}
