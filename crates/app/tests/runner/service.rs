//! The use cases on fakes.

use crate::turnstile::Stepped;
use async_trait::async_trait;
use bytes::Bytes;
use docent_app::{
    App,
    agent::registry::AgentRegistry,
    documents::upload,
    jobs::{Runner, RunnerSettings},
    settings::Settings,
};
use docent_domain::{
    access::Actor,
    document::Document,
    extraction::{ExtractedPage, Extraction, Metadata},
    id::{DocumentId, LeaseId},
    job::Job,
    trace::TraceParent,
    user::User,
};
use docent_ports::{
    blob_store::{BlobStore, ByteStream},
    embedder::Embedder,
    error::Component,
    reranker::Reranker,
    store::Store,
    text_extractor::{ExtractionError, TextExtractor},
    vector_indexes::VectorIndexes,
};
use docent_testkit::{
    builders,
    clock::TestClock,
    entropy::TestEntropy,
    fakes::{
        blob_store::FakeBlobStore,
        chat_model::{ScriptedChatModel, Turn},
        embedder::FakeEmbedder,
        embedders::FakeEmbedders,
        mailer::FakeMailer,
        page_renderer::FakePageRenderer,
        password_hasher::FakePasswordHasher,
        rate_limiter::FakeRateLimiter,
        recorder::FakeRecorder,
        store::FakeStore,
        token_signer::FakeTokenSigner,
        token_store::FakeTokenStore,
        vector_index::FakeVectorIndex,
        vector_indexes::{FakeVectorIndexes, Wrapped},
        webhook_sender::FakeWebhookSender,
    },
    faults::{
        FaultSwitch, Faulty,
        store::{FaultyStore, StoreSwitches},
    },
};
use futures::TryStreamExt;
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::sync::{OnceCell, Semaphore};

/// What a service keeps things in.
type Stores = (Arc<dyn Store>, Arc<dyn BlobStore>);

/// The use cases, and what moves and breaks them.
pub(crate) struct Service {
    pub(crate) app: Arc<App>,
    pub(crate) clock: Arc<TestClock>,
    /// Of the first generation.
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

    /// A service whose extractor behaves like this.
    pub(crate) fn reading(reading: Reading) -> Self {
        Self::with(reading, FakeEmbedder::default(), |stores| stores)
    }

    /// A service whose embedder makes vectors of so many dimensions too, or none for 0.
    pub(crate) fn embedding(dimensions: usize) -> Self {
        Self::with(Reading::AtOnce, FakeEmbedder::with_dense(dimensions), |stores| stores)
    }

    /// A service at whose stores tasks wait; see [`crate::turnstile`].
    pub(crate) fn stepped() -> Self {
        Self::with(Reading::AtOnce, FakeEmbedder::default(), |(store, blobs)| {
            (Arc::new(Stepped(store)), Arc::new(Stepped(blobs)))
        })
    }

    /// A service whose collections are in something that this puts around them.
    pub(crate) fn meddled(meddle: impl FnOnce(Arc<dyn VectorIndexes>) -> Arc<dyn VectorIndexes>) -> Self {
        let mut service = Self::new();
        let app = Arc::get_mut(&mut service.app).expect("nobody else has it yet");
        app.collections = meddle(Arc::clone(&app.collections));
        service
    }

    /// A service with this reranker.
    pub(crate) fn reranking(reranker: Arc<dyn Reranker>) -> Self {
        let mut service = Self::new();
        let app = Arc::get_mut(&mut service.app).expect("nobody else has it yet");
        app.reranker = Some(reranker);
        service
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
        let app = App {
            store,
            blobs: stored_blobs,
            collections: Arc::new(Wrapped::new(Arc::new(faulty_indexes), |index| Arc::new(Stepped(index)))),
            embedders: Arc::new(FakeEmbedders::always(embedder)),
            reranker: None,
            model: Arc::new(ScriptedChatModel::always(Turn::saying("ready"))),
            extractor: Arc::clone(&extractor) as _,
            renderer: Arc::new(FakePageRenderer::default()),
            tokens: Arc::new(FakeTokenStore::default()),
            signer: Arc::new(FakeTokenSigner),
            limiter: Arc::new(FakeRateLimiter::default()),
            hasher: Arc::new(FakePasswordHasher::default()),
            mailer: Arc::new(FakeMailer::default()),
            webhooks: Arc::clone(&webhooks) as _,
            clock: Arc::clone(&clock) as _,
            entropy: Arc::new(TestEntropy::default()),
            recorder: Arc::clone(&recorder) as _,
            agents: AgentRegistry::standard(10, None),
            settings,
            work: tokio::sync::Notify::new(),
            deliveries: tokio::sync::Notify::new(),
            running: docent_app::jobs::running::Running::default(),
            album: docent_app::documents::page_image::PageImageCache::default(),
            logins: docent_app::accounts::keyed_locks::KeyedLocks::default(),
            letters: docent_app::accounts::verification::OutgoingMail::default(),
            answers: tokio_util::task::TaskTracker::new(),
        };
        let app = Arc::new(app);
        let owner = OnceCell::new();
        Self {
            app,
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

    /// The runner of another process on the same stores.
    pub(crate) fn other_process(&self) -> Runner {
        let app = &self.app;
        let other = App {
            store: Arc::clone(&app.store),
            blobs: Arc::clone(&app.blobs),
            collections: Arc::clone(&app.collections),
            embedders: Arc::clone(&app.embedders),
            reranker: app.reranker.clone(),
            model: Arc::clone(&app.model),
            extractor: Arc::clone(&app.extractor),
            renderer: Arc::clone(&app.renderer),
            tokens: Arc::clone(&app.tokens),
            signer: Arc::clone(&app.signer),
            limiter: Arc::clone(&app.limiter),
            hasher: Arc::clone(&app.hasher),
            mailer: Arc::clone(&app.mailer),
            webhooks: Arc::clone(&app.webhooks),
            clock: Arc::clone(&app.clock),
            entropy: Arc::clone(&app.entropy),
            recorder: Arc::clone(&app.recorder),
            agents: AgentRegistry::standard(10, None),
            settings: app.settings.clone(),
            work: tokio::sync::Notify::new(),
            deliveries: tokio::sync::Notify::new(),
            running: docent_app::jobs::running::Running::default(),
            album: docent_app::documents::page_image::PageImageCache::default(),
            logins: docent_app::accounts::keyed_locks::KeyedLocks::default(),
            letters: docent_app::accounts::verification::OutgoingMail::default(),
            answers: tokio_util::task::TaskTracker::new(),
        };
        Runner::new(Arc::new(other), RunnerSettings::default())
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
        let grant = Actor::of(owner).unwrap().authorize().unwrap();
        let mut upload = upload::begin(&self.app, grant, "a.pdf", "application/pdf").await.unwrap();
        upload.write(Bytes::copy_from_slice(text.as_bytes())).await.unwrap();
        upload.traced(trace).finish().await.unwrap().id
    }

    async fn make_owner(&self) -> User {
        // Writes down which index serves, so that what tests count is what they are about.
        self.app.serving().await.unwrap();
        let user = builders::user(1);
        let mut work = self.app.store.begin().await.unwrap();
        work.users().insert(&user).await.unwrap();
        work.commit().await.unwrap();
        user
    }

    pub(crate) async fn document(&self, id: DocumentId) -> Document {
        self.app.store.read().await.unwrap().documents().get(id).await.unwrap().unwrap()
    }

    /// The document's only job.
    pub(crate) async fn job(&self, id: DocumentId) -> Job {
        let jobs = self.app.store.read().await.unwrap().jobs().of_document(id).await.unwrap();
        let [job] = jobs.try_into().expect("one job");
        job
    }

    /// Whether the extractor has begun to read.
    pub(crate) fn is_reading(&self) -> bool {
        self.readings() > 0
    }

    /// How many files the extractor has begun to read.
    pub(crate) fn readings(&self) -> usize {
        self.extractor.begun.load(Ordering::SeqCst)
    }

    /// Lets a [`Reading::Gated`] extractor go on, for good.
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

/// Takes the bytes for the text of one page.
struct Extractor {
    reading: Reading,
    gate: Semaphore,
    begun: AtomicUsize,
}

#[async_trait]
impl TextExtractor for Extractor {
    async fn extract(&self, pdf: ByteStream) -> Result<Extraction, ExtractionError> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        match self.reading {
            Reading::AtOnce => {}
            // Nothing is ever handed out: this waits until the gate is closed, which lets all pass.
            Reading::Gated => drop(self.gate.acquire().await),
            Reading::Panic => panic!("a bug of the extractor"),
        }
        let bytes: Vec<u8> = pdf.map_ok(|bytes| bytes.to_vec()).try_concat().await?;
        let text = String::from_utf8(bytes).unwrap();
        let glyphs = u32::try_from(text.chars().count()).unwrap();
        let page = ExtractedPage { number: 1, text, glyphs, unmapped_glyphs: 0, truncated: false };
        Ok(Extraction { pages: vec![page], metadata: Metadata::default() })
    }

    fn name(&self) -> &'static str {
        "plain"
    }
}

/// Waits until `is_so`, without sleeping.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), wait)
        .await
        .unwrap_or_else(|_| panic!("never happened: {what}"));
}

/// A lease that is not the runner's.
pub(crate) async fn lease_by_another(service: &Service) -> (Job, LeaseId) {
    let lease = service.app.new_id(LeaseId::generate);
    let now = service.app.clock.now();
    let mut work = service.app.store.begin().await.unwrap();
    let job =
        work.jobs().lease(lease, now, now + Duration::from_secs(30)).await.unwrap().expect("a job is due");
    work.commit().await.unwrap();
    (job, lease)
}
