//! Files that appear under their names when they are complete.

use docent_domain::fault::{Component, Fault, FaultKind, Result};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file, readable by its owner only, whose name ends in `.part` until it is published.
#[derive(Debug)]
pub(super) struct PartFile {
    path: PathBuf,
    part: PathBuf,
    file: File,
}

impl PartFile {
    /// Creates a file to be published as `path`. A partial file of an earlier attempt is overwritten.
    ///
    /// # Errors
    /// If `path` exists, another process is writing it, or the file cannot be created.
    pub(super) fn create(path: &Path) -> Result<Self> {
        ensure_free(path)?;
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let failed = |error: io::Error| {
            let message = format!("create {}", part.display());
            Fault::new(Component::Service, FaultKind::Unavailable, message).caused_by(error)
        };
        let file = private(&part).map_err(failed)?;
        // File systems without locks are used without.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            let message = format!("another process is writing {}", path.display());
            return Err(Fault::new(Component::Service, FaultKind::InUse, message));
        }
        // Another process may have published the file before this one had the lock.
        ensure_free(path)?;
        file.set_len(0).map_err(failed)?;
        Ok(Self { path: path.to_owned(), part, file })
    }

    /// The name that the file is published under.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file to disk and gives it its name.
    ///
    /// # Errors
    /// Also if a file with this name was created in the meantime.
    pub(super) fn publish(self) -> io::Result<()> {
        self.file.sync_all()?;
        // Fails if the name is taken.
        fs::hard_link(&self.part, &self.path)?;
        fs::remove_file(&self.part)?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    }
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn ensure_free(path: &Path) -> Result<()> {
    if path.exists() {
        let message = format!("{} already exists", path.display());
        return Err(Fault::new(Component::Service, FaultKind::Rejected, message));
    }
    Ok(())
}

/// Opens a file, which another process may be writing.
fn private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
