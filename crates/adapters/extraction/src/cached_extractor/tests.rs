//! Tests of hits and misses, of concurrent calls, and of failures of the cache.

use super::*;
use docent_domain::document::FailureCode;
use docent_domain::file_type::FileType;
use docent_testkit::builders;
use docent_testkit::contract::text_extractor::{Subject, failure_code, put};
use docent_testkit::fakes::blob_store::FakeBlobStore;
use docent_testkit::fakes::recorder::{FakeRecorder, Noted};
use docent_testkit::fakes::text_extractor::{FakeTextExtractor, failing_pdf, fake_pdf};
use docent_testkit::faults::{FaultSwitch, Faulty};
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Semaphore;

/// Counts extractions, which wait until the gate is closed.
struct Counted {
    name: &'static str,
    extractions: AtomicUsize,
    gate: Semaphore,
}

#[async_trait]
impl TextExtractor for Counted {
    async fn extract(&self, file_type: FileType, pdf: ByteStream) -> Result<Extraction, ExtractionError> {
        self.extractions.fetch_add(1, Ordering::SeqCst);
        drop(self.gate.acquire().await);
        FakeTextExtractor.extract(file_type, pdf).await
    }

    fn name(&self, _: FileType) -> &'static str {
        self.name
    }
}

/// A cached extractor, with the uploaded files and the cache in separate stores.
struct Bench {
    inner: Arc<Counted>,
    files: FakeBlobStore,
    cache: Arc<FakeBlobStore>,
    cache_switch: FaultSwitch,
    recorder: Arc<FakeRecorder>,
    extractor: CachedExtractor,
}

impl Bench {
    /// The extractor has this name; its gate is open.
    fn new(name: &'static str, cache: Arc<FakeBlobStore>) -> Self {
        let inner = Arc::new(Counted { name, extractions: AtomicUsize::new(0), gate: Semaphore::new(0) });
        let (recorder, cache_switch) =
            (Arc::new(FakeRecorder::default()), FaultSwitch::new(Component::BlobStore));
        let faulty = Faulty::new(Arc::clone(&cache) as Arc<dyn BlobStore>, &cache_switch);
        let extractor =
            CachedExtractor::new(Arc::clone(&inner) as _, Arc::new(faulty), Arc::clone(&recorder) as _);
        Self { inner, files: FakeBlobStore::default(), cache, cache_switch, recorder, extractor }
    }

    /// Extractions do not wait.
    fn ungated() -> Self {
        let bench = Self::new("counted 1", Arc::default());
        bench.inner.gate.close();
        bench
    }

    /// Stores the `n`th file, whose only page has this text.
    async fn upload(&self, n: u32, text: &str) -> StoredFile {
        let file = builders::document(n).file.unwrap();
        put(&self.files, &file.blob, fake_pdf(&[text])).await;
        file
    }

    async fn extract(&self, file: &StoredFile) -> Result<Extraction, ExtractionError> {
        self.extractor.extract_file(file, &self.files).await
    }

    async fn text(&self, file: &StoredFile) -> String {
        self.extract(file).await.unwrap().pages.remove(0).text
    }

    fn extractions(&self) -> usize {
        self.inner.extractions.load(Ordering::SeqCst)
    }
}

mod contract {
    use super::*;

    fn subject() -> Subject {
        let locked_pdf = failing_pdf(FailureCode::PasswordRequired);
        let (cache, recorder) = (Arc::new(FakeBlobStore::default()), Arc::new(FakeRecorder::default()));
        let extractor = CachedExtractor::new(Arc::new(FakeTextExtractor), cache, recorder);
        Subject { extractor: Arc::new(extractor), pdf: fake_pdf, locked_pdf }
    }

    docent_testkit::text_extractor_contract!(async { (subject(), ()) });
}

// Invariant: Concurrent and later uploads of a file do not extract it again, and a failing cache stops no
// ingestion.
#[tokio::test]
async fn cached_file_is_not_opened_and_lookups_are_recorded() {
    let bench = Bench::ungated();
    let file = bench.upload(1, "some words").await;
    assert_eq!(bench.text(&file).await, "some words");
    assert_eq!(bench.cache.keys(), [BlobKey::of_extraction(&file.sha256).as_str()]);
    bench.files.delete(&file.blob).await.unwrap();
    assert_eq!(bench.text(&file).await, "some words");
    assert_eq!(bench.extractions(), 1);
    let lookups = [Noted::LookedUp(Cache::Extractions, 0, 1), Noted::LookedUp(Cache::Extractions, 1, 0)];
    assert_eq!(bench.recorder.noted(), lookups);
    bench.extractor.forget(&file.sha256).await.unwrap();
    assert!(bench.cache.keys().is_empty());
    let missing = failure_code(bench.extract(&file).await);
    assert_eq!(missing, Some(FailureCode::FileMissing));
}

// Invariant: Concurrent and later uploads of a file do not extract it again, and a failing cache stops no
// ingestion.
#[tokio::test]
async fn concurrent_calls_extract_a_file_once() {
    let bench = Bench::new("counted 1", Arc::default());
    let (file, other) = (bench.upload(1, "some words").await, bench.upload(2, "other words").await);
    let release = async {
        while bench.extractions() < 2 {
            tokio::task::yield_now().await;
        }
        bench.inner.gate.close();
    };
    let (first, second, third, ()) =
        tokio::join!(bench.text(&file), bench.text(&file), bench.text(&other), release);
    assert_eq!([first, second, third], ["some words", "some words", "other words"]);
    assert_eq!(bench.extractions(), 2);
    let _lock = bench.extractor.lock([0; 32]).await;
    assert_eq!(bench.extractor.locks.lock().unwrap().len(), 1, "unused locks are removed");
}

#[tokio::test]
async fn failed_extraction_is_not_cached() {
    let bench = Bench::ungated();
    let file = bench.upload(1, "").await;
    put(&bench.files, &file.blob, b"no PDF".to_vec()).await;
    for extractions in 1..=2 {
        assert!(bench.extract(&file).await.is_err());
        assert_eq!(bench.extractions(), extractions);
    }
    assert!(bench.cache.keys().is_empty());
}

#[tokio::test]
async fn unusable_cached_text_is_replaced() {
    let bench = Bench::ungated();
    let file = bench.upload(1, "some words").await;
    put(&*bench.cache, &BlobKey::of_extraction(&file.sha256), b"nonsense".to_vec()).await;
    for _ in 0..2 {
        assert_eq!(bench.text(&file).await, "some words");
        assert_eq!(bench.extractions(), 1);
    }
    let upgraded = Bench::new("counted 2", Arc::clone(&bench.cache));
    upgraded.inner.gate.close();
    let same = upgraded.upload(1, "some words, read better").await;
    for _ in 0..2 {
        assert_eq!(upgraded.text(&same).await, "some words, read better");
        assert_eq!(upgraded.extractions(), 1);
    }
}

// Invariant: Concurrent and later uploads of a file do not extract it again, and a failing cache stops no
// ingestion.
#[tokio::test]
async fn failing_cache_does_not_stop_the_extraction() {
    let unavailable = FaultKind::Unavailable;
    // Opening, creating, writing and finishing the cached text.
    for call in 0..4 {
        let bench = Bench::ungated();
        let file = bench.upload(1, "some words").await;
        bench.cache_switch.fail_after(call, 1, unavailable);
        assert_eq!(bench.text(&file).await, "some words", "call {call} fails");
        bench.cache_switch.clear();
        let mut noted = vec![Noted::LookedUp(Cache::Extractions, 0, 1)];
        if call > 0 {
            noted.push(Noted::Fault(Component::BlobStore, unavailable));
        }
        assert_eq!((bench.recorder.noted(), bench.cache.keys().is_empty()), (noted, call > 0));
        assert_eq!(bench.text(&file).await, "some words");
        assert_eq!(bench.extractions(), if call == 0 { 1 } else { 2 });
    }
}
