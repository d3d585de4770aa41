//! The collections of a Qdrant server, over one connection.

use super::collection::Collection;
use super::connection::{Connection, fault, unconfigured};
use super::{QdrantIndex, rest};
use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_domain::id::GenerationId;
use docent_ports::vector_index::VectorIndex;
use docent_ports::vector_indexes::VectorIndexes;
use qdrant_client::qdrant::{DeleteCollection, HealthCheckRequest};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OnceCell;
use tonic::Code;

/// The first version that keeps all acknowledged points at a restart (qdrant#10402).
const SAFE_VERSION: (u64, u64) = (1, 20);

/// Maximum number of open collections.
const OPEN_MAX: usize = 4;

/// The collections of a Qdrant server.
pub struct QdrantCollections {
    /// The collection that checks look up while no other is open.
    default: QdrantIndex,
    opened: Mutex<Vec<Arc<QdrantIndex>>>,
    /// Set when the server's version has been checked.
    version_warning: OnceCell<()>,
}

impl QdrantCollections {
    /// Opens collections on the server of `default`, the collection that checks look up while no other is open.
    pub fn new(default: QdrantIndex) -> Self {
        Self { default, opened: Mutex::default(), version_warning: OnceCell::new() }
    }

    /// Checks the open collections, which may belong to another installation, or the default one if none is open.
    async fn check_opened(&self) -> Result<()> {
        let opened = self.opened().clone();
        if opened.is_empty() {
            return self.default.check().await;
        }
        for index in opened {
            index.check().await?;
        }
        Ok(())
    }

    fn collection(&self, name: &str, owner: Option<GenerationId>) -> Collection {
        Collection::new(name.to_owned(), owner, self.default.collection.is_on_disk())
    }

    fn opened(&self) -> MutexGuard<'_, Vec<Arc<QdrantIndex>>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Logs a warning if the server's version can lose chunks.
async fn warn_of_old_version(connection: &Connection) {
    let Ok(reply) = connection.read(connection.server().health_check(HealthCheckRequest {})).await else {
        return;
    };
    let mut numbers = reply.version.split('.').map(|part| part.parse().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version < SAFE_VERSION {
        tracing::warn!(
            version = reply.version,
            "this version of Qdrant can lose acknowledged chunks when it restarts (qdrant#10402); sweeps ingest the \
             documents again. Upgrade to 1.20"
        );
    }
}

#[async_trait]
impl VectorIndexes for QdrantCollections {
    async fn open(&self, name: &str, owner: GenerationId) -> Result<Arc<dyn VectorIndex>> {
        let mut opened = self.opened();
        if let Some(index) = opened.iter().find(|index| index.collection.name() == name) {
            return Ok(Arc::clone(index) as _);
        }
        let index = Arc::new(QdrantIndex {
            connection: Arc::clone(&self.default.connection),
            collection: self.collection(name, Some(owner)),
            statistics: Arc::clone(&self.default.statistics),
        });
        if opened.len() == OPEN_MAX {
            opened.remove(0);
        }
        opened.push(Arc::clone(&index));
        Ok(index)
    }

    async fn close(&self, name: &str) -> Result<()> {
        self.opened().retain(|index| index.collection.name() != name);
        Ok(())
    }

    async fn exists(&self, name: &str) -> Result<bool> {
        self.collection(name, None).exists(&self.default.connection).await
    }

    async fn remove(&self, name: &str) -> Result<()> {
        let connection = &self.default.connection;
        let request = DeleteCollection { collection_name: name.to_owned(), ..DeleteCollection::default() };
        let removed = connection.write(connection.collections().delete(request)).await;
        self.close(name).await?;
        match removed {
            Err(status) if status.code() == Code::NotFound => {}
            answer => answer.map(drop).map_err(|status| fault("remove the collection", status))?,
        }
        let mut unit = self.default.statistics.begin().await?;
        unit.term_statistics().clear(name).await?;
        unit.commit().await
    }

    async fn check(&self) -> Result<()> {
        let connection = &self.default.connection;
        match self.check_opened().await {
            Ok(()) => {
                self.version_warning.get_or_init(|| warn_of_old_version(connection)).await;
                Ok(())
            }
            Err(fault) if fault.is_transient() && rest::is_rest_port(&connection.url()).await => {
                Err(unconfigured(
                    "DOCENT_QDRANT_URL has the REST port of a Qdrant server; the gRPC port is needed, usually 6334",
                ))
            }
            Err(fault) => Err(fault),
        }
    }

    async fn version(&self) -> Result<Option<String>> {
        let connection = &self.default.connection;
        let reply = connection.read(connection.server().health_check(HealthCheckRequest {})).await;
        let reply = reply.map_err(|status| fault("read the version", status))?;
        Ok(Some(format!("Qdrant {}", reply.version)))
    }
}
