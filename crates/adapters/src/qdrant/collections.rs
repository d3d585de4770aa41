//! The collections of a Qdrant server, over one connection.

use super::{QdrantIndex, collection::Collection, connection::fault};
use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_ports::{vector_index::VectorIndex, vector_indexes::VectorIndexes};
use qdrant_client::qdrant::DeleteCollection;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tonic::Code;

/// Maximum number of open collections.
const OPEN_MAX: usize = 4;

/// The collections of a Qdrant server.
pub struct QdrantCollections {
    /// The collection that checks look up.
    default: QdrantIndex,
    opened: Mutex<Vec<Arc<QdrantIndex>>>,
}

impl QdrantCollections {
    /// Opens collections on the server of `default`, the collection that checks look up.
    pub fn new(default: QdrantIndex) -> Self {
        Self { default, opened: Mutex::default() }
    }

    fn opened(&self) -> MutexGuard<'_, Vec<Arc<QdrantIndex>>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl VectorIndexes for QdrantCollections {
    async fn open(&self, name: &str) -> Result<Arc<dyn VectorIndex>> {
        let mut opened = self.opened();
        if let Some(index) = opened.iter().find(|index| index.collection.name() == name) {
            return Ok(Arc::clone(index) as _);
        }
        let index = Arc::new(QdrantIndex {
            connection: Arc::clone(&self.default.connection),
            collection: Collection::new(name.to_owned()),
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
        Collection::new(name.to_owned()).exists(&self.default.connection).await
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
        self.default.check().await
    }
}
