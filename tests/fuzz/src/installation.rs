//! An in-memory installation on the testkit's fakes.

use docent_app::{App, agent::registry::AgentRegistry, settings::Settings};
use docent_ports::recorder::NoopRecorder;
use docent_testkit::{
    clock::TestClock,
    entropy::TestEntropy,
    fakes::{
        blob_store::FakeBlobStore, chat_model::ScriptedChatModel, embedder::FakeEmbedder,
        embedders::FakeEmbedders, mailer::FakeMailer, page_renderer::FakePageRenderer,
        password_hasher::FakePasswordHasher, rate_limiter::FakeRateLimiter, store::FakeStore,
        text_extractor::FakeTextExtractor, token_signer::FakeTokenSigner, token_store::FakeTokenStore,
        vector_indexes::FakeVectorIndexes, webhook_sender::FakeWebhookSender,
    },
};
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

/// Creates an empty installation; returns it with its blob store.
pub fn empty(settings: Settings) -> (Arc<App>, Arc<FakeBlobStore>) {
    let blobs = Arc::new(FakeBlobStore::default());
    let app = Arc::new(App {
        store: Arc::new(FakeStore::default()),
        blobs: Arc::clone(&blobs) as _,
        collections: Arc::new(FakeVectorIndexes::default()),
        embedders: Arc::new(FakeEmbedders::always(Arc::new(FakeEmbedder::default()))),
        reranker: None,
        model: Arc::new(ScriptedChatModel::default()),
        extractor: Arc::new(FakeTextExtractor),
        renderer: Arc::new(FakePageRenderer::default()),
        tokens: Arc::new(FakeTokenStore::default()),
        signer: Arc::new(FakeTokenSigner),
        limiter: Arc::new(FakeRateLimiter::default()),
        hasher: Arc::new(FakePasswordHasher::default()),
        mailer: Arc::new(FakeMailer::default()),
        webhooks: Arc::new(FakeWebhookSender::default()),
        clock: Arc::new(TestClock::default()),
        entropy: Arc::new(TestEntropy::default()),
        recorder: Arc::new(NoopRecorder),
        agents: AgentRegistry::standard(10, None),
        settings,
        work: tokio::sync::Notify::new(),
        deliveries: tokio::sync::Notify::new(),
        running: docent_app::jobs::running::Running::default(),
        album: docent_app::documents::page_image::PageImageCache::default(),
        logins: docent_app::accounts::keyed_locks::KeyedLocks::default(),
        letters: docent_app::accounts::verification::OutgoingMail::default(),
        answers: tokio_util::task::TaskTracker::new(),
    });
    (app, blobs)
}

/// Creates a single-threaded runtime.
pub fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().expect("a runtime")
}
