//! The stacks that the service is tested on.

use crate::adapters::{Adapters, SECRET_KEY};
use crate::extractor::{PlainExtractor, Stall};
#[cfg(feature = "live")]
use crate::servers;
use chrono::{DateTime, Utc};
use docent_domain::fault::Component;
use docent_index::embedded_index::{EmbeddedIndexes, Options};
use docent_models::builtin::embedder::BuiltinEmbedder;
use docent_ports::clock::Clock;
use docent_ports::entropy::Entropy;
use docent_ports::page_renderer::PageRenderer;
use docent_ports::text_extractor::TextExtractor;
use docent_services::blob::ObjectBlobStore;
use docent_services::memory::MemoryRateLimiter;
use docent_services::password::Argon2Hasher;
use docent_services::token_signer::JwtSigner;
use docent_sql::{SqlOptions, SqlStore, SqlTokenStore};
use docent_testkit::fakes::blob_store::FakeBlobStore;
use docent_testkit::fakes::chat_model::ScriptedChatModel;
use docent_testkit::fakes::embedder::FakeEmbedder;
use docent_testkit::fakes::page_renderer::FakePageRenderer;
use docent_testkit::fakes::password_hasher::FakePasswordHasher;
use docent_testkit::fakes::rate_limiter::FakeRateLimiter;
use docent_testkit::fakes::store::FakeStore;
use docent_testkit::fakes::token_signer::FakeTokenSigner;
use docent_testkit::fakes::token_store::FakeTokenStore;
use docent_testkit::fakes::vector_indexes::FakeVectorIndexes;
use docent_testkit::faults::store::{FaultyStore, StoreSwitches};
use docent_testkit::faults::{FaultSwitch, Faulty};
use std::sync::Arc;

/// A set of adapters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// The fakes of the testkit.
    Fakes,
    /// The embedded adapters: SQLite and files in a temporary folder.
    Embedded,
    /// PostgreSQL, Redis, and chat model and embedding back ends over HTTP; index and files as in
    /// [`Self::Embedded`].
    #[cfg(feature = "live")]
    Servers,
}

/// The components of a stack, each behind a fault switch.
pub(crate) struct Components {
    pub(crate) adapters: Adapters,
    pub(crate) extractor: Arc<dyn TextExtractor>,
    pub(crate) renderer: Arc<dyn PageRenderer>,
    pub(crate) faults: Faults,
}

/// Fault switches of the components of a running service.
#[derive(Clone, Debug)]
pub struct Faults {
    /// The relational database.
    pub database: StoreSwitches,
    /// The store of refresh tokens.
    pub tokens: FaultSwitch,
    /// The counters of requests and logins.
    pub limiter: FaultSwitch,
    /// The store of files.
    pub blobs: FaultSwitch,
    /// The vector store.
    pub index: FaultSwitch,
    /// The embedder.
    pub embedder: FaultSwitch,
    /// The reranker, if configured.
    pub reranker: FaultSwitch,
    /// The extraction worker.
    pub extractor: FaultSwitch,
    /// Delays extractions.
    pub stall: Stall,
    /// The chat model: the start and each event of an answer.
    pub model: FaultSwitch,
}

impl Stack {
    /// Creates the components; `script` is the chat model's script.
    pub(crate) async fn components(
        self,
        script: Arc<ScriptedChatModel>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Components {
        with_fault_switches(match self {
            Self::Fakes => Adapters {
                store: Arc::new(FakeStore::default()),
                blobs: Arc::new(FakeBlobStore::default()),
                collections: Arc::new(FakeVectorIndexes::default()),
                embedder: Arc::new(FakeEmbedder::default()),
                tokens: Arc::new(FakeTokenStore::default()),
                limiter: Arc::new(FakeRateLimiter::default()),
                signer: Arc::new(FakeTokenSigner),
                hasher: Arc::new(FakePasswordHasher::default()),
                model: script,
                resources: Box::new(()),
            },
            Self::Embedded => embedded(script, clock.now(), entropy).await,
            #[cfg(feature = "live")]
            Self::Servers => servers::adapters(script, clock, entropy).await,
        })
    }
}

async fn embedded(script: Arc<ScriptedChatModel>, now: DateTime<Utc>, entropy: Arc<dyn Entropy>) -> Adapters {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let url = format!("sqlite://{}/docent.db", root.display());
    let store = SqlStore::connect(&url, SqlOptions::default()).await.unwrap();
    store.migrate().await.unwrap();
    Adapters {
        tokens: Arc::new(SqlTokenStore::new(store.clone())),
        store: Arc::new(store),
        blobs: Arc::new(ObjectBlobStore::local(&root.join("files"), now).unwrap()),
        collections: Arc::new(EmbeddedIndexes::for_maintenance(root, Options::default())),
        embedder: Arc::new(BuiltinEmbedder::default()),
        limiter: Arc::new(MemoryRateLimiter::default()),
        signer: Arc::new(JwtSigner::new(SECRET_KEY)),
        hasher: Arc::new(Argon2Hasher::weak_but_fast(entropy).unwrap()),
        model: script,
        resources: Box::new(folder),
    }
}

fn with_fault_switches(adapters: Adapters) -> Components {
    let store = FaultyStore::new(adapters.store);
    let faults = Faults {
        database: store.switches().clone(),
        tokens: FaultSwitch::new(Component::KeyValueStore),
        limiter: FaultSwitch::new(Component::KeyValueStore),
        blobs: FaultSwitch::new(Component::BlobStore),
        index: FaultSwitch::new(Component::VectorStore),
        embedder: FaultSwitch::new(Component::Embedder),
        reranker: FaultSwitch::new(Component::Reranker),
        extractor: FaultSwitch::new(Component::Extractor),
        stall: Stall::default(),
        model: FaultSwitch::new(Component::ChatModel),
    };
    let adapters = Adapters {
        store: Arc::new(store),
        blobs: Arc::new(Faulty::new(adapters.blobs, &faults.blobs)),
        collections: Arc::new(Faulty::new(adapters.collections, &faults.index)),
        embedder: Arc::new(Faulty::new(adapters.embedder, &faults.embedder)),
        tokens: Arc::new(Faulty::new(adapters.tokens, &faults.tokens)),
        limiter: Arc::new(Faulty::new(adapters.limiter, &faults.limiter)),
        model: Arc::new(Faulty::new(adapters.model, &faults.model)),
        ..adapters
    };
    Components {
        adapters,
        extractor: Arc::new(PlainExtractor::new(&faults.extractor, &faults.stall)),
        renderer: Arc::new(FakePageRenderer::behind(&faults.extractor)),
        faults,
    }
}
