//! Named indexes of the embedded vector store, each in a subfolder.

use super::{EmbeddedIndex, Lock, Options, in_use, lock, unavailable};
use async_trait::async_trait;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::id::GenerationId;
use docent_ports::vector_index::VectorIndex;
use docent_ports::vector_indexes::VectorIndexes;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

/// Maximum number of open indexes: the active one, and the previous or next one.
const MAX_OPEN: usize = 2;

/// Named indexes in subfolders of one folder.
pub struct EmbeddedIndexes {
    root: PathBuf,
    options: Options,
    /// Open indexes, the latest last. Locked during opening, so that each index is opened once.
    opened: Mutex<Vec<(String, Arc<EmbeddedIndex>)>>,
    /// Held by the serving process.
    _lock: Option<Lock>,
}

impl EmbeddedIndexes {
    /// Indexes below `root`, for maintenance beside the serving process. Does not open them yet.
    pub fn for_maintenance(root: &Path, options: Options) -> Self {
        Self { root: root.to_owned(), options, opened: Mutex::default(), _lock: None }
    }

    /// Indexes below `root`, for the only serving process.
    ///
    /// # Errors
    /// If another process serves them (transient), or the folder cannot be written.
    pub fn for_serving(root: &Path, options: Options) -> Result<Self> {
        let failed = |error: io::Error| {
            unavailable(format!("the folder {} cannot be used", root.display())).caused_by(error)
        };
        fs::create_dir_all(root).map_err(failed)?;
        let lock = Lock::acquire(&root.join("index.lock")).map_err(failed)?.ok_or_else(|| in_use(root))?;
        Ok(Self { _lock: Some(lock), ..Self::for_maintenance(root, options) })
    }

    fn folder(&self, name: &str) -> Result<PathBuf> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if name.is_empty() || !name.bytes().all(is_allowed) {
            let message = format!("`{name}` is not a valid index name");
            return Err(Fault::new(Component::VectorStore, FaultKind::Internal, message));
        }
        Ok(self.root.join(name))
    }
}

/// Runs blocking work on a blocking thread.
async fn blocking<T: Send + 'static>(
    action: &'static str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let panicked = |error| Fault::new(Component::VectorStore, FaultKind::Internal, action).caused_by(error);
    spawn_blocking(work).await.map_err(panicked)?
}

/// Closes an index, unless a search or a change still uses it.
async fn close(index: impl Send + 'static) -> Result<()> {
    blocking("cannot close the embedded index", move || {
        drop(index);
        Ok(())
    })
    .await
}

fn take(opened: &mut Vec<(String, Arc<EmbeddedIndex>)>, name: &str) -> Option<Arc<EmbeddedIndex>> {
    let position = opened.iter().position(|(other, _)| other == name)?;
    Some(opened.remove(position).1)
}

#[async_trait]
impl VectorIndexes for EmbeddedIndexes {
    async fn open(&self, name: &str, _owner: GenerationId) -> Result<Arc<dyn VectorIndex>> {
        let mut opened = self.opened.lock().await;
        if let Some((_, index)) = opened.iter().find(|(other, _)| other == name) {
            return Ok(Arc::clone(index) as _);
        }
        let (folder, options) = (self.folder(name)?, self.options);
        let index = blocking("cannot open the embedded index", move || EmbeddedIndex::open(&folder, options));
        let index = Arc::new(index.await?);
        opened.push((name.to_owned(), Arc::clone(&index)));
        if opened.len() > MAX_OPEN {
            let oldest = opened.remove(0);
            // Waits for its current commit, so that it is closed when it is opened again.
            close(oldest).await?;
        }
        Ok(index)
    }

    async fn close(&self, name: &str) -> Result<()> {
        let taken = take(&mut *self.opened.lock().await, name);
        close(taken).await
    }

    async fn exists(&self, name: &str) -> Result<bool> {
        let folder = self.folder(name)?;
        let failed = |error| unavailable("cannot look for an index".to_owned()).caused_by(error);
        blocking("cannot look for an index", move || folder.try_exists().map_err(failed)).await
    }

    async fn remove(&self, name: &str) -> Result<()> {
        // Prevents the index from being opened during the removal.
        let mut opened = self.opened.lock().await;
        let (taken, folder) = (take(&mut opened, name), self.folder(name)?);
        blocking("cannot remove an index", move || {
            drop(taken);
            if !folder.is_dir() {
                return Ok(());
            }
            // Fails if the index is still in use.
            let _lock = lock(&folder)?;
            let failed = |error| {
                unavailable(format!("the folder {} cannot be removed", folder.display())).caused_by(error)
            };
            fs::remove_dir_all(&folder).map_err(failed)
        })
        .await
    }

    async fn check(&self) -> Result<()> {
        match self.opened.lock().await.last() {
            Some((_, index)) => index.check().await,
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    docent_testkit::vector_indexes_contract!(async {
        let folder = tempfile::tempdir().unwrap();
        (Arc::new(EmbeddedIndexes::for_maintenance(folder.path(), Options::default())) as _, folder)
    });

    fn owner() -> GenerationId {
        docent_testkit::builders::id(1)
    }

    #[tokio::test]
    async fn maintenance_can_open_indexes_that_the_serving_process_has_not_open() {
        let folder = tempfile::tempdir().unwrap();
        let serving = EmbeddedIndexes::for_serving(folder.path(), Options::default()).unwrap();
        let fault = EmbeddedIndexes::for_serving(folder.path(), Options::default()).err().unwrap();
        assert_eq!(fault.kind(), FaultKind::InUse);
        let maintenance = EmbeddedIndexes::for_maintenance(folder.path(), Options::default());
        let _held = serving.open("index", owner()).await.unwrap();
        for fault in [
            maintenance.open("index", owner()).await.err().unwrap(),
            maintenance.remove("index").await.unwrap_err(),
        ] {
            assert!(fault.report().contains("another process"), "{fault}");
        }
        maintenance.open("index-2", owner()).await.unwrap();
        maintenance.close("index-2").await.unwrap();
        serving.open("index-2", owner()).await.unwrap();
    }

    #[tokio::test]
    async fn index_in_use_cannot_be_removed() {
        let folder = tempfile::tempdir().unwrap();
        let indexes = EmbeddedIndexes::for_maintenance(folder.path(), Options::default());
        let held = indexes.open("index", owner()).await.unwrap();
        assert!(indexes.remove("index").await.unwrap_err().is_transient());
        held.check().await.unwrap();
        drop(held);
        indexes.remove("index").await.unwrap();
        assert!(!indexes.exists("index").await.unwrap());
    }

    #[tokio::test]
    async fn names_outside_the_folder_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let indexes = EmbeddedIndexes::for_maintenance(folder.path(), Options::default());
        for name in ["", "..", "a/b", "/etc", "a\0"] {
            assert!(indexes.open(name, owner()).await.is_err(), "{name:?}");
            assert!(indexes.remove(name).await.is_err(), "{name:?}");
        }
    }
}
