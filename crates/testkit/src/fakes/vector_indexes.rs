//! In-memory vector indexes.

use super::vector_index::FakeVectorIndex;
use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_domain::id::GenerationId;
use docent_ports::vector_index::VectorIndex;
use docent_ports::vector_indexes::VectorIndexes;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// An in-memory vector store with one [`FakeVectorIndex`] per name.
#[derive(Debug, Default)]
pub struct FakeVectorIndexes(Mutex<BTreeMap<String, Entry>>);

#[derive(Debug, Default)]
struct Entry {
    index: Arc<FakeVectorIndex>,
    /// Whether the service has opened it. Before, it does not exist for the service.
    is_open: bool,
}

impl FakeVectorIndexes {
    /// Returns the index with this name and creates it if it is missing.
    pub fn get(&self, name: &str) -> Arc<FakeVectorIndex> {
        Arc::clone(&self.0.lock().unwrap().entry(name.to_owned()).or_default().index)
    }

    /// Returns all names.
    pub fn names(&self) -> Vec<String> {
        self.0.lock().unwrap().keys().cloned().collect()
    }
}

#[async_trait]
impl VectorIndexes for FakeVectorIndexes {
    async fn open(&self, name: &str, _owner: GenerationId) -> Result<Arc<dyn VectorIndex>> {
        let mut entries = self.0.lock().unwrap();
        let entry = entries.entry(name.to_owned()).or_default();
        entry.is_open = true;
        Ok(Arc::clone(&entry.index) as _)
    }

    async fn close(&self, _name: &str) -> Result<()> {
        Ok(())
    }

    async fn exists(&self, name: &str) -> Result<bool> {
        Ok(self.0.lock().unwrap().get(name).is_some_and(|entry| entry.is_open))
    }

    async fn remove(&self, name: &str) -> Result<()> {
        self.0.lock().unwrap().remove(name);
        Ok(())
    }

    async fn check(&self) -> Result<()> {
        Ok(())
    }
}

type Wrap = dyn Fn(Arc<dyn VectorIndex>) -> Arc<dyn VectorIndex> + Send + Sync;

/// Wraps every index that is opened, for example in a fault switch.
pub struct Wrapped {
    inner: Arc<dyn VectorIndexes>,
    wrap: Box<Wrap>,
}

impl Wrapped {
    /// Wraps the indexes opened by `inner`.
    pub fn new(
        inner: Arc<dyn VectorIndexes>,
        wrap: impl Fn(Arc<dyn VectorIndex>) -> Arc<dyn VectorIndex> + Send + Sync + 'static,
    ) -> Self {
        Self { inner, wrap: Box::new(wrap) }
    }
}

#[async_trait]
impl VectorIndexes for Wrapped {
    async fn open(&self, name: &str, owner: GenerationId) -> Result<Arc<dyn VectorIndex>> {
        Ok((self.wrap)(self.inner.open(name, owner).await?))
    }

    async fn close(&self, name: &str) -> Result<()> {
        self.inner.close(name).await
    }

    async fn exists(&self, name: &str) -> Result<bool> {
        self.inner.exists(name).await
    }

    async fn remove(&self, name: &str) -> Result<()> {
        self.inner.remove(name).await
    }

    async fn check(&self) -> Result<()> {
        self.inner.check().await
    }
}
