//! The adapters of the production profile, on servers configured by the environment.

use crate::adapters::{Adapters, SECRET_KEY};
use docent_index::embedded_index::{EmbeddedIndexes, Options};
use docent_models::builtin::embedder::BuiltinEmbedder;
use docent_models::cached_embedder::CachedEmbedder;
use docent_models::hybrid_embedder::HybridEmbedder;
use docent_models::openai::backend::BackendSettings;
use docent_models::openai::chat::OpenAiChatModel;
use docent_models::openai::embeddings::{BatchLimits, OpenAiEmbedder};
use docent_ports::clock::Clock;
use docent_ports::entropy::Entropy;
use docent_ports::recorder::NoopRecorder;
use docent_ports::store::Store;
use docent_services::blob::ObjectBlobStore;
use docent_services::password::Argon2Hasher;
use docent_services::redis::{self, Redis, RedisRateLimiter, RedisTokenStore};
use docent_services::token_signer::JwtSigner;
use docent_sql::{SqlOptions, SqlStore};
use docent_testkit::fakes::chat_model::ScriptedChatModel;
use docent_testkit::servers::{OwnSchema, redis_url, unique_name};
use docent_testkit::wire::FakeLlm;
use std::sync::Arc;
use std::time::Duration;

/// Enough for texts without a common word to get different vectors.
const DIMENSIONS: usize = 1024;

/// Timeout of calls on a busy machine. No test waits that long: slow back ends are scripted.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Creates the stack with its own schema, keys and back ends.
pub(crate) async fn adapters(
    script: Arc<ScriptedChatModel>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
) -> Adapters {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let (store, schema) = store().await;
    let prefix = unique_name() + ":";
    let options = redis::Options { prefix, timeout: TIMEOUT, ..redis::Options::default() };
    let redis = Redis::new(&redis_url(), options).unwrap();
    let llm = FakeLlm::start().await;
    llm.configure(|model| model.dimensions = DIMENSIONS);
    llm.play(script);
    let settings = settings(&llm);
    let limits = BatchLimits::default();
    let dense = Arc::new(OpenAiEmbedder::new(&settings, limits, Arc::clone(&clock)).unwrap());
    let store: Arc<dyn Store> = Arc::new(store);
    let dense = CachedEmbedder::new(dense, Arc::clone(&store), Arc::clone(&clock), Arc::new(NoopRecorder));
    Adapters {
        store,
        blobs: Arc::new(ObjectBlobStore::local(&root.join("files"), clock.now()).unwrap()),
        collections: Arc::new(EmbeddedIndexes::for_maintenance(root, Options::default())),
        embedder: Arc::new(HybridEmbedder::new(Arc::new(BuiltinEmbedder::default()), Arc::new(dense))),
        tokens: Arc::new(RedisTokenStore::new(redis.clone())),
        limiter: Arc::new(RedisRateLimiter::new(redis)),
        signer: Arc::new(JwtSigner::new(SECRET_KEY)),
        hasher: Arc::new(Argon2Hasher::weak_but_fast(entropy).unwrap()),
        model: Arc::new(OpenAiChatModel::new(&settings, clock).unwrap().with_attempts(1)),
        resources: Box::new((llm, folder, schema)),
    }
}

/// Creates a store with an empty schema.
async fn store() -> (SqlStore, OwnSchema) {
    let schema = OwnSchema::create();
    // Few, since every concurrent test has as many.
    let options = SqlOptions { read_connections: 2, write_connections: 4, ..SqlOptions::default() };
    let store = SqlStore::connect(&schema.url(), options).await.unwrap();
    store.migrate().await.unwrap();
    (store, schema)
}

fn settings(llm: &FakeLlm) -> BackendSettings {
    BackendSettings {
        base_url: llm.base_url(),
        api_key: Some("sk-test".to_owned()),
        model: "test".to_owned(),
        timeout: TIMEOUT,
        traces: None,
    }
}
