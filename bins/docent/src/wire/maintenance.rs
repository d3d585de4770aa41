//! Assembles the service for maintenance commands, which can run alongside a serving process.

use super::{Detection, Stores, assemble, collections, create_private_dir, key_value, system_ports};
use docent::config::{Settings, VectorDb};
use docent_app::App;
use docent_index::embedded_index::{self, EmbeddedIndexes};
use docent_ports::recorder::{NoopRecorder, Recorder};
use docent_ports::vector_indexes::VectorIndexes;
use docent_sql::SqlStore;
use std::sync::Arc;

/// Assembles the service. If another process has an embedded store open, using that store returns an error.
pub(crate) async fn maintenance(settings: &Settings, store: SqlStore) -> anyhow::Result<Arc<App>> {
    let recognizer = Detection::start(settings)?;
    let system = system_ports()?;
    create_private_dir(&settings.service.data_dir)?;
    let (collections, _) = match settings.storage.vector_db {
        VectorDb::Embedded => (beside(settings), false),
        VectorDb::Qdrant => collections(settings, &store)?,
    };
    let (tokens, limiter) = key_value(settings, &store)?;
    // Maintenance commands sign no tokens.
    let mut secret = [0; 32];
    system.entropy.fill(&mut secret);
    let recorder: Arc<dyn Recorder> = Arc::new(NoopRecorder);
    // A serving process may be writing to the blob store.
    let stores = Stores { collections, owns_index: false, tokens, limiter, recorder };
    let app = Arc::new(assemble(settings, store, system, stores, &recognizer, &secret)?);
    recognizer.check().await?;
    Ok(app)
}

fn beside(settings: &Settings) -> Arc<dyn VectorIndexes> {
    let root = &settings.service.data_dir;
    Arc::new(EmbeddedIndexes::for_maintenance(root, embedded_index::Options::default()))
}
