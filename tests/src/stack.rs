//! The stacks that the service is tested on.

use crate::extractor::{PlainExtractor, Stall};
use chrono::{DateTime, Utc};
use docent_adapters::{
    blob::ObjectBlobStore,
    builtin::embedder::BuiltinEmbedder,
    embedded_index::{EmbeddedIndex, Options},
    memory::{MemoryRateLimiter, MemoryTokenStore},
    password::Argon2Hasher,
    sql::{SqlOptions, SqlStore},
    token_signer::JwtSigner,
};
use docent_ports::{
    blob_store::BlobStore, embedder::Embedder, entropy::Entropy, error::Part,
    password_hasher::PasswordHasher, rate_limiter::RateLimiter, store::Store, text_extractor::TextExtractor,
    token_signer::TokenSigner, token_store::TokenStore, vector_index::VectorIndex,
};
use docent_testkit::{
    fakes::{
        blob_store::FakeBlobStore, embedder::FakeEmbedder, password_hasher::FakePasswordHasher,
        rate_limiter::FakeRateLimiter, store::FakeStore, token_signer::FakeTokenSigner,
        token_store::FakeTokenStore, vector_index::FakeVectorIndex,
    },
    faults::{
        FaultSwitch, Faulty,
        store::{FaultyStore, StoreSwitches},
    },
};
use std::sync::Arc;
use tempfile::TempDir;

/// The key that tokens are signed with.
pub const SECRET_KEY: &[u8] = b"a secret key for tests, of more than 32 bytes";

/// A set of adapters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// The fakes of the testkit.
    Fakes,
    /// The embedded adapters: SQLite, journals and files in a temporary folder.
    Embedded,
}

/// The parts of a stack, each behind a switch that breaks it.
pub(crate) struct Parts {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) blobs: Arc<dyn BlobStore>,
    pub(crate) index: Arc<dyn VectorIndex>,
    pub(crate) embedder: Arc<dyn Embedder>,
    pub(crate) extractor: Arc<dyn TextExtractor>,
    pub(crate) tokens: Arc<dyn TokenStore>,
    pub(crate) limiter: Arc<dyn RateLimiter>,
    pub(crate) signer: Arc<dyn TokenSigner>,
    pub(crate) hasher: Arc<dyn PasswordHasher>,
    pub(crate) faults: Faults,
    /// Where the embedded adapters keep their files; gone with the test.
    pub(crate) folder: TempDir,
}

/// What breaks parts of a running service.
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
    /// The embedding back end.
    pub embedder: FaultSwitch,
    /// The extraction worker.
    pub extractor: FaultSwitch,
    /// What holds extractions up.
    pub stall: Stall,
}

impl Stack {
    pub(crate) async fn parts(self, now: DateTime<Utc>, entropy: Arc<dyn Entropy>) -> Parts {
        let folder = tempfile::tempdir().unwrap();
        match self {
            Self::Fakes => guarded(Bare {
                store: Arc::new(FakeStore::default()),
                blobs: Arc::new(FakeBlobStore::default()),
                index: Arc::new(FakeVectorIndex::default()),
                embedder: Arc::new(FakeEmbedder::default()),
                tokens: Arc::new(FakeTokenStore::default()),
                limiter: Arc::new(FakeRateLimiter::default()),
                signer: Arc::new(FakeTokenSigner),
                hasher: Arc::new(FakePasswordHasher::default()),
                folder,
            }),
            Self::Embedded => guarded(embedded(folder, now, entropy).await),
        }
    }
}

/// A stack without switches.
struct Bare {
    store: Arc<dyn Store>,
    blobs: Arc<dyn BlobStore>,
    index: Arc<dyn VectorIndex>,
    embedder: Arc<dyn Embedder>,
    tokens: Arc<dyn TokenStore>,
    limiter: Arc<dyn RateLimiter>,
    signer: Arc<dyn TokenSigner>,
    hasher: Arc<dyn PasswordHasher>,
    folder: TempDir,
}

async fn embedded(folder: TempDir, now: DateTime<Utc>, entropy: Arc<dyn Entropy>) -> Bare {
    let root = folder.path();
    let url = format!("sqlite://{}/docent.db", root.display());
    let store = SqlStore::connect(&url, SqlOptions::default()).await.unwrap();
    store.migrate().await.unwrap();
    Bare {
        store: Arc::new(store),
        blobs: Arc::new(ObjectBlobStore::local(&root.join("files"), now).unwrap()),
        index: Arc::new(EmbeddedIndex::open(&root.join("index"), Options::default()).unwrap()),
        embedder: Arc::new(BuiltinEmbedder::default()),
        tokens: Arc::new(MemoryTokenStore::open(&root.join("tokens.journal")).unwrap()),
        limiter: Arc::new(MemoryRateLimiter::default()),
        signer: Arc::new(JwtSigner::new(SECRET_KEY)),
        hasher: Arc::new(Argon2Hasher::weak_but_fast(entropy).unwrap()),
        folder,
    }
}

fn guarded(bare: Bare) -> Parts {
    let store = FaultyStore::new(bare.store);
    let faults = Faults {
        database: store.switches().clone(),
        tokens: FaultSwitch::new(Part::KeyValueStore),
        limiter: FaultSwitch::new(Part::KeyValueStore),
        blobs: FaultSwitch::new(Part::BlobStore),
        index: FaultSwitch::new(Part::VectorStore),
        embedder: FaultSwitch::new(Part::Embedder),
        extractor: FaultSwitch::new(Part::Extractor),
        stall: Stall::default(),
    };
    Parts {
        store: Arc::new(store),
        blobs: Arc::new(Faulty::new(bare.blobs, &faults.blobs)),
        index: Arc::new(Faulty::new(bare.index, &faults.index)),
        embedder: Arc::new(Faulty::new(bare.embedder, &faults.embedder)),
        extractor: Arc::new(PlainExtractor::new(&faults.extractor, &faults.stall)),
        tokens: Arc::new(Faulty::new(bare.tokens, &faults.tokens)),
        limiter: Arc::new(Faulty::new(bare.limiter, &faults.limiter)),
        signer: bare.signer,
        hasher: bare.hasher,
        faults,
        folder: bare.folder,
    }
}
