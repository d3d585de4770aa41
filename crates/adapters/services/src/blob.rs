//! Blob stores: a local folder or an S3 bucket.

mod s3;
mod upload;

pub use s3::{Addressing, S3Credentials, S3Options};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::document::BlobKey;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_ports::blob_store::{BlobList, BlobStore, BlobWriter, ByteStream, DiskSpace, StoredBlob};
use futures::future::ready;
use futures::{StreamExt, TryStreamExt};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutPayload};
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::{fs, io};
use upload::Upload;

/// The object that [`BlobStore::check`] writes; no [`BlobKey`] begins with a dot.
const CHECK_PATH: &str = ".check";

/// Where objects are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Location {
    Folder,
    Bucket,
}

impl Location {
    /// Maximum number of bytes that an upload buffers, apart from the piece being written.
    const fn part_bytes(self) -> usize {
        match self {
            Self::Folder => 256 * 1024,
            // The minimum of S3. All parts but the last have this size, as some services require.
            Self::Bucket => 5 * 1024 * 1024,
        }
    }

    /// Converts an error. Those of a folder (full disk, missing permission, lost mount) need the operator, after
    /// which the same call succeeds.
    fn fault(self, action: &'static str, error: Error) -> Fault {
        match self {
            Self::Folder if is_full(&error) => {
                Fault::new(Component::BlobStore, FaultKind::Full, action).caused_by(error)
            }
            Self::Folder => unavailable(action, error),
            Self::Bucket => s3::service::fault(action, &error),
        }
    }
}

/// Whether a disk is full or a quota exhausted.
fn is_full(error: &Error) -> bool {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        }
        source = error.source();
    }
    false
}

/// A blob store on an object store.
#[derive(Clone, Debug)]
pub struct ObjectBlobStore {
    objects: Arc<dyn ObjectStore>,
    location: Location,
    /// The folder, if it is one.
    root: Option<Arc<FilePath>>,
    /// Whether a check has written to the store.
    is_writable: Arc<AtomicBool>,
}

impl ObjectBlobStore {
    /// Opens the folder `root`, in which each file is synced to disk before it becomes visible.
    ///
    /// A missing folder is created, accessible to its owner only. Unfinished files last written before
    /// `abandoned_before` are removed, which blocks the thread.
    ///
    /// # Errors
    /// If the folder cannot be created, read or written.
    pub fn local(root: &FilePath, abandoned_before: DateTime<Utc>) -> Result<Self> {
        let open = || {
            make_private(root)?;
            sweep(root, abandoned_before)?;
            LocalFileSystem::new_with_prefix(root).map_err(io::Error::other)
        };
        let files = open().map_err(|error| unavailable(format!("open {}", root.display()), error))?;
        let store = Self::new(Arc::new(files.with_fsync(true)), Location::Folder);
        Ok(Self { root: Some(Arc::from(root)), ..store })
    }

    fn new(objects: Arc<dyn ObjectStore>, location: Location) -> Self {
        Self { objects, location, root: None, is_writable: Arc::default() }
    }

    fn fault(&self, action: &'static str) -> impl Fn(Error) -> Fault + use<> {
        let location = self.location;
        move |error| location.fault(action, error)
    }
}

fn make_private(folder: &FilePath) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Removes unfinished files last written before `before`: their names end in `#` and a number.
fn sweep(folder: &FilePath, before: DateTime<Utc>) -> io::Result<()> {
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
                continue;
            }
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.rsplit_once('#')).map(|(_, number)| number);
            let unfinished = number.is_some_and(|number| number.parse::<u64>().is_ok());
            if unfinished && DateTime::<Utc>::from(entry.metadata()?.modified()?) < before {
                fs::remove_file(entry.path())?;
            }
        }
    }
    Ok(())
}

fn unavailable(
    action: impl Into<std::borrow::Cow<'static, str>>,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> Fault {
    Fault::new(Component::BlobStore, FaultKind::Unavailable, action).caused_by(error)
}

fn path(key: &BlobKey) -> Result<Path> {
    Path::parse(key.as_str()).map_err(|error| {
        Fault::new(Component::BlobStore, FaultKind::Internal, "the blob key is not a valid path")
            .caused_by(error)
    })
}

#[async_trait]
impl BlobStore for ObjectBlobStore {
    async fn create(&self, key: &BlobKey) -> Result<Box<dyn BlobWriter>> {
        let mut upload = Upload::new(Arc::clone(&self.objects), self.location, path(key)?);
        if self.location == Location::Folder {
            upload.start().await?;
        }
        Ok(Box::new(upload))
    }

    async fn open(&self, key: &BlobKey) -> Result<Option<ByteStream>> {
        match self.objects.get(&path(key)?).await {
            Ok(found) => Ok(Some(Box::pin(found.into_stream().map_err(self.fault("read a blob"))))),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.fault("open a blob")(error)),
        }
    }

    async fn size(&self, key: &BlobKey) -> Result<Option<u64>> {
        match self.objects.head(&path(key)?).await {
            Ok(found) => Ok(Some(found.size)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.fault("look for a blob")(error)),
        }
    }

    fn list(&self) -> BlobList {
        let fault = self.fault("list blobs");
        let found = self.objects.list(None).filter_map(move |found| {
            let blob = match found {
                Ok(object) => {
                    let key = BlobKey::parse(object.location.as_ref()).ok();
                    key.map(|key| StoredBlob { key, bytes: object.size, written_at: object.last_modified })
                }
                // Deleted during the listing.
                Err(Error::NotFound { .. }) => None,
                Err(error) => return ready(Some(Err(fault(error)))),
            };
            ready(blob.map(Ok))
        });
        found.boxed()
    }

    async fn delete(&self, key: &BlobKey) -> Result<bool> {
        let path = path(key)?;
        // Some object stores do not report whether the object existed.
        match self.objects.head(&path).await {
            Ok(_) => {}
            Err(Error::NotFound { .. }) => return Ok(false),
            Err(error) => return Err(self.fault("look for a blob")(error)),
        }
        match self.objects.delete(&path).await {
            Ok(()) => Ok(true),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(self.fault("delete a blob")(error)),
        }
    }

    // Writes to a bucket only once: requests cost money, and some buckets keep every version of an object.
    async fn check(&self) -> Result<()> {
        const CONTENT: &[u8] = b"docent";
        let path = Path::from(CHECK_PATH);
        if self.location == Location::Folder || !self.is_writable.load(Relaxed) {
            let content = PutPayload::from_static(CONTENT);
            self.objects.put(&path, content).await.map_err(self.fault("write to the store"))?;
            self.is_writable.store(true, Relaxed);
        }
        let found = self.objects.get(&path).await.map_err(self.fault("read from the store"));
        // If the bucket was emptied, the next check writes again.
        let found = found.inspect_err(|_| self.is_writable.store(false, Relaxed))?;
        let bytes = found.bytes().await.map_err(self.fault("read from the store"))?;
        if bytes != CONTENT {
            return Err(Fault::new(
                Component::BlobStore,
                FaultKind::InvalidResponse,
                "the bytes read differ from those written",
            ));
        }
        Ok(())
    }

    async fn space(&self) -> Result<Option<DiskSpace>> {
        let Some(root) = self.root.clone() else { return Ok(None) };
        let read = tokio::task::spawn_blocking(move || disk_space(&root)).await;
        let read = read.map_err(io::Error::other).and_then(|read| read);
        read.map_err(|error| unavailable("read the free space".to_owned(), error))
    }
}

/// Space of the file system that has the folder.
#[cfg(unix)]
fn disk_space(folder: &FilePath) -> io::Result<Option<DiskSpace>> {
    let space = rustix::fs::statvfs(folder)?;
    let bytes = |blocks: u64| blocks.saturating_mul(space.f_frsize);
    Ok(Some(DiskSpace { free: bytes(space.f_bavail), total: bytes(space.f_blocks) }))
}

#[cfg(not(unix))]
fn disk_space(_: &FilePath) -> io::Result<Option<DiskSpace>> {
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use chrono::TimeDelta;
    use std::collections::BTreeSet;
    use std::time::SystemTime;

    /// The modification time of newly created files.
    fn now() -> DateTime<Utc> {
        let folder = tempfile::tempdir().unwrap();
        DateTime::from(fs::metadata(folder.path()).unwrap().modified().unwrap())
    }

    fn store() -> (ObjectBlobStore, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        (ObjectBlobStore::local(&folder.path().join("blobs"), now()).unwrap(), folder)
    }

    docent_testkit::blob_store_contract!(async {
        let (store, folder) = store();
        (Arc::new(store) as _, folder)
    });

    #[tokio::test]
    async fn folder_has_the_space_of_its_file_system() {
        let (store, _folder) = store();
        let space = store.space().await.unwrap().unwrap();
        assert!(space.total > 0 && space.free <= space.total, "{space:?}");
    }

    fn key(text: &str) -> BlobKey {
        BlobKey::parse(text).unwrap()
    }

    fn files(folder: &FilePath) -> BTreeSet<(String, u64)> {
        let mut found = BTreeSet::new();
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                found.extend(files(&entry.path()));
            } else {
                found.insert((entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len()));
            }
        }
        found
    }

    // Invariant: An upload is streamed to storage and never held in memory as a whole.
    #[tokio::test]
    async fn upload_is_written_to_disk_while_it_arrives() {
        let (store, folder) = store();
        let mut writer = store.create(&key("documents/a.pdf")).await.unwrap();
        let piece = Bytes::from(vec![7; 100_000]);
        for n in 1..=525_u64 {
            writer.write(piece.clone()).await.unwrap();
            let on_disk: u64 = files(folder.path()).iter().map(|(_, bytes)| bytes).sum();
            let held = n * 100_000 - on_disk;
            assert!(held < Location::Folder.part_bytes() as u64, "{held} bytes in memory after {n} pieces");
        }
        writer.finish().await.unwrap();
        assert_eq!(files(folder.path()), BTreeSet::from([("a.pdf".into(), 52_500_000)]));
    }

    #[tokio::test]
    async fn aborted_upload_leaves_no_file() {
        let (store, folder) = store();
        let mut writer = store.create(&key("a")).await.unwrap();
        writer.write(Bytes::from_static(b"some")).await.unwrap();
        writer.abort().await.unwrap();
        assert_eq!(files(folder.path()), BTreeSet::new());
    }

    #[test]
    fn opening_removes_abandoned_uploads_only() {
        let folder = tempfile::tempdir().unwrap();
        let documents = folder.path().join("documents");
        fs::create_dir(&documents).unwrap();
        let age = |name: &str, hours: i64| {
            let path = documents.join(name);
            fs::write(&path, "x").unwrap();
            let at = SystemTime::from(now() - TimeDelta::hours(hours));
            fs::File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
        };
        age("old.pdf#1", 2);
        age("older.pdf#23", 50);
        age("new.pdf#1", 0);
        age("whole.pdf", 50);
        age("name#x", 50);
        ObjectBlobStore::local(folder.path(), now() - TimeDelta::hours(1)).unwrap();
        let names: Vec<_> = files(folder.path()).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["name#x", "new.pdf#1", "whole.pdf"]);
    }

    #[tokio::test]
    async fn unusable_folder_makes_the_store_unavailable() {
        let (store, folder) = store();
        let root = folder.path().join("blobs");
        fs::remove_dir(&root).unwrap();
        fs::write(&root, "a file where the folder was").unwrap();
        let is_unavailable = |fault: Fault| {
            assert_eq!(
                (fault.component(), fault.kind()),
                (Component::BlobStore, FaultKind::Unavailable),
                "{fault}"
            );
        };
        is_unavailable(store.create(&key("a")).await.err().unwrap());
        is_unavailable(store.check().await.unwrap_err());
        is_unavailable(ObjectBlobStore::local(&root, now()).unwrap_err());
    }

    #[test]
    fn full_disk_has_its_own_fault_kind() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let error = Error::Generic { store: "LocalFileSystem", source: full.into() };
        let fault = Location::Folder.fault("write a blob", error);
        assert_eq!(fault.kind(), FaultKind::Full);
        assert!(fault.report().contains("no storage space"), "{fault}");
    }

    #[cfg(unix)]
    #[test]
    fn new_folder_is_accessible_to_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let (_store, folder) = store();
        let mode = fs::metadata(folder.path().join("blobs")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
