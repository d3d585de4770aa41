//! What happens in which order: a function of the seed.

use docent_testkit::pdf::pdf;
use std::{collections::hash_map::RandomState, hash::BuildHasher};

/// Decisions that repeat themselves (splitmix64).
#[derive(Clone)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// A random seed.
    pub(super) fn seed() -> u64 {
        // Short enough to be typed again.
        RandomState::new().hash_one(0) % 1_000_000
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `n`, without `n`.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }
}

/// A PDF to be uploaded.
#[derive(Clone)]
pub(super) struct Paper {
    pub(super) bytes: Vec<u8>,
    /// A word that it shares only with its copies; none when it can never be ingested.
    pub(super) word: Option<String>,
}

/// Something that strikes the installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The next paper is uploaded.
    Upload(usize),
    /// One of the papers uploaded so far is deleted.
    Delete(usize),
    /// A failed one is tried again.
    Retry,
    /// Kills the process that serves.
    KillServer,
    /// Kills the process that runs jobs alone, where there is one.
    KillWorker,
    /// Stops a store for a while.
    Stop(Store),
}

/// A store that can be stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Store {
    Postgres,
    Redis,
    Qdrant,
}

/// Everything that happens.
pub(super) struct Plan {
    pub(super) papers: Vec<Paper>,
    pub(super) events: Vec<Event>,
}

/// How much happens.
#[derive(Clone, Copy)]
pub(super) struct Measure {
    pub(super) documents: u32,
    pub(super) deletes: u32,
    pub(super) retries: u32,
    pub(super) has_servers: bool,
}

impl Plan {
    pub(super) fn new(chance: &mut Chance, measure: Measure) -> Self {
        let papers = papers(chance, measure.documents as usize);
        let mut events: Vec<Event> = (0..papers.len()).map(Event::Upload).collect();
        let mut place =
            |events: &mut Vec<Event>, from: usize, event: &dyn Fn(&[Event], usize, u64) -> Event| {
                let at = from + chance.below((events.len() - from) as u64) as usize;
                let event = event(events, at, chance.below(u64::MAX));
                events.insert(at, event);
            };
        let deletes = measure.deletes.min(measure.documents / 3);
        for n in 0..deletes {
            // By then more is there than is deleted in all.
            place(&mut events, 2 * deletes as usize, &|events, at, chosen| {
                let is_there = |paper: &usize| events[..at].contains(&Event::Upload(*paper));
                let is_free = |paper: &usize| !events.contains(&Event::Delete(*paper));
                let targets: Vec<usize> = (0..papers.len()).filter(is_there).filter(is_free).collect();
                // Every other one hits the latest upload, which is about to be ingested.
                let last = targets.len() - 1;
                Event::Delete(targets[if n % 2 == 0 { last } else { chosen as usize % targets.len() }])
            });
        }
        // By then some have failed.
        for _ in 0..measure.retries {
            let middle = events.len() / 2;
            place(&mut events, middle, &|_, _, _| Event::Retry);
        }
        for _ in 0..(measure.documents / 16).max(2) {
            place(&mut events, 1, &|_, _, _| Event::KillServer);
            if measure.has_servers {
                place(&mut events, 1, &|_, _, _| Event::KillWorker);
            }
        }
        if measure.has_servers {
            for _ in 0..(measure.documents / 64).max(1) {
                for store in [Store::Postgres, Store::Redis, Store::Qdrant] {
                    place(&mut events, 1, &|_, _, _| Event::Stop(store));
                }
            }
        }
        Self { papers, events }
    }
}

/// One in twelve can never be ingested, and one in ten is a copy of an earlier one.
fn papers(chance: &mut Chance, count: usize) -> Vec<Paper> {
    let mut papers: Vec<Paper> = Vec::with_capacity(count);
    for n in 0..count {
        let paper = if n % 12 == 5 {
            Paper { bytes: unusable(chance, n), word: None }
        } else if n % 10 == 9 {
            papers[chance.below(n as u64) as usize].clone()
        } else {
            let word = word(n);
            Paper { bytes: written(chance, &word), word: Some(word) }
        };
        papers.push(paper);
    }
    papers
}

/// One to three pages of prose without sense.
fn written(chance: &mut Chance, word: &str) -> Vec<u8> {
    let pages: Vec<String> = (0..=chance.below(3)).map(|_| page(chance, word)).collect();
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    pdf(&pages)
}

fn page(chance: &mut Chance, word: &str) -> String {
    const WORDS: [&str; 16] = [
        "pump",
        "valve",
        "report",
        "monthly",
        "pressure",
        "inspection",
        "warranty",
        "filter",
        "operator",
        "manual",
        "replaced",
        "measured",
        "section",
        "supplier",
        "schedule",
        "remark",
    ];
    let mut page = format!("About {word}.\n");
    for _ in 0..40 {
        let line: Vec<&str> = (0..10).map(|_| WORDS[chance.below(16) as usize]).collect();
        page += &line.join(" ");
        page += ".\n";
    }
    page
}

fn unusable(chance: &mut Chance, n: usize) -> Vec<u8> {
    match chance.below(3) {
        0 => format!("This is no PDF, but letter number {n}.").into_bytes(),
        1 => {
            let mut cut = written(chance, "nothing");
            cut.truncate(60);
            cut
        }
        // A page without text; what tells it from others is a comment behind its end.
        _ => [pdf(&[""]), format!("% {n}\n").into_bytes()].concat(),
    }
}

/// A word that no language has, and that no stemmer shortens.
fn word(mut n: usize) -> String {
    const SYLLABLES: [&str; 10] = ["ba", "ko", "lu", "mi", "ta", "ro", "du", "no", "pa", "vo"];
    let mut word = String::from("zx");
    for _ in 0..4 {
        word += SYLLABLES[n % 10];
        n /= 10;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(seed: u64) -> Plan {
        let measure = Measure { documents: 200, deletes: 20, retries: 10, has_servers: true };
        Plan::new(&mut Chance::seeded(seed), measure)
    }

    #[test]
    fn a_seed_repeats_every_decision_and_another_one_makes_others() {
        assert_eq!(plan(1).events, plan(1).events);
        assert_ne!(plan(1).events, plan(2).events);
        assert!(plan(1).papers.iter().zip(&plan(1).papers).all(|(one, other)| one.bytes == other.bytes));
    }

    #[test]
    fn a_plan_has_everything_that_was_asked_for_and_deletes_only_what_was_uploaded() {
        let Plan { papers, events } = plan(3);
        let count = |is: fn(&Event) -> bool| events.iter().filter(|event| is(event)).count();
        assert_eq!(count(|event| matches!(event, Event::Upload(_))), 200);
        assert_eq!(count(|event| matches!(event, Event::Delete(_))), 20);
        assert_eq!(count(|event| *event == Event::Retry), 10);
        assert_eq!(count(|event| *event == Event::KillServer), 12);
        assert_eq!(count(|event| *event == Event::KillWorker), 12);
        assert_eq!(count(|event| matches!(event, Event::Stop(_))), 9);
        for (at, event) in events.iter().enumerate() {
            if let Event::Delete(n) = event {
                assert!(events[..at].contains(&Event::Upload(*n)));
                assert!(!events[..at].contains(&Event::Delete(*n)), "each is another one");
            }
        }
        let unusable = papers.iter().filter(|paper| paper.word.is_none()).count();
        assert!(unusable >= 16, "enough to retry: {unusable}");
    }
}
