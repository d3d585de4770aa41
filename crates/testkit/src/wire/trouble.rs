//! A back end that cannot always serve.

use super::Reply;
use crate::clock::TestClock;
use docent_ports::clock::Clock;
use serde_json::json;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// So many calls in so long, by a clock; to the others it says when there will be room. Clones count together.
#[derive(Clone, Debug)]
pub struct RateLimit {
    calls: usize,
    per: Duration,
    clock: Arc<TestClock>,
    served: Arc<Mutex<VecDeque<chrono::DateTime<chrono::Utc>>>>,
}

impl RateLimit {
    /// Serves `calls` within any stretch of time that is `per` long.
    pub fn new(calls: usize, per: Duration, clock: &Arc<TestClock>) -> Self {
        Self { calls, per, clock: Arc::clone(clock), served: Arc::default() }
    }

    /// The refusal of one call too many, with `Retry-After` in whole seconds, as servers have it.
    pub(super) fn refusal(&self) -> Option<Reply> {
        let now = self.clock.now();
        let age = |at: chrono::DateTime<chrono::Utc>| (now - at).to_std().unwrap_or_default();
        let mut served = self.served.lock().unwrap();
        while served.front().is_some_and(|at| age(*at) >= self.per) {
            served.pop_front();
        }
        if served.len() < self.calls {
            served.push_back(now);
            return None;
        }
        let oldest = served.front().copied().unwrap_or(now);
        let seconds = self.per.saturating_sub(age(oldest)).as_secs_f64().ceil();
        Some(too_many(&format!("{seconds}")))
    }
}

/// What a back end refuses to embed. Nothing by default.
#[derive(Clone, Debug, Default)]
pub struct Refusals {
    /// Every call, with this reply.
    pub always: Option<Reply>,
    /// More texts than this in one call, with this status.
    pub texts: Option<(usize, u16)>,
    /// A text of more bytes than this, with this status.
    pub bytes: Option<(usize, u16)>,
    /// Whether the refusal of a text says how long it is, and how long it may be.
    pub names_bytes: bool,
    /// A text with this word, with this status.
    pub word: Option<(&'static str, u16)>,
    /// A text with this word: its vector is not a number.
    pub word_without_vector: Option<&'static str>,
}

impl Refusals {
    /// The refusal of a call with these texts.
    pub(super) fn refusal(&self, texts: &[&str]) -> Option<Reply> {
        let refuse = |status, message: &str| {
            Some(Reply::json(status, json!({"error": {"message": message}}).to_string()))
        };
        let longest = texts.iter().map(|text| text.len()).max().unwrap_or_default();
        match self {
            Self { always: Some(reply), .. } => Some(reply.clone()),
            Self { texts: Some((limit, status)), .. } if texts.len() > *limit => {
                refuse(*status, &format!("batch size {} > maximum allowed batch size {limit}", texts.len()))
            }
            Self { bytes: Some((limit, status)), names_bytes, .. } if longest > *limit => match names_bytes {
                true => {
                    refuse(*status, &format!("inputs must have less than {limit} tokens. Given: {longest}"))
                }
                false => refuse(*status, "the input length exceeds the context length"),
            },
            Self { word: Some((word, status)), .. } if texts.iter().any(|text| text.contains(word)) => {
                refuse(*status, "failed to encode response: json: unsupported value: NaN")
            }
            _ => None,
        }
    }
}

/// Fails so many calls of a hundred, by chance from a seed. Clones go on in one sequence.
#[derive(Clone, Debug)]
pub struct Failing {
    percent: u64,
    chance: Arc<Mutex<u64>>,
}

impl Failing {
    /// Fails `percent` of a hundred calls: half of these with 500, a quarter each with a 429 that says when to come
    /// back and with one that does not.
    pub fn new(percent: u64, seed: u64) -> Self {
        Self { percent, chance: Arc::new(Mutex::new(seed)) }
    }

    /// What comes instead of an answer, if this call fails.
    pub(super) fn failure(&self) -> Option<Reply> {
        if self.draw() % 100 >= self.percent {
            return None;
        }
        Some(match self.draw() % 4 {
            0 => too_many("1"),
            1 => Reply::json(429, "{}"),
            _ => Reply::json(500, r#"{"error":{"message":"The server had an error."}}"#),
        })
    }

    /// SplitMix64.
    fn draw(&self) -> u64 {
        let mut state = self.chance.lock().unwrap();
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

fn too_many(retry_after: &str) -> Reply {
    Reply::json(429, r#"{"error":{"message":"Too many requests."}}"#).header("Retry-After", retry_after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_above_the_rate_are_told_when_there_is_room() {
        let clock = Arc::new(TestClock::default());
        let limit = RateLimit::new(2, Duration::from_secs(10), &clock);
        assert!(limit.refusal().is_none());
        clock.advance(Duration::from_millis(3500));
        assert!(limit.refusal().is_none());
        let refusal = limit.clone().refusal().unwrap();
        assert_eq!(refusal.status, 429);
        assert!(refusal.headers.contains(&("Retry-After".to_owned(), "7".to_owned())), "{refusal:?}");
        clock.advance(Duration::from_millis(6500));
        assert!(limit.refusal().is_none());
        assert!(limit.refusal().is_some());
    }

    #[test]
    fn so_many_of_a_hundred_fail_in_every_way() {
        let failing = Failing::new(30, 7);
        let failures: Vec<Reply> = (0..10_000).filter_map(|_| failing.failure()).collect();
        assert!((2800..3200).contains(&failures.len()), "{}", failures.len());
        let are = |status| failures.iter().filter(|reply| reply.status == status).count();
        assert!(are(429) > 1000 && are(500) > 1000 && are(429) + are(500) == failures.len());
        assert!(Failing::new(0, 7).failure().is_none());
    }
}
