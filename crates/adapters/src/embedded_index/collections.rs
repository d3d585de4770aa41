//! Named indexes of the embedded vector store, each in a subfolder.

use super::{EmbeddedIndex, Options, in_use, lock, unavailable};
use async_trait::async_trait;
use docent_ports::{
    error::{Component, Fault, FaultKind, Result},
    vector_index::VectorIndex,
    vector_indexes::VectorIndexes,
};
use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::{sync::Mutex, task::spawn_blocking};

/// Maximum number of open indexes: the active one, and the previous or next one.
const KEPT: usize = 2;

/// Named indexes in subfolders of one folder.
pub struct EmbeddedCollections {
    root: PathBuf,
    options: Options,
    /// Open indexes, the latest last. Locked during opening, so that each index is opened once.
    opened: Mutex<Vec<(String, Arc<EmbeddedIndex>)>>,
    /// Held by the serving process.
    _owner: Option<File>,
}

impl EmbeddedCollections {
    /// The collections below `root`, for a process that looks after them. Nothing is opened yet.
    pub fn beside(root: &Path, options: Options) -> Self {
        Self { root: root.to_owned(), options, opened: Mutex::default(), _owner: None }
    }

    /// Indexes below `root`, for the only serving process.
    ///
    /// # Errors
    /// If another process serves them (transient), or the folder cannot be written.
    pub fn serving(root: &Path, options: Options) -> Result<Self> {
        let failed = |error: io::Error| {
            unavailable(format!("the folder {} cannot be used", root.display())).caused_by(error)
        };
        fs::create_dir_all(root).map_err(failed)?;
        let file = File::options().create(true).append(true).open(root.join("index.lock")).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _owner: Some(file), ..Self::beside(root, options) }),
            Err(TryLockError::WouldBlock) => Err(in_use(root)),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    fn folder(&self, name: &str) -> Result<PathBuf> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if name.is_empty() || !name.bytes().all(is_plain) {
            let message = format!("`{name}` cannot be the name of a collection");
            return Err(Fault::new(Component::VectorStore, FaultKind::Internal, message));
        }
        Ok(self.root.join(name))
    }
}

/// Runs blocking work on a blocking thread.
async fn blocking<T: Send + 'static>(
    doing: &'static str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let died = |error| Fault::new(Component::VectorStore, FaultKind::Internal, doing).caused_by(error);
    spawn_blocking(work).await.map_err(died)?
}

fn take(opened: &mut Vec<(String, Arc<EmbeddedIndex>)>, name: &str) -> Option<Arc<EmbeddedIndex>> {
    let place = opened.iter().position(|(other, _)| other == name)?;
    Some(opened.remove(place).1)
}

#[async_trait]
impl VectorIndexes for EmbeddedCollections {
    async fn open(&self, name: &str) -> Result<Arc<dyn VectorIndex>> {
        let mut opened = self.opened.lock().await;
        if let Some((_, index)) = opened.iter().find(|(other, _)| other == name) {
            return Ok(Arc::clone(index) as _);
        }
        let (folder, options) = (self.folder(name)?, self.options);
        let index = blocking("opening the embedded index", move || EmbeddedIndex::open(&folder, options));
        let index = Arc::new(index.await?);
        opened.push((name.to_owned(), Arc::clone(&index)));
        if opened.len() > KEPT {
            let oldest = opened.remove(0);
            // Closing waits for the current commit.
            drop(spawn_blocking(move || drop(oldest)));
        }
        Ok(index)
    }

    async fn close(&self, name: &str) -> Result<()> {
        let taken = take(&mut *self.opened.lock().await, name);
        blocking("closing the embedded index", move || {
            drop(taken);
            Ok(())
        })
        .await
    }

    async fn exists(&self, name: &str) -> Result<bool> {
        let folder = self.folder(name)?;
        let failed = |error| unavailable("looking for a collection".to_owned()).caused_by(error);
        blocking("looking for a collection", move || folder.try_exists().map_err(failed)).await
    }

    async fn remove(&self, name: &str) -> Result<()> {
        // Prevents the index from being opened during the removal.
        let mut opened = self.opened.lock().await;
        let (taken, folder) = (take(&mut opened, name), self.folder(name)?);
        blocking("removing a collection", move || {
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
        (Arc::new(EmbeddedCollections::beside(folder.path(), Options::default())) as _, folder)
    });

    #[tokio::test]
    async fn one_process_serves_and_others_may_look_after_what_it_has_not_open() {
        let folder = tempfile::tempdir().unwrap();
        let serving = EmbeddedCollections::serving(folder.path(), Options::default()).unwrap();
        let refused = EmbeddedCollections::serving(folder.path(), Options::default()).err().unwrap();
        assert_eq!(refused.kind(), FaultKind::InUse);
        let beside = EmbeddedCollections::beside(folder.path(), Options::default());
        let _held = serving.open("index").await.unwrap();
        for fault in [beside.open("index").await.err().unwrap(), beside.remove("index").await.unwrap_err()] {
            assert!(fault.report().contains("another process"), "{fault}");
        }
        beside.open("index-2").await.unwrap();
        beside.close("index-2").await.unwrap();
        serving.open("index-2").await.unwrap();
    }

    #[tokio::test]
    async fn what_a_search_still_holds_is_removed_later() {
        let folder = tempfile::tempdir().unwrap();
        let collections = EmbeddedCollections::beside(folder.path(), Options::default());
        let held = collections.open("index").await.unwrap();
        assert!(collections.remove("index").await.unwrap_err().is_transient());
        held.check().await.unwrap();
        drop(held);
        collections.remove("index").await.unwrap();
        assert!(!collections.exists("index").await.unwrap());
    }

    #[tokio::test]
    async fn no_name_leads_out_of_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let collections = EmbeddedCollections::beside(folder.path(), Options::default());
        for name in ["", "..", "a/b", "/etc", "a\0"] {
            assert!(collections.open(name).await.is_err(), "{name:?}");
            assert!(collections.remove(name).await.is_err(), "{name:?}");
        }
    }
}
