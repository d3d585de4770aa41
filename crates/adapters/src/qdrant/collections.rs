//! The collections of a Qdrant server, over one connection.

use super::{
    Options, QdrantIndex,
    collection::Collection,
    connection::{Connection, fault},
};
use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_ports::{store::Store, vector_index::VectorIndex, vector_indexes::VectorIndexes};
use qdrant_client::qdrant::DeleteCollection;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tonic::Code;

/// Maximum number of open collections.
const OPEN_MAX: usize = 4;

/// The collections of a Qdrant server.
pub struct QdrantCollections {
    connection: Arc<Connection>,
    statistics: Arc<dyn Store>,
    /// The collection that checks look up.
    default: String,
    opened: Mutex<Vec<Arc<QdrantIndex>>>,
}

impl QdrantCollections {
    /// Creates a client like [`QdrantIndex::new`]. Checks look up the collection named in the options.
    ///
    /// # Errors
    /// If the address or the key is invalid.
    pub fn new(
        url: &str,
        api_key: Option<&str>,
        options: Options,
        statistics: Arc<dyn Store>,
    ) -> Result<Self> {
        let connection = Arc::new(Connection::new(url, api_key, &options)?);
        Ok(Self { connection, statistics, default: options.collection, opened: Mutex::default() })
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
            connection: Arc::clone(&self.connection),
            collection: Collection::new(name.to_owned()),
            statistics: Arc::clone(&self.statistics),
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
        Collection::new(name.to_owned()).exists(&self.connection).await
    }

    async fn remove(&self, name: &str) -> Result<()> {
        let request = DeleteCollection { collection_name: name.to_owned(), ..DeleteCollection::default() };
        let removed = self.connection.write(self.connection.collections().delete(request)).await;
        self.close(name).await?;
        match removed {
            Err(status) if status.code() == Code::NotFound => {}
            answer => answer.map(drop).map_err(|status| fault("remove the collection", status))?,
        }
        let mut unit = self.statistics.begin().await?;
        unit.term_statistics().clear(name).await?;
        unit.commit().await
    }

    async fn check(&self) -> Result<()> {
        // Unlike the server's health check, this also verifies the API key.
        self.exists(&self.default).await.map(|_| ())
    }
}
