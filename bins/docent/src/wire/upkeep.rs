//! The service's parts for commands that look after it, beside a process that may be serving.

use super::{Opened, absent::Absent, assemble, basics, embedded_index_folder, index, key_value, make_folder};
use anyhow::Context;
use docent::config::{KeyValueUrl, Settings, VectorDb};
use docent_adapters::{
    embedded_index::{self, EmbeddedIndex},
    memory::{MemoryRateLimiter, MemoryTokenStore},
    sql::SqlStore,
};
use docent_app::{
    App,
    recorder::{Recorder, Unrecorded},
};
use docent_ports::{rate_limiter::RateLimiter, token_store::TokenStore, vector_index::VectorIndex};
use std::sync::Arc;

/// Puts the parts together. An embedded store that another process has open is one that says so.
pub(crate) fn upkeep(settings: &Settings, store: SqlStore) -> anyhow::Result<Arc<App>> {
    let basics = basics()?;
    make_folder(&settings.service.data_dir)?;
    let (index, _) = match settings.storage.vector_db {
        VectorDb::Embedded => (embedded(settings), true),
        VectorDb::Qdrant => index(settings)?,
    };
    let (tokens, limiter) = match settings.storage.redis_url {
        KeyValueUrl::Memory => memory(settings),
        KeyValueUrl::Redis(_) => key_value(settings).context("the key-value store")?,
    };
    // Nothing is signed here.
    let mut secret = [0; 32];
    basics.entropy.fill(&mut secret);
    let recorder: Arc<dyn Recorder> = Arc::new(Unrecorded);
    // A process that serves may be writing to the blob store.
    let opened = Opened { index, owns_index: false, tokens, limiter, recorder };
    Ok(Arc::new(assemble(settings, store, basics, opened, &secret)?))
}

fn embedded(settings: &Settings) -> Arc<dyn VectorIndex> {
    match EmbeddedIndex::open(&embedded_index_folder(settings), embedded_index::Options::default()) {
        Ok(index) => Arc::new(index),
        Err(fault) => Arc::new(Absent::because(&fault)),
    }
}

fn memory(settings: &Settings) -> (Arc<dyn TokenStore>, Arc<dyn RateLimiter>) {
    let tokens: Arc<dyn TokenStore> =
        match MemoryTokenStore::open(&settings.service.data_dir.join("tokens.journal")) {
            Ok(tokens) => Arc::new(tokens),
            Err(fault) => Arc::new(Absent::because(&fault)),
        };
    (tokens, Arc::new(MemoryRateLimiter::default()))
}
