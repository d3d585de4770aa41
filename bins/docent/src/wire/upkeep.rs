//! The service's parts for commands that look after it, beside a process that may be serving.

use super::{Opened, assemble, basics, collections, key_value, make_folder};
use docent::config::{Settings, VectorDb};
use docent_adapters::{
    embedded_index::{self, EmbeddedIndexes},
    sql::SqlStore,
};
use docent_app::{
    App,
    recorder::{NoopRecorder, Recorder},
};
use docent_ports::vector_indexes::VectorIndexes;
use std::sync::Arc;

/// Puts the parts together. An embedded store that another process has open is one that says so when it is used.
pub(crate) fn upkeep(settings: &Settings, store: SqlStore) -> anyhow::Result<Arc<App>> {
    let basics = basics()?;
    make_folder(&settings.service.data_dir)?;
    let (collections, _) = match settings.storage.vector_db {
        VectorDb::Embedded => (beside(settings), false),
        VectorDb::Qdrant => collections(settings, &store)?,
    };
    let (tokens, limiter) = key_value(settings, &store)?;
    // Nothing is signed here.
    let mut secret = [0; 32];
    basics.entropy.fill(&mut secret);
    let recorder: Arc<dyn Recorder> = Arc::new(NoopRecorder);
    // A process that serves may be writing to the blob store.
    let opened = Opened { collections, owns_index: false, tokens, limiter, recorder };
    Ok(Arc::new(assemble(settings, store, basics, opened, &secret)?))
}

fn beside(settings: &Settings) -> Arc<dyn VectorIndexes> {
    let root = &settings.service.data_dir;
    Arc::new(EmbeddedIndexes::for_maintenance(root, embedded_index::Options::default()))
}
