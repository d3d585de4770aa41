//! The plan of a run: documents and events, derived from the seed.

use crate::random::Random;
use docent_testkit::pdf::pdf;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// Returns a random seed, short enough to type.
pub(super) fn random_seed() -> u64 {
    RandomState::new().hash_one(0) % 1_000_000
}

/// Number of the first word of a replacement: more than there are papers.
const REPLACEMENTS: usize = 50_000;

/// A PDF to upload.
#[derive(Clone)]
pub(super) struct Paper {
    pub(super) bytes: Vec<u8>,
    /// A word that occurs only in this PDF and its copies; `None` if it cannot be ingested.
    pub(super) word: Option<String>,
    /// The PDF that replaces it, if the plan does so, and its own word.
    pub(super) next: (Vec<u8>, String),
}

/// A step of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Uploads a paper.
    Upload(usize),
    /// Deletes a paper that was uploaded before.
    Delete(usize),
    /// Replaces the file of a paper that was uploaded before.
    Replace(usize),
    /// Retries a failed document.
    Retry,
    /// Kills the server.
    KillServer,
    /// Kills the worker, if there is one.
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

/// The documents and events of a run.
pub(super) struct Plan {
    pub(super) papers: Vec<Paper>,
    pub(super) events: Vec<Event>,
}

/// The size of a run.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    pub(super) documents: u32,
    pub(super) deletes: u32,
    pub(super) retries: u32,
    pub(super) has_servers: bool,
}

impl Plan {
    pub(super) fn new(random: &mut Random, scale: Scale) -> Self {
        let papers = papers(random, scale.documents as usize);
        let mut events: Vec<Event> = (0..papers.len()).map(Event::Upload).collect();
        let mut insert =
            |events: &mut Vec<Event>, from: usize, event: &dyn Fn(&[Event], usize, u64) -> Event| {
                let at = from + random.below((events.len() - from) as u64) as usize;
                let event = event(events, at, random.below(u64::MAX));
                events.insert(at, event);
            };
        let deletes = scale.deletes.min(scale.documents / 3);
        for n in 0..deletes {
            // After that point there are more uploads than deletions in total.
            insert(&mut events, 2 * deletes as usize, &|events, at, chosen| {
                let is_uploaded = |paper: &usize| events[..at].contains(&Event::Upload(*paper));
                let is_kept = |paper: &usize| !events.contains(&Event::Delete(*paper));
                let targets: Vec<usize> = (0..papers.len()).filter(is_uploaded).filter(is_kept).collect();
                // Every other deletion is of the latest upload, which is being ingested.
                let last = targets.len() - 1;
                Event::Delete(targets[if n % 2 == 0 { last } else { chosen as usize % targets.len() }])
            });
        }
        for _ in 0..scale.documents / 10 {
            let middle = events.len() / 2;
            insert(&mut events, middle, &|events, at, chosen| {
                let is_changed =
                    |n: usize| events.contains(&Event::Delete(n)) || events.contains(&Event::Replace(n));
                let is_uploaded = |n: usize| events[..at].contains(&Event::Upload(n));
                let targets: Vec<usize> = (0..papers.len())
                    .filter(|n| papers[*n].word.is_some() && is_uploaded(*n) && !is_changed(*n))
                    .collect();
                Event::Replace(targets[chosen as usize % targets.len()])
            });
        }
        // After that point some documents have failed.
        for _ in 0..scale.retries {
            let middle = events.len() / 2;
            insert(&mut events, middle, &|_, _, _| Event::Retry);
        }
        for _ in 0..(scale.documents / 16).max(2) {
            insert(&mut events, 1, &|_, _, _| Event::KillServer);
            if scale.has_servers {
                insert(&mut events, 1, &|_, _, _| Event::KillWorker);
            }
        }
        if scale.has_servers {
            for _ in 0..(scale.documents / 64).max(1) {
                for store in [Store::Postgres, Store::Redis, Store::Qdrant] {
                    insert(&mut events, 1, &|_, _, _| Event::Stop(store));
                }
            }
        }
        Self { papers, events }
    }
}

/// Generates papers: one in twelve cannot be ingested, and one in ten is a copy of an earlier one.
fn papers(random: &mut Random, count: usize) -> Vec<Paper> {
    let mut papers: Vec<Paper> = Vec::with_capacity(count);
    for n in 0..count {
        let paper = if n % 12 == 5 {
            let bytes = invalid_pdf(random, n);
            Paper { bytes, word: None, next: (Vec::new(), String::new()) }
        } else if n % 10 == 9 {
            let of = papers[random.below(n as u64) as usize].clone();
            Paper { next: next(random, n), ..of }
        } else {
            let word = word(n);
            Paper { bytes: valid_pdf(random, &word), word: Some(word), next: next(random, n) }
        };
        papers.push(paper);
    }
    papers
}

/// Generates the PDF that replaces the `n`th paper, and its word.
fn next(random: &mut Random, n: usize) -> (Vec<u8>, String) {
    let word = word(n + REPLACEMENTS);
    (valid_pdf(random, &word), word)
}

/// Generates a PDF with one to three pages of random words.
fn valid_pdf(random: &mut Random, word: &str) -> Vec<u8> {
    let pages: Vec<String> = (0..=random.below(3)).map(|_| page(random, word)).collect();
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    pdf(&pages)
}

fn page(random: &mut Random, word: &str) -> String {
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
        let line: Vec<&str> = (0..10).map(|_| WORDS[random.below(16) as usize]).collect();
        page += &line.join(" ");
        page += ".\n";
    }
    page
}

fn invalid_pdf(random: &mut Random, n: usize) -> Vec<u8> {
    match random.below(3) {
        0 => format!("This is not a PDF, but text number {n}.").into_bytes(),
        1 => {
            let mut cut = valid_pdf(random, "nothing");
            cut.truncate(60);
            cut
        }
        // A page without text; a comment after its end makes it unique.
        _ => [pdf(&[""]), format!("% {n}\n").into_bytes()].concat(),
    }
}

/// Generates a word that is in no language and is not changed by stemmers.
fn word(mut n: usize) -> String {
    const SYLLABLES: [&str; 10] = ["ba", "ko", "lu", "mi", "ta", "ro", "du", "no", "pa", "vo"];
    let mut word = String::from("zx");
    for _ in 0..5 {
        word += SYLLABLES[n % 10];
        n /= 10;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(seed: u64) -> Plan {
        let scale = Scale { documents: 200, deletes: 20, retries: 10, has_servers: true };
        Plan::new(&mut Random(seed), scale)
    }

    #[test]
    fn plan_depends_only_on_the_seed() {
        assert_eq!(plan(1).events, plan(1).events);
        assert_ne!(plan(1).events, plan(2).events);
        assert!(plan(1).papers.iter().zip(&plan(1).papers).all(|(one, other)| one.bytes == other.bytes));
    }

    #[test]
    fn plan_has_requested_counts_and_changes_only_uploaded_papers() {
        let Plan { papers, events } = plan(3);
        let count = |is: fn(&Event) -> bool| events.iter().filter(|event| is(event)).count();
        assert_eq!(count(|event| matches!(event, Event::Upload(_))), 200);
        assert_eq!(count(|event| matches!(event, Event::Delete(_))), 20);
        assert_eq!(count(|event| matches!(event, Event::Replace(_))), 20);
        assert_eq!(count(|event| *event == Event::Retry), 10);
        assert_eq!(count(|event| *event == Event::KillServer), 12);
        assert_eq!(count(|event| *event == Event::KillWorker), 12);
        assert_eq!(count(|event| matches!(event, Event::Stop(_))), 9);
        for (at, event) in events.iter().enumerate() {
            if let Event::Delete(n) = event {
                assert!(events[..at].contains(&Event::Upload(*n)));
                assert!(!events[..at].contains(&Event::Delete(*n)), "each paper is deleted once");
            }
            if let Event::Replace(n) = event {
                assert!(events[..at].contains(&Event::Upload(*n)) && !events.contains(&Event::Delete(*n)));
                assert!(!events[..at].contains(event), "each paper is replaced once");
            }
        }
        let invalid = papers.iter().filter(|paper| paper.word.is_none()).count();
        assert!(invalid >= 16, "too few failures to retry: {invalid}");
    }
}
