//! What is embedded, how often, and what happens when a part breaks.

use super::*;
use chrono::{DateTime, Utc};
use docent_ports::embedding_cache::CachedVector;
use docent_testkit::clock::TestClock;
use docent_testkit::fakes::embedder::FakeEmbedder;
use docent_testkit::fakes::recorder::{FakeRecorder, Noted};
use docent_testkit::fakes::store::FakeStore;
use docent_testkit::faults::FaultSwitch;
use docent_testkit::faults::store::{FaultyStore, StoreSwitches};
use docent_testkit::wait::until;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Embeds batches of two texts and records them.
struct Counted {
    calls: Mutex<Vec<Vec<String>>>,
    headings: Mutex<Vec<Vec<String>>>,
    switch: FaultSwitch,
    dimensions: AtomicUsize,
    /// When closed, calls proceed; when open, they wait.
    gate: Semaphore,
    is_opaque: bool,
}

impl Default for Counted {
    fn default() -> Self {
        let (switch, gate) = (FaultSwitch::new(Component::Embedder), Semaphore::new(0));
        gate.close();
        let dimensions = AtomicUsize::new(64);
        Self {
            calls: Mutex::default(),
            headings: Mutex::default(),
            switch,
            dimensions,
            gate,
            is_opaque: false,
        }
    }
}

impl Counted {
    fn gated() -> Self {
        Self { gate: Semaphore::new(0), ..Self::default() }
    }

    fn calls(&self) -> Vec<Vec<String>> {
        self.calls.lock().unwrap().clone()
    }

    fn headings(&self) -> Vec<Vec<String>> {
        self.headings.lock().unwrap().clone()
    }
}

#[async_trait]
impl Embedder for Counted {
    async fn embed_passages(&self, passages: Passages<'_>) -> Result<Vec<Embedding>> {
        let texts = passages.chunks.iter().map(|(_, text)| (*text).to_owned()).collect();
        self.calls.lock().unwrap().push(texts);
        self.headings.lock().unwrap().push(passages.headings.to_vec());
        drop(self.gate.acquire().await);
        self.switch.check()?;
        if let Some(position) = passages.chunks.iter().position(|(_, text)| *text == "poison") {
            let refused = Fault::new(Component::Embedder, FaultKind::Rejected, "refused");
            return Err(refused.with_passage(position));
        }
        let is_long = passages.chunks.iter().map(|(_, text)| text.len() > 10);
        let fake = FakeEmbedder::with_dense(self.dimensions.load(Ordering::SeqCst));
        let embeddings = fake.embed_passages(passages).await?;
        let dense = |(embedding, is_shortened)| Embedding { sparse: None, is_shortened, ..embedding };
        Ok(embeddings.into_iter().zip(is_long).map(dense).collect())
    }

    async fn embed_sparse(&self, _: Passages<'_>) -> Result<Option<Vec<SparseVector>>> {
        Ok(None)
    }

    async fn embed_query(&self, query: &str) -> Result<QueryEmbedding> {
        let query = FakeEmbedder::with_dense(64).embed_query(query).await?;
        Ok(QueryEmbedding { sparse: None, ..query })
    }

    fn makes_vectors(&self) -> bool {
        true
    }

    fn model(&self) -> &'static str {
        "counted"
    }

    fn texts(&self, passages: Passages<'_>) -> Option<Vec<String>> {
        let text = |(_, text): &(u32, &str)| format!("{}: {text}", passages.title);
        (!self.is_opaque).then(|| passages.chunks.iter().map(text).collect())
    }

    fn batch_size(&self, texts: &[String]) -> usize {
        texts.len().min(2)
    }
}

struct Bench {
    inner: Arc<Counted>,
    store: Arc<FaultyStore>,
    switches: StoreSwitches,
    clock: Arc<TestClock>,
    recorder: Arc<FakeRecorder>,
    embedder: Arc<CachedEmbedder>,
}

impl Bench {
    fn new(inner: Counted) -> Self {
        let store = Arc::new(FaultyStore::new(Arc::new(FakeStore::default())));
        let (inner, switches) = (Arc::new(inner), store.switches().clone());
        let (clock, recorder) = (Arc::new(TestClock::default()), Arc::new(FakeRecorder::default()));
        let embedder = CachedEmbedder::new(
            Arc::clone(&inner) as _,
            Arc::clone(&store) as _,
            Arc::clone(&clock) as _,
            Arc::clone(&recorder) as _,
        );
        Self { inner, store, switches, clock, recorder, embedder: Arc::new(embedder) }
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>> {
        let chunks: Vec<(u32, &str)> = texts.iter().map(|text| (1, *text)).collect();
        self.embedder.embed_passages(Passages { title: "t", lead: "l", chunks: &chunks, headings: &[] }).await
    }

    async fn cached(&self, text: &str) -> Option<CachedVector> {
        let mut view = self.store.read().await.unwrap();
        let digest = digest(&format!("t: {text}"));
        view.embedding_cache().find("counted", &[digest]).await.unwrap().remove(&digest)
    }
}

docent_testkit::embedder_contract!(async {
    let bench = Bench::new(Counted::default());
    (Arc::clone(&bench.embedder) as _, bench)
});

// Invariant: No text is embedded twice, across retries, documents and concurrent callers.
#[tokio::test]
async fn cached_text_is_not_embedded_again() {
    let bench = Bench::new(Counted::default());
    let first = bench.embed(&["a", "b", "c", "a"]).await.unwrap();
    assert_eq!(bench.inner.calls(), [vec!["a", "b"], vec!["c"]], "a repeated text is sent once");
    assert_eq!(first[0], first[3]);
    let second = bench.embed(&["c", "d", "a"]).await.unwrap();
    assert_eq!(bench.inner.calls()[2..], [vec!["d"]]);
    assert_eq!((&second[0], &second[2]), (&first[2], &first[0]));
    let events = [Noted::LookedUp(Cache::Embeddings, 0, 3), Noted::LookedUp(Cache::Embeddings, 2, 1)];
    assert_eq!(bench.recorder.noted(), events);
    let other = Passages { title: "another", lead: "l", chunks: &[(1, "a")], headings: &[] };
    bench.embedder.embed_passages(other).await.unwrap();
    assert_eq!(bench.inner.calls().len(), 4, "another title makes another text");
}

#[tokio::test]
async fn headings_stay_with_their_chunk_when_others_are_cached() {
    let bench = Bench::new(Counted::default());
    let (chunks, headings) = ([(1, "a"), (1, "b"), (1, "c")], ["x", "y", "z"].map(str::to_owned));
    let all = Passages { title: "t", lead: "l", chunks: &chunks, headings: &headings };
    let second = Passages { chunks: &chunks[1..2], headings: &headings[1..2], ..all };
    bench.embedder.embed_passages(second).await.unwrap();
    bench.embedder.embed_passages(all).await.unwrap();
    assert_eq!(bench.inner.calls(), [vec!["b"], vec!["a", "c"]]);
    assert_eq!(bench.inner.headings(), [vec!["y"], vec!["x", "z"]]);
}

#[tokio::test]
async fn cache_is_shared_between_processes() {
    let bench = Bench::new(Counted::default());
    let first = bench.embed(&["a", "b"]).await.unwrap();
    let other = CachedEmbedder::new(
        Arc::clone(&bench.inner) as _,
        Arc::clone(&bench.store) as _,
        Arc::clone(&bench.clock) as _,
        Arc::clone(&bench.recorder) as _,
    );
    let again = other
        .embed_passages(Passages { title: "t", lead: "", chunks: &[(9, "b")], headings: &[] })
        .await
        .unwrap();
    assert_eq!(again, first[1..]);
    assert_eq!(bench.inner.calls().len(), 1);
}

#[tokio::test]
async fn shortened_text_is_cached_as_shortened() {
    let bench = Bench::new(Counted::default());
    let texts = ["a", "a text that is long", "b"];
    let first = bench.embed(&texts).await.unwrap();
    assert_eq!([0, 1, 2].map(|n: usize| first[n].is_shortened), [false, true, false]);
    assert_eq!(bench.cached(texts[1]).await, None, "its vector is not one of the whole text");
    assert_eq!(bench.embed(&texts).await.unwrap(), first);
    assert_eq!(bench.inner.calls().len(), 2);
}

#[tokio::test]
async fn fault_names_the_position_among_all_passages() {
    let bench = Bench::new(Counted::default());
    bench.embed(&["a", "c"]).await.unwrap();
    let fault = bench.embed(&["a", "b", "c", "poison"]).await.unwrap_err();
    assert_eq!(fault.passage(), Some(3));
}

#[tokio::test]
async fn retry_continues_at_the_first_missing_batch() {
    let bench = Bench::new(Counted::default());
    bench.inner.switch.fail_after(1, 1, FaultKind::Unavailable);
    assert!(bench.embed(&["a", "b", "c", "d", "e"]).await.is_err());
    assert!(bench.cached("b").await.is_some() && bench.cached("c").await.is_none());
    assert_eq!(bench.embed(&["a", "b", "c", "d", "e"]).await.unwrap().len(), 5);
    assert_eq!(bench.inner.calls(), [vec!["a", "b"], vec!["c", "d"], vec!["c", "d"], vec!["e"]]);
}

#[tokio::test]
async fn unavailable_database_does_not_fail_embedding() {
    let bench = Bench::new(Counted::default());
    bench.switches.all.fail_all(FaultKind::Unavailable);
    assert_eq!(bench.embed(&["a", "b"]).await.unwrap().len(), 2);
    let fault = Noted::Fault(Component::Database, FaultKind::Unavailable);
    assert_eq!(bench.recorder.noted().iter().filter(|events| **events == fault).count(), 2);
    bench.switches.all.clear();
    bench.embed(&["a", "b"]).await.unwrap();
    bench.switches.commit.fail_next(1, FaultKind::Timeout);
    bench.embed(&["c"]).await.unwrap();
    assert_eq!(bench.inner.calls(), [vec!["a", "b"], vec!["a", "b"], vec!["c"]]);
    assert_eq!(bench.cached("c").await, None);
}

// Invariant: No text is embedded twice, across retries, documents and concurrent callers.
#[tokio::test]
async fn concurrent_calls_embed_a_text_once() {
    for database_is_broken in [false, true] {
        let bench = Arc::new(Bench::new(Counted::gated()));
        if database_is_broken {
            bench.switches.all.fail_all(FaultKind::Unavailable);
        }
        let embed = |texts: &'static [&'static str]| {
            let bench = Arc::clone(&bench);
            tokio::spawn(async move { bench.embed(texts).await.unwrap() })
        };
        let first = embed(&["a", "b"]);
        until("it is called", async || bench.inner.calls().len() == 1).await;
        // The second call also has a text of its own, which the third needs too.
        let (second, third) = (embed(&["b", "c"]), embed(&["c", "a"]));
        until("it is called", async || bench.inner.calls().len() == 2).await;
        bench.inner.gate.close();
        let (first, second, third) = (first.await.unwrap(), second.await.unwrap(), third.await.unwrap());
        assert_eq!((&first[1], &first[0], &second[1]), (&second[0], &third[1], &third[0]));
        assert_eq!(bench.inner.calls(), [vec!["a", "b"], vec!["c"]]);
    }
}

#[tokio::test]
async fn waiting_call_takes_over_after_failure_or_cancellation() {
    let bench = Arc::new(Bench::new(Counted::gated()));
    let embed = || {
        let bench = Arc::clone(&bench);
        tokio::spawn(async move { bench.embed(&["a"]).await })
    };
    let first = embed();
    until("it is called", async || bench.inner.calls().len() == 1).await;
    let (second, third) = (embed(), embed());
    tokio::task::yield_now().await;
    first.abort();
    until("it is called", async || bench.inner.calls().len() == 2).await;
    bench.inner.switch.fail_next(1, FaultKind::Unavailable);
    bench.inner.gate.close();
    let results = [second.await.unwrap(), third.await.unwrap()];
    assert_eq!(
        results.iter().filter(|result| result.is_ok()).count(),
        1,
        "the fault is returned to one caller"
    );
    assert_eq!(bench.inner.calls().len(), 3);
}

#[tokio::test]
async fn last_use_is_updated_once_a_day() {
    let bench = Bench::new(Counted::default());
    let used_at = async || -> DateTime<Utc> { bench.cached("a").await.unwrap().used_at };
    bench.embed(&["a"]).await.unwrap();
    let start = used_at().await;
    for (hours, is_updated) in [(23, false), (2, true)] {
        bench.clock.advance(Duration::from_secs(hours * 3600));
        bench.embed(&["a"]).await.unwrap();
        assert_eq!(used_at().await > start, is_updated, "after {hours} h more");
    }
    bench.clock.advance(Duration::from_secs(48 * 3600));
    bench.switches.begin.fail_next(1, FaultKind::Timeout);
    bench.embed(&["a"]).await.unwrap();
    assert_eq!(bench.inner.calls().len(), 1);
}

#[tokio::test]
async fn cached_vectors_of_other_dimensions_are_replaced() {
    let bench = Bench::new(Counted::default());
    bench.embed(&["a", "b"]).await.unwrap();
    bench.inner.dimensions.store(32, Ordering::SeqCst);
    let embeddings = bench.embed(&["a", "c"]).await.unwrap();
    assert!(embeddings.iter().all(|embedding| embedding.dense.as_ref().unwrap().len() == 32));
    assert_eq!(bench.inner.calls()[1..], [vec!["c"], vec!["a", "c"]]);
    assert_eq!(bench.cached("a").await.unwrap().vector.len(), 32);
}

#[tokio::test]
async fn passages_without_cacheable_texts_are_not_cached() {
    let bench = Bench::new(Counted { is_opaque: true, ..Counted::default() });
    bench.embed(&["a"]).await.unwrap();
    bench.embed(&["a"]).await.unwrap();
    assert_eq!(bench.inner.calls().len(), 2);
    assert_eq!(bench.recorder.noted(), []);
}
