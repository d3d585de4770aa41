//! The use cases on fakes.

use crate::call_gate::Stepped;
use async_trait::async_trait;
use bytes::Bytes;
use docent_app::App;
use docent_app::background::Background;
use docent_app::background::{Runner, RunnerSettings};
use docent_app::documents::{replace, upload};
use docent_app::maintenance::diagnostics::{CheckListener, Finding};
use docent_app::settings::Settings;
use docent_domain::access::Actor;
use docent_domain::document::{BlobKey, Document, StoredFile};
use docent_domain::extraction::{ExtractedPage, Extraction};
use docent_domain::fault::{Component, Result};
use docent_domain::file_type::FileType;
use docent_domain::id::{CollectionId, DocumentId, LeaseId};
use docent_domain::job::Job;
use docent_domain::trace::TraceParent;
use docent_domain::user::User;
use docent_ports::Ports;
use docent_ports::blob_store::{BlobStore, ByteStream};
use docent_ports::embedder::Embedder;
use docent_ports::reranker::Reranker;
use docent_ports::store::Store;
use docent_ports::text_extractor::{ExtractionError, TextExtractor};
use docent_ports::vector_indexes::VectorIndexes;
use docent_testkit::builders;
use docent_testkit::clock::TestClock;
use docent_testkit::fakes::blob_store::FakeBlobStore;
use docent_testkit::fakes::embedder::FakeEmbedder;
use docent_testkit::fakes::embedders::FakeEmbedders;
use docent_testkit::fakes::recorder::FakeRecorder;
use docent_testkit::fakes::store::FakeStore;
use docent_testkit::fakes::vector_index::FakeVectorIndex;
use docent_testkit::fakes::vector_indexes::{FakeVectorIndexes, Wrapped};
use docent_testkit::fakes::webhook_sender::FakeWebhookSender;
use docent_testkit::fakes::{self};
use docent_testkit::faults::store::{FaultyStore, StoreSwitches};
use docent_testkit::faults::{FaultSwitch, Faulty};
use futures::TryStreamExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The store and the blob store of a service.
type Stores = (Arc<dyn Store>, Arc<dyn BlobStore>);

/// The use cases, the controls of their environment and the fault switches.
pub(crate) struct Service {
    pub(crate) app: Arc<App>,
    pub(crate) ports: Ports,
    pub(crate) clock: Arc<TestClock>,
    /// The index of the first generation.
    pub(crate) index: Arc<FakeVectorIndex>,
    pub(crate) collections: Arc<FakeVectorIndexes>,
    pub(crate) blobs: Arc<FakeBlobStore>,
    pub(crate) recorder: Arc<FakeRecorder>,
    pub(crate) webhooks: Arc<FakeWebhookSender>,
    pub(crate) store_switches: StoreSwitches,
    pub(crate) index_switch: FaultSwitch,
    pub(crate) embedder_switch: FaultSwitch,
    pub(crate) blobs_switch: FaultSwitch,
    extractor: Arc<Extractor>,
    owner: OnceCell<User>,
}

impl Service {
    pub(crate) fn new() -> Self {
        Self::reading(Reading::AtOnce)
    }

    /// Creates a service with other settings.
    pub(crate) fn with_settings(change: impl FnOnce(&mut Settings)) -> Self {
        let mut service = Self::new();
        let mut settings = service.app.settings().clone();
        change(&mut settings);
        service.app = Arc::new(App::new(service.ports.clone(), settings));
        service
    }

    /// Creates a service whose extractor behaves like this.
    pub(crate) fn reading(reading: Reading) -> Self {
        Self::with(reading, FakeEmbedder::default(), |stores| stores)
    }

    /// Creates a service whose embedder also returns dense vectors of this size; none for 0.
    pub(crate) fn embedding(dimensions: usize) -> Self {
        Self::with(Reading::AtOnce, FakeEmbedder::with_dense(dimensions), |stores| stores)
    }

    /// Creates a service whose store calls a test can step through; see [`crate::call_gate`].
    pub(crate) fn stepped() -> Self {
        Self::with(Reading::AtOnce, FakeEmbedder::default(), |(store, blobs)| {
            (Arc::new(Stepped(store)), Arc::new(Stepped(blobs)))
        })
    }

    /// Creates a service whose vector indexes are wrapped by `wrap`.
    pub(crate) fn with_indexes(wrap: impl FnOnce(Arc<dyn VectorIndexes>) -> Arc<dyn VectorIndexes>) -> Self {
        Self::new().changed(|ports| ports.collections = wrap(Arc::clone(&ports.collections)))
    }

    /// Creates a service with this reranker.
    pub(crate) fn reranking(reranker: Arc<dyn Reranker>) -> Self {
        Self::new().changed(|ports| ports.reranker = Some(reranker))
    }

    /// Changes the ports.
    pub(crate) fn changed(mut self, change: impl FnOnce(&mut Ports)) -> Self {
        change(&mut self.ports);
        self.app = Arc::new(App::new(self.ports.clone(), self.app.settings().clone()));
        self
    }

    fn with(reading: Reading, embedder: FakeEmbedder, wrap: impl FnOnce(Stores) -> Stores) -> Self {
        let clock = Arc::new(TestClock::default());
        let settings = Settings::default();
        let collections = Arc::new(FakeVectorIndexes::default());
        let index = collections.get(&settings.collection);
        let blobs = Arc::new(FakeBlobStore::default());
        let recorder = Arc::new(FakeRecorder::default());
        let webhooks = Arc::new(FakeWebhookSender::default());
        let (index_switch, embedder_switch) =
            (FaultSwitch::new(Component::VectorStore), FaultSwitch::new(Component::Embedder));
        let blobs_switch = FaultSwitch::new(Component::BlobStore);
        let store = FaultyStore::new(Arc::new(FakeStore::default()) as Arc<dyn Store>);
        let store_switches = store.switches().clone();
        let extractor = Arc::new(Extractor { reading, gate: Semaphore::new(0), begun: AtomicUsize::new(0) });
        let embedder: Arc<dyn Embedder> =
            Arc::new(Faulty::new(Arc::new(embedder) as Arc<dyn Embedder>, &embedder_switch));
        let faulty_indexes = Faulty::new(Arc::clone(&collections) as Arc<dyn VectorIndexes>, &index_switch);
        let switched_blobs = Faulty::new(Arc::clone(&blobs) as Arc<dyn BlobStore>, &blobs_switch);
        let stores: Stores = (Arc::new(store), Arc::new(switched_blobs));
        let (store, stored_blobs) = wrap(stores);
        let ports = Ports {
            store,
            collections: Arc::new(Wrapped::new(Arc::new(faulty_indexes), |index| Arc::new(Stepped(index)))),
            embedders: Arc::new(FakeEmbedders::always(embedder)),
            extractor: Arc::new(CachingExtractor(Arc::clone(&extractor), Arc::clone(&stored_blobs))),
            blobs: stored_blobs,
            webhooks: Arc::clone(&webhooks) as _,
            clock: Arc::clone(&clock) as _,
            recorder: Arc::clone(&recorder) as _,
            ..fakes::ports()
        };
        let app = Arc::new(App::new(ports.clone(), settings));
        let owner = OnceCell::new();
        Self {
            app,
            ports,
            clock,
            index,
            collections,
            blobs,
            recorder,
            webhooks,
            store_switches,
            index_switch,
            embedder_switch,
            blobs_switch,
            extractor,
            owner,
        }
    }

    pub(crate) fn runner(&self) -> Runner {
        Runner::new(Arc::clone(&self.app), RunnerSettings::default())
    }

    /// Runs due jobs in a task; returns the number of attempts.
    pub(crate) fn spawn_drain(&self) -> JoinHandle<usize> {
        let runner = self.runner();
        tokio::spawn(async move { runner.drain().await.unwrap() })
    }

    /// Starts a runner that runs until it is stopped.
    pub(crate) fn spawn_runner(&self) -> (CancellationToken, JoinHandle<()>) {
        let (stop, runner) = (CancellationToken::new(), self.runner());
        let stopped = stop.clone();
        (stop, tokio::spawn(async move { runner.run(stopped, Duration::ZERO).await }))
    }

    /// Starts background work that goes on until it is stopped.
    pub(crate) fn spawn_background(&self, interval: Option<Duration>) -> (CancellationToken, JoinHandle<()>) {
        let (stop, background) = (CancellationToken::new(), Background::new(Arc::clone(&self.app), interval));
        let stopped = stop.clone();
        (stop, tokio::spawn(async move { background.run(stopped).await }))
    }

    /// Returns the background work of this process; it sweeps every hour.
    pub(crate) fn background(&self) -> Background {
        Background::new(Arc::clone(&self.app), Some(Duration::from_secs(60 * 60)))
    }

    /// Returns the runner of another process on the same stores.
    pub(crate) fn other_process(&self) -> Runner {
        Runner::new(self.other_app(), RunnerSettings::default())
    }

    /// Returns the use cases of another process on the same stores.
    pub(crate) fn other_app(&self) -> Arc<App> {
        Arc::new(App::new(self.ports.clone(), self.app.settings().clone()))
    }

    pub(crate) async fn drain(&self) -> usize {
        self.runner().drain().await.unwrap()
    }

    /// Uploads a "PDF" of one page with this text.
    pub(crate) async fn upload(&self, text: &str) -> DocumentId {
        self.upload_traced(text, None).await
    }

    pub(crate) async fn upload_traced(&self, text: &str, trace: Option<TraceParent>) -> DocumentId {
        let owner = self.owner.get_or_init(|| self.make_owner()).await;
        self.upload_of(owner, text, trace).await
    }

    /// Uploads a "PDF" of another account, which is created if missing.
    pub(crate) async fn upload_by(&self, owner: &User, text: &str) -> DocumentId {
        self.app.active_index().await.unwrap();
        let mut work = self.ports.store.begin().await.unwrap();
        if work.users().get(owner.id).await.unwrap().is_none() {
            work.users().insert(owner).await.unwrap();
        }
        work.commit().await.unwrap();
        self.upload_of(owner, text, None).await
    }

    async fn upload_of(&self, owner: &User, text: &str, trace: Option<TraceParent>) -> DocumentId {
        let grant = Actor::of(owner).unwrap().authorize().unwrap();
        let document = upload::NewDocument::new(grant, CollectionId::EVERYONE);
        self.store(document, text, trace).await
    }

    /// Uploads another file for a document.
    pub(crate) async fn replace(&self, id: DocumentId, text: &str) {
        let owner = self.owner.get().expect("an upload came before");
        let version = replace::begin(&self.app, &Actor::of(owner).unwrap(), id).await.unwrap();
        self.store(version, text, None).await;
    }

    async fn store(
        &self,
        target: impl Into<upload::UploadTarget>,
        text: &str,
        trace: Option<TraceParent>,
    ) -> DocumentId {
        let mut upload = upload::begin(&self.app, target, "a.pdf", "application/pdf", 0).await.unwrap();
        upload.write(Bytes::copy_from_slice(text.as_bytes())).await.unwrap();
        upload.traced(trace).finish().await.unwrap().document.id
    }

    async fn make_owner(&self) -> User {
        // Records the active index now, so that tests do not count this call.
        self.app.active_index().await.unwrap();
        let user = builders::user(1);
        let mut work = self.ports.store.begin().await.unwrap();
        work.users().insert(&user).await.unwrap();
        work.commit().await.unwrap();
        user
    }

    pub(crate) async fn document(&self, id: DocumentId) -> Document {
        self.ports.store.read().await.unwrap().documents().get(id).await.unwrap().unwrap()
    }

    /// Returns the document's only job.
    pub(crate) async fn job(&self, id: DocumentId) -> Job {
        let jobs = self.ports.store.read().await.unwrap().jobs().of_document(id).await.unwrap();
        let [job] = jobs.try_into().expect("one job");
        job
    }

    /// Whether an extraction has started.
    pub(crate) fn is_reading(&self) -> bool {
        self.readings() > 0
    }

    /// Returns the number of extractions started.
    pub(crate) fn readings(&self) -> usize {
        self.extractor.begun.load(Ordering::SeqCst)
    }

    /// Releases a [`Reading::Gated`] extractor permanently.
    pub(crate) fn open_gate(&self) {
        self.extractor.gate.close();
    }
}

/// How the extractor behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    AtOnce,
    Gated,
    Panic,
}

async fn one_page(text: ByteStream) -> Result<Extraction> {
    let bytes: Vec<u8> = text.map_ok(|bytes| bytes.to_vec()).try_concat().await?;
    let text = String::from_utf8(bytes).unwrap();
    let glyphs = u32::try_from(text.chars().count()).unwrap();
    let page = ExtractedPage { number: 1, text, glyphs, unmapped_glyphs: 0, ..ExtractedPage::default() };
    Ok(Extraction { pages: vec![page], ..Extraction::default() })
}

/// An extractor that returns the bytes as the text of one page.
struct Extractor {
    reading: Reading,
    gate: Semaphore,
    begun: AtomicUsize,
}

#[async_trait]
impl TextExtractor for Extractor {
    async fn extract(&self, _: FileType, pdf: ByteStream) -> Result<Extraction, ExtractionError> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        match self.reading {
            Reading::AtOnce => {}
            // No permit is ever added: this waits until the semaphore is closed, which releases all waiters.
            Reading::Gated => drop(self.gate.acquire().await),
            Reading::Panic => panic!("a bug of the extractor"),
        }
        Ok(one_page(pdf).await?)
    }

    fn name(&self, _: FileType) -> &'static str {
        "plain"
    }
}

/// Caches the text of files under the keys that the service uses.
struct CachingExtractor(Arc<Extractor>, Arc<dyn BlobStore>);

#[async_trait]
impl TextExtractor for CachingExtractor {
    async fn extract(&self, file_type: FileType, pdf: ByteStream) -> Result<Extraction, ExtractionError> {
        self.0.extract(file_type, pdf).await
    }

    async fn extract_file(
        &self,
        file: &StoredFile,
        blobs: &dyn BlobStore,
    ) -> Result<Extraction, ExtractionError> {
        let key = BlobKey::of_extraction(&file.sha256);
        if let Some(text) = self.1.open(&key).await? {
            return Ok(one_page(text).await?);
        }
        let extraction = self.0.extract_file(file, blobs).await?;
        let mut writer = self.1.create(&key).await?;
        writer.write(Bytes::from(extraction.pages[0].text.clone())).await?;
        writer.finish().await?;
        Ok(extraction)
    }

    async fn forget(&self, sha256: &[u8; 32]) -> Result<()> {
        self.1.delete(&BlobKey::of_extraction(sha256)).await.map(drop)
    }

    fn name(&self, file_type: FileType) -> &'static str {
        self.0.name(file_type)
    }
}

/// Leases the next job for another runner.
pub(crate) async fn lease_by_another(service: &Service) -> (Job, LeaseId) {
    let lease = service.app.new_id(LeaseId::generate);
    let now = service.app.now();
    let mut work = service.ports.store.begin().await.unwrap();
    let job =
        work.jobs().lease(lease, now, now + Duration::from_secs(30)).await.unwrap().expect("a job is due");
    work.commit().await.unwrap();
    (job, lease)
}

/// Collects the doctor's findings.
#[derive(Default)]
pub(crate) struct Findings(pub(crate) Vec<Finding>);

#[async_trait]
impl CheckListener for Findings {
    fn healthy(&mut self, _part: Component, _note: &str) {}

    fn in_use(&mut self, _part: Component) {}

    async fn found(&mut self, finding: Finding) {
        self.0.push(finding);
    }
}
