//! Recognition of pages without text of their own.

use super::seconds;
use super::service::Service;
use async_trait::async_trait;
use docent_app::App;
use docent_app::background::{Runner, RunnerSettings};
use docent_app::settings::Settings;
use docent_domain::attributes::{AttributeKey, AttributeValue, Attributes};
use docent_domain::document::{Document, DocumentState, FailureCode};
use docent_domain::extraction::RecognizedPageCoverage;
use docent_domain::fault::{Component, FaultKind};
use docent_domain::file_type::FileType;
use docent_domain::id::{DocumentId, VersionId};
use docent_domain::job::JobState;
use docent_domain::recognition::{Languages, RecognitionFailure, RecognizedPage};
use docent_ports::clock::Clock;
use docent_ports::text_recognizer::{PageScan, RecognitionError, RecognizerDetection, TextRecognizer};
use docent_testkit::builders;
use docent_testkit::clock::TestClock;
use docent_testkit::fakes::text_extractor::{CachingTextExtractor, FakeTextExtractor, fake_pdf};
use docent_testkit::fakes::text_recognizer::{CONFIDENCE, FakeTextRecognizer};
use docent_testkit::faults::{FaultSwitch, Faulty};
use docent_testkit::wait::until;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// A recognizer that takes time, waits at a gate, and records what it has read.
struct SlowRecognizer {
    clock: Arc<TestClock>,
    per_page: Duration,
    /// A permit for each page; closed when all may pass.
    gate: Semaphore,
    read: Mutex<Vec<String>>,
}

impl SlowRecognizer {
    fn new(clock: &Arc<TestClock>, per_page: Duration, pages: usize) -> Arc<Self> {
        let clock = Arc::clone(clock);
        Arc::new(Self { clock, per_page, gate: Semaphore::new(pages), read: Mutex::default() })
    }

    fn read(&self) -> Vec<String> {
        self.read.lock().unwrap().clone()
    }
}

#[async_trait]
impl TextRecognizer for SlowRecognizer {
    async fn recognize(&self, scan: PageScan<'_>) -> Result<RecognizedPage, RecognitionError> {
        if let Ok(permit) = self.gate.acquire().await {
            permit.forget();
        }
        if !self.per_page.is_zero() {
            self.clock.sleep(self.per_page).await;
        }
        let page = FakeTextRecognizer::default().recognize(scan).await?;
        self.read.lock().unwrap().push(page.text().trim().to_owned());
        Ok(page)
    }

    async fn check(&self, languages: &Languages) -> docent_domain::fault::Result<()> {
        FakeTextRecognizer::default().check(languages).await
    }

    fn name(&self) -> &'static str {
        "slow 1"
    }
}

/// A service that reads fake PDFs, with this recognizer.
fn service(recognizer: Option<Arc<dyn TextRecognizer>>) -> Service {
    Service::new().changed(|ports| {
        ports.extractor = Arc::new(CachingTextExtractor::default());
        ports.recognizer = Arc::new(recognizer);
    })
}

fn recognizing() -> (Service, Arc<FakeTextRecognizer>) {
    let recognizer = Arc::new(FakeTextRecognizer::default());
    (service(Some(Arc::clone(&recognizer) as _)), recognizer)
}

async fn upload(service: &Service, pages: &[&str]) -> DocumentId {
    service.upload(&String::from_utf8(fake_pdf(pages)).unwrap()).await
}

fn failure(document: Document) -> (FailureCode, String) {
    let DocumentState::Failed(failed) = document.state else { panic!("it has failed") };
    (failed.failure.code, failed.failure.reason)
}

/// The same service with other limits.
fn app(service: &Service, change: impl FnOnce(&mut Settings)) -> Arc<App> {
    let mut settings = service.app.settings().clone();
    change(&mut settings);
    Arc::new(App::new(service.ports.clone(), settings))
}

#[tokio::test]
async fn scanned_pages_are_recognised_and_indexed() {
    let (service, recognizer) = recognizing();
    let id = upload(&service, &["printed words", "[scan]Pumps move\nwater", "\u{fffd}\u{fffd}", ""]).await;
    assert_eq!(service.drain().await, 1);
    let document = service.document(id).await;
    assert_eq!(document.state.name(), "ingested");
    let coverage = document.coverage.unwrap();
    let recognition = coverage.recognition.unwrap();
    assert_eq!(recognition.recognizer, "fake 1 (eng)");
    let pages = [2, 3].map(|page| RecognizedPageCoverage { page, confidence: CONFIDENCE });
    // What the third page shows cannot be mapped to characters by the fake either.
    assert_eq!(recognition.pages, pages[..1]);
    assert_eq!((coverage.empty_pages, coverage.unreliable_pages), (vec![4], vec![3]));
    let entries = service.index.entries(VersionId::first(id));
    assert!(entries.iter().any(|entry| entry.text.contains("Pumps move\nwater")));
    assert_eq!(recognizer.calls(), 3, "the page with text is not recognised");
}

#[tokio::test]
async fn pictures_beside_text_are_recognised() {
    let (service, recognizer) = recognizing();
    let pages = ["printed words", "Costs[picture]Copay $71", "Photo[picture]!fail timeout"];
    let id = upload(&service, &pages).await;
    assert_eq!(service.drain().await, 1);
    let coverage = service.document(id).await.coverage.unwrap();
    let recognition = coverage.recognition.unwrap();
    assert_eq!(recognition.picture_pages, [RecognizedPageCoverage { page: 2, confidence: CONFIDENCE }]);
    assert_eq!(
        (recognition.pages.len(), recognition.failed_pages.as_slice()),
        (0, &[(3, RecognitionFailure::Timeout)][..])
    );
    assert_eq!(coverage.unread_picture_pages, [0; 0]);
    let entries = service.index.entries(VersionId::first(id));
    assert!(entries.iter().any(|entry| entry.text.contains("Costs\nCopay $71")), "{entries:?}");
    assert_eq!(recognizer.calls(), 2);
}

#[tokio::test]
async fn pictures_in_other_files_than_pdfs_are_recognised() {
    let (service, recognizer) = recognizing();
    let id = upload(&service, &["Costs[picture]Copay $71"]).await;
    set_file_type(&service, id, FileType::Docx).await;
    assert_eq!(service.drain().await, 1);
    let coverage = service.document(id).await.coverage.unwrap();
    assert_eq!((coverage.recognition.unwrap().picture_pages.len(), recognizer.calls()), (1, 1));
}

#[tokio::test]
async fn pictures_are_named_as_unread_without_a_recognizer() {
    let service = service(None);
    let id = upload(&service, &["Costs[picture]Copay $71", "printed words"]).await;
    assert_eq!(service.drain().await, 1);
    let coverage = service.document(id).await.coverage.unwrap();
    assert_eq!(coverage.unread_picture_pages, [1]);
    assert_eq!(coverage.warnings(), ["1 of 2 pages: a picture whose text, if it shows any, was not read"]);
}

/// A detection that ends when it gets a permit.
struct SlowDetection {
    callers: AtomicUsize,
    end: Semaphore,
}

#[async_trait]
impl RecognizerDetection for SlowDetection {
    async fn detected(&self) -> Option<Arc<dyn TextRecognizer>> {
        self.callers.fetch_add(1, Ordering::SeqCst);
        let _permit = self.end.acquire().await.unwrap();
        Some(Arc::new(FakeTextRecognizer::default()))
    }
}

// Invariant: Neither the start nor requests wait for the detection of a text recognizer, and no scan fails
// before its end.
#[tokio::test]
async fn scan_waits_for_the_detection_of_the_recognizer() {
    let detection = Arc::new(SlowDetection { callers: AtomicUsize::new(0), end: Semaphore::new(0) });
    let service = service(None).changed(|ports| ports.recognizer = Arc::clone(&detection) as _);
    let id = upload(&service, &["[scan]Pumps move water"]).await;
    let runner = service.spawn_drain();
    until("the job waits", async || detection.callers.load(Ordering::SeqCst) > 0).await;
    assert_eq!(service.document(id).await.state.name(), "pending");
    detection.end.add_permits(1);
    assert_eq!(runner.await.unwrap(), 1);
    assert_eq!(service.document(id).await.state.name(), "ingested");
}

#[tokio::test]
async fn text_does_not_wait_for_the_detection_of_the_recognizer() {
    let detection = Arc::new(SlowDetection { callers: AtomicUsize::new(0), end: Semaphore::new(0) });
    let service = service(None).changed(|ports| ports.recognizer = Arc::clone(&detection) as _);
    let id = upload(&service, &["Pumps move water"]).await;
    assert_eq!(service.drain().await, 1);
    assert_eq!(service.document(id).await.state.name(), "ingested");
    assert_eq!(detection.callers.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn scan_without_recognizer_fails_and_says_what_to_install() {
    for (page, file_type) in [("[scan]Pumps move water", FileType::Pdf), ("[picture]Pumps", FileType::Docx)] {
        let service = service(None);
        let id = upload(&service, &[page]).await;
        set_file_type(&service, id, file_type).await;
        service.drain().await;
        let (code, reason) = failure(service.document(id).await);
        assert_eq!(code, FailureCode::NoText);
        assert!(reason.starts_with("no extractable text; ") && reason.contains("tesseract-ocr"), "{reason}");
    }
}

/// Makes a stored file one of another type.
async fn set_file_type(service: &Service, id: DocumentId, file_type: FileType) {
    let mut document = service.document(id).await;
    document.file.as_mut().unwrap().file_type = file_type;
    let mut work = service.ports.store.begin().await.unwrap();
    work.documents().update(&document).await.unwrap();
    work.commit().await.unwrap();
}

// Invariant: A page that cannot be recognised does not fail the others.
#[tokio::test]
async fn failed_page_is_reported_and_does_not_fail_the_others() {
    let (service, recognizer) = recognizing();
    let pages = ["[scan]!fail timeout", "[scan]Pumps move water", "[scan]!fail crashed"];
    let id = upload(&service, &pages).await;
    service.drain().await;
    let document = service.document(id).await;
    assert_eq!(document.state.name(), "ingested");
    let recognition = document.coverage.unwrap().recognition.unwrap();
    let failed = [(1, RecognitionFailure::Timeout), (3, RecognitionFailure::Crashed)];
    assert_eq!(recognition.failed_pages, failed);
    assert_eq!(recognition.pages.len(), 1);
    assert_eq!(recognizer.calls(), 3);
    // Failed pages are attempted again with the next document of the same file, and others are not.
    upload(&service, &pages).await;
    service.drain().await;
    assert_eq!(recognizer.calls(), 5);
}

#[tokio::test]
async fn document_without_a_recognised_page_fails() {
    let (service, _) = recognizing();
    for (page, expected) in [
        ("[scan]!fail memory", "no extractable text; recognising it failed on 1 of 1 pages"),
        ("[scan]", "no extractable text; no text was recognised on the images of its pages"),
    ] {
        let id = upload(&service, &[page]).await;
        service.drain().await;
        assert_eq!(failure(service.document(id).await), (FailureCode::NoText, expected.to_owned()));
    }
}

#[tokio::test]
async fn pages_over_the_limit_are_not_recognised() {
    let (service, recognizer) = recognizing();
    let id = upload(&service, &["[scan]one", "[scan]two", "[scan]three"]).await;
    let app = app(&service, |settings| settings.max_recognized_pages = 2);
    Runner::new(app, RunnerSettings::default()).drain().await.unwrap();
    let recognition = service.document(id).await.coverage.unwrap().recognition.unwrap();
    assert_eq!(recognition.pages.len(), 2);
    assert_eq!(recognition.failed_pages, [(3, RecognitionFailure::Limit)]);
    assert_eq!(recognizer.calls(), 2);
}

#[tokio::test]
async fn scans_come_before_pictures_within_the_limit() {
    let (service, _) = recognizing();
    let id = upload(&service, &["a[picture]one", "b[picture]two", "[scan]three"]).await;
    let app = app(&service, |settings| settings.max_recognized_pages = 2);
    Runner::new(app, RunnerSettings::default()).drain().await.unwrap();
    let recognition = service.document(id).await.coverage.unwrap().recognition.unwrap();
    assert_eq!(recognition.pages, [RecognizedPageCoverage { page: 3, confidence: CONFIDENCE }]);
    assert_eq!(recognition.picture_pages, [RecognizedPageCoverage { page: 1, confidence: CONFIDENCE }]);
    assert_eq!(recognition.failed_pages, [(2, RecognitionFailure::Limit)]);
}

// Invariant: A killed recognition continues with the next page, and no page is recognised twice.
#[tokio::test]
async fn killed_recognition_continues_with_the_next_page() {
    let clock = Arc::new(TestClock::default());
    let recognizer = SlowRecognizer::new(&clock, Duration::ZERO, 2);
    let service = service(Some(Arc::clone(&recognizer) as _));
    let id = upload(&service, &["[scan]one", "[scan]two", "[scan]three", "[scan]four"]).await;
    let dying = service.spawn_drain();
    until("two pages are read", async || recognizer.read().len() == 2).await;
    dying.abort();
    assert!(dying.await.is_err());
    recognizer.gate.close();
    let other = service.other_process();
    assert_eq!(other.take_over().await.unwrap(), 1);
    assert_eq!(other.drain().await.unwrap(), 1);
    assert_eq!(service.document(id).await.coverage.unwrap().recognition.unwrap().pages.len(), 4);
    assert_eq!(recognizer.read(), ["one", "two", "three", "four"], "no page is recognised twice");
}

#[tokio::test]
async fn deletion_during_the_recognition_leaves_no_cached_text() {
    let clock = Arc::new(TestClock::default());
    let recognizer = SlowRecognizer::new(&clock, Duration::ZERO, 1);
    let service = service(Some(Arc::clone(&recognizer) as _));
    let id = upload(&service, &["[scan]one", "[scan]two"]).await;
    let file = service.document(id).await.file.unwrap();
    let runner = service.spawn_drain();
    until("a page is read", async || recognizer.read().len() == 1).await;
    // As a process does that this one does not notice.
    let mut work = service.ports.store.begin().await.unwrap();
    work.documents().mark_deleted(id, service.app.now()).await.unwrap();
    work.commit().await.unwrap();
    service.ports.extractor.forget(&file.sha256).await.unwrap();
    recognizer.gate.close();
    runner.await.unwrap();
    // Without a cached extraction, the file would be read again, and it is gone.
    service.ports.blobs.delete(&file.blob).await.unwrap();
    let cached = service.ports.extractor.extract_file(&file, &*service.ports.blobs).await;
    assert!(cached.is_err(), "{cached:?}");
}

#[tokio::test]
async fn recognition_waits_for_an_unavailable_recognizer() {
    let switch = FaultSwitch::new(Component::Recognizer);
    let inner = Arc::new(FakeTextRecognizer::default());
    let faulty = Faulty::new(Arc::clone(&inner) as Arc<dyn TextRecognizer>, &switch);
    let service = service(Some(Arc::new(faulty)));
    let id = upload(&service, &["[scan]one", "[scan]two"]).await;
    switch.fail_after(1, 3, FaultKind::Unavailable);
    for _ in 0..3 {
        assert_eq!(service.drain().await, 1);
        let job = service.job(id).await;
        assert_eq!((job.state, job.attempts), (JobState::Queued, 0));
        assert_eq!(job.wait.unwrap().reason, "the text recognizer cannot be reached");
        service.clock.advance((job.run_at - service.app.now()).to_std().unwrap());
    }
    service.drain().await;
    assert_eq!(service.document(id).await.state.name(), "ingested");
    assert_eq!(inner.calls(), 2, "the first page is not recognised again");
}

#[tokio::test]
async fn permanent_fault_of_the_recognizer_fails_the_document() {
    let switch = FaultSwitch::new(Component::Recognizer);
    let inner: Arc<dyn TextRecognizer> = Arc::new(FakeTextRecognizer::default());
    let service = service(Some(Arc::new(Faulty::new(inner, &switch))));
    let id = upload(&service, &["[scan]one"]).await;
    switch.fail_all(FaultKind::Rejected);
    service.drain().await;
    assert_eq!(failure(service.document(id).await).0, FailureCode::Recognition);
}

#[tokio::test]
async fn recognition_without_a_cache_completes() {
    let (service, recognizer) = recognizing();
    let service = service.changed(|ports| ports.extractor = Arc::new(FakeTextExtractor));
    let id = upload(&service, &["[scan]one", "[scan]two"]).await;
    service.drain().await;
    assert_eq!(service.document(id).await.state.name(), "ingested");
    assert_eq!(recognizer.calls(), 2);
}

#[tokio::test]
async fn attribute_of_a_document_names_its_languages() {
    let (service, _) = recognizing();
    let german = upload(&service, &["[scan]Pumpen"]).await;
    let unknown = upload(&service, &["[scan]Pompes"]).await;
    for (id, languages) in [(german, "deu+eng"), (unknown, "fra")] {
        let mut work = service.ports.store.begin().await.unwrap();
        let mut document = work.documents().get(id).await.unwrap().unwrap();
        let key = AttributeKey::parse("ocr_languages").unwrap();
        let value = AttributeValue::String(languages.to_owned());
        document.attributes = Attributes::new([(key, value)].into()).unwrap();
        work.documents().update(&document).await.unwrap();
        work.commit().await.unwrap();
    }
    service.drain().await;
    let recognition = service.document(german).await.coverage.unwrap().recognition.unwrap();
    assert_eq!(recognition.recognizer, "fake 1 (deu+eng)");
    let (code, reason) = failure(service.document(unknown).await);
    assert_eq!(code, FailureCode::Recognition);
    assert!(reason.ends_with("for the languages fra of the attribute ocr_languages"), "{reason}");
}

/// A runner with four jobs at a time, of which one recognises.
fn run_with_one_place(service: &Service, stop: &CancellationToken) -> tokio::task::JoinHandle<()> {
    let app = app(service, |settings| settings.ingest_concurrency = 2);
    let runner = Runner::new(app, RunnerSettings { concurrency: 4, ..RunnerSettings::default() });
    let stop = stop.clone();
    tokio::spawn(async move { runner.run(stop, Duration::ZERO).await })
}

async fn is_ingested(service: &Service, id: DocumentId) -> bool {
    service.document(id).await.state.name() == "ingested"
}

// Invariant: Scans do not delay documents with text, and owners take turns at the recognizer.
#[tokio::test]
async fn long_scans_do_not_delay_documents_with_text() {
    let service = service(None);
    let recognizer = SlowRecognizer::new(&service.clock, seconds(3), 1 << 20);
    let service = service.changed(|ports| {
        ports.recognizer = Arc::new(Some(Arc::clone(&recognizer) as Arc<dyn TextRecognizer>))
    });
    let pages: Vec<String> = (1..=300).map(|n| format!("[scan]page {n}")).collect();
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    // More scans than jobs, and the one page last.
    let mut scans = Vec::new();
    for n in 0..6 {
        let title = format!("[scan]scan {n}");
        scans.push(upload(&service, &[&[title.as_str()], pages.as_slice()].concat()).await);
    }
    let text = upload(&service, &["one page of printed words"]).await;
    let (stop, started) = (CancellationToken::new(), service.app.now());
    let runner = run_with_one_place(&service, &stop);
    let clock = Arc::clone(&service.clock);
    let work = async {
        while !is_ingested(&service, text).await {
            tokio::task::yield_now().await;
        }
    };
    clock.pass_while(work).await;
    let took = (service.app.now() - started).num_seconds();
    assert!(took <= 5, "{took} s");
    assert!(recognizer.read().len() < 3, "the first scan has only begun: {:?}", recognizer.read());
    for scan in scans {
        assert!(!is_ingested(&service, scan).await);
    }
    stop.cancel();
    clock.pass_while(runner).await.unwrap();
}

// Invariant: Scans do not delay documents with text, and owners take turns at the recognizer.
#[tokio::test]
async fn owners_take_turns_at_the_recognizer() {
    let service = service(None);
    let recognizer = SlowRecognizer::new(&service.clock, seconds(5), 1 << 20);
    let service = service.changed(|ports| {
        ports.recognizer = Arc::new(Some(Arc::clone(&recognizer) as Arc<dyn TextRecognizer>))
    });
    let pages = |name: &str, n| (1..=n).map(|page| format!("[scan]{name} {page}")).collect::<Vec<_>>();
    let mut ids = Vec::new();
    for (owner, name, n) in [(1, "first", 20), (1, "second", 20), (1, "third", 20), (2, "other", 6)] {
        let pages = pages(name, n);
        let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
        let pdf = String::from_utf8(fake_pdf(&pages)).unwrap();
        ids.push(service.upload_by(&builders::user(owner), &pdf).await);
    }
    let stop = CancellationToken::new();
    let runner = run_with_one_place(&service, &stop);
    let clock = Arc::clone(&service.clock);
    let work = async {
        for id in &ids {
            while !is_ingested(&service, *id).await {
                tokio::task::yield_now().await;
            }
        }
    };
    clock.pass_while(work).await;
    stop.cancel();
    clock.pass_while(runner).await.unwrap();
    let read = recognizer.read();
    assert_eq!(read.len(), 66, "no page is recognised twice");
    let last_of = |name: &str| read.iter().rposition(|page| page.starts_with(name)).unwrap();
    // Two slices of the other owner, and three of the one who came first.
    assert!(last_of("other") < 20, "{read:?}");
    assert!(
        last_of("first") < last_of("second").max(last_of("third")),
        "documents of an owner are not mixed"
    );
}
