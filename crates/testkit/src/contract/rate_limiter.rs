//! Contract of every rate limiter.

use crate::clock::TestClock;
use docent_ports::clock::Clock;
use docent_ports::rate_limiter::RateLimiter;
use std::sync::Arc;
use std::time::Duration;

const WINDOW: Duration = Duration::from_secs(60);

crate::battery! {
    rate_limiter_contract in rate_limiter (Arc<dyn RateLimiter>);

    async fn hits_are_counted_by_key(limiter) {
        let now = TestClock::default().now();
        for n in 1..=3 {
            assert_eq!(limiter.hit("a", WINDOW, now).await.unwrap().events, n);
        }
        assert_eq!(limiter.hit("b", WINDOW, now).await.unwrap().events, 1);
    }

    /// Later events do not extend the window.
    async fn window_starts_with_first_hit(limiter) {
        let clock = TestClock::default();
        limiter.hit("a", WINDOW, clock.now()).await.unwrap();
        clock.advance(Duration::from_secs(59));
        let count = limiter.hit("a", WINDOW, clock.now()).await.unwrap();
        assert_eq!((count.events, count.resets_in), (2, Duration::from_secs(1)));
        clock.advance(Duration::from_secs(1));
        let count = limiter.hit("a", WINDOW, clock.now()).await.unwrap();
        assert_eq!((count.events, count.resets_in), (1, WINDOW));
    }

    async fn peek_does_not_count(limiter) {
        let clock = TestClock::default();
        assert_eq!(limiter.peek("a", clock.now()).await.unwrap().events, 0);
        limiter.hit("a", WINDOW, clock.now()).await.unwrap();
        for _ in 0..2 {
            assert_eq!(limiter.peek("a", clock.now()).await.unwrap().events, 1);
        }
        clock.advance(WINDOW);
        assert_eq!(limiter.peek("a", clock.now()).await.unwrap().events, 0);
    }

    async fn reset_clears_one_key(limiter) {
        let now = TestClock::default().now();
        limiter.hit("a", WINDOW, now).await.unwrap();
        limiter.hit("b", WINDOW, now).await.unwrap();
        limiter.reset("a").await.unwrap();
        assert_eq!(limiter.peek("a", now).await.unwrap().events, 0);
        assert_eq!(limiter.peek("b", now).await.unwrap().events, 1);
    }

    /// Slots are limited by key, freed, and lost when their time has passed.
    async fn slots_are_limited_and_expire(limiter) {
        let clock = TestClock::default();
        let take = async |key, holder| limiter.take_slot(key, holder, 2, WINDOW, clock.now()).await.unwrap();
        assert!(take("a", "1").await && take("a", "2").await && !take("a", "3").await);
        assert!(take("b", "3").await, "another key");
        limiter.free_slot("a", "1").await.unwrap();
        limiter.free_slot("a", "1").await.unwrap();
        limiter.free_slot("c", "1").await.unwrap();
        assert!(take("a", "3").await && !take("a", "1").await);
        clock.advance(Duration::from_secs(59));
        assert!(take("a", "3").await, "a holder renews its slot");
        clock.advance(Duration::from_secs(1));
        assert!(take("a", "1").await && !take("a", "4").await, "the slot of 2 has expired");
        assert_eq!(limiter.peek("a", clock.now()).await.unwrap().events, 0);
    }

    /// Concurrent callers do not get more slots than there are.
    // Invariant: An account stores no more than its limit, and has no more answers in progress, in any
    // process.
    async fn concurrent_callers_share_the_slots(limiter) {
        let now = TestClock::default().now();
        let callers = (0..50).map(|n| {
            let limiter = Arc::clone(&limiter);
            tokio::spawn(async move { limiter.take_slot("a", &n.to_string(), 7, WINDOW, now).await.unwrap() })
        });
        let mut taken = 0;
        for caller in callers.collect::<Vec<_>>() {
            taken += u32::from(caller.await.unwrap());
        }
        assert_eq!(taken, 7);
    }

    /// Concurrent events all count, and each gets its own count.
    // Invariant: Rate-limit counters are exact under concurrency.
    async fn concurrent_hits_are_exact(limiter) {
        let now = TestClock::default().now();
        let hits = (0..200).map(|_| {
            let limiter = Arc::clone(&limiter);
            tokio::spawn(async move { limiter.hit("a", WINDOW, now).await.unwrap().events })
        });
        let mut counts = Vec::new();
        for hit in hits.collect::<Vec<_>>() {
            counts.push(hit.await.unwrap());
        }
        counts.sort_unstable();
        assert_eq!(counts, (1..=200).collect::<Vec<_>>());
    }
}
