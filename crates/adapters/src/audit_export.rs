//! Exports of the audit log as files.

use async_trait::async_trait;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_ports::audit::{AuditExport, AuditExports};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tokio::task::spawn_blocking;

/// Writes a file, readable by its owner only, that appears under its name when it is complete.
#[derive(Debug)]
pub struct FileExport {
    path: PathBuf,
    part: PathBuf,
    file: File,
}

/// Creates [`FileExport`]s in a directory.
#[derive(Clone, Debug)]
pub struct FileExports {
    folder: PathBuf,
}

fn unavailable(path: &Path, error: io::Error) -> Fault {
    let message = format!("write the export {}", path.display());
    Fault::new(Component::Service, FaultKind::Unavailable, message).caused_by(error)
}

impl FileExports {
    /// Creates files in this directory, which is created if missing.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }
}

impl FileExport {
    /// Creates a file. Until it is complete, its name ends in `.part`; a partial file of an earlier attempt is overwritten.
    ///
    /// # Errors
    /// If it exists or cannot be created.
    pub fn create(path: &Path) -> Result<Self> {
        if path.exists() {
            let message = format!("{} already exists", path.display());
            return Err(Fault::new(Component::Service, FaultKind::Rejected, message));
        }
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let file = private(&part).map_err(|error| unavailable(path, error))?;
        Ok(Self { path: path.to_owned(), part, file })
    }
}

#[cfg(unix)]
fn private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().write(true).create(true).truncate(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn private(path: &Path) -> io::Result<File> {
    File::create(path)
}

#[async_trait]
impl AuditExport for FileExport {
    async fn write(&mut self, lines: String) -> Result<()> {
        // Entries are small and few: a write takes less time than handing it to another thread.
        let written = self.file.write_all(lines.as_bytes());
        written.map_err(|error| unavailable(&self.path, error))
    }

    async fn finish(self: Box<Self>) -> Result<()> {
        let path = self.path.clone();
        let finish = move || {
            self.file.sync_all()?;
            // Fails if the file was created in the meantime.
            fs::hard_link(&self.part, &self.path)?;
            fs::remove_file(&self.part)?;
            let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
        };
        let finished = spawn_blocking(finish).await.unwrap_or_else(|error| Err(io::Error::other(error)));
        finished.map_err(|error| unavailable(&path, error))
    }
}

#[async_trait]
impl AuditExports for FileExports {
    async fn create(&self, name: &str) -> Result<Box<dyn AuditExport>> {
        let path = self.folder.join(name);
        fs::create_dir_all(&self.folder).map_err(|error| unavailable(&path, error))?;
        Ok(Box::new(FileExport::create(&path)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn export_appears_when_it_is_complete_and_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let exports = FileExports::new(folder.path().join("audit"));
        let path = folder.path().join("audit/a.jsonl");
        let mut export = exports.create("a.jsonl").await.unwrap();
        export.write("one\n".to_owned()).await.unwrap();
        assert!(!path.exists());
        drop(export);
        let mut export = exports.create("a.jsonl").await.unwrap();
        export.write("two\n".to_owned()).await.unwrap();
        export.write("three\n".to_owned()).await.unwrap();
        export.finish().await.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two\nthree\n");
        assert!(exports.create("a.jsonl").await.is_err());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
