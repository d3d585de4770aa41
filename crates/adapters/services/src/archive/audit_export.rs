//! Exports of the audit log as files.

use super::part_file::PartFile;
use async_trait::async_trait;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_ports::audit::{AuditExport, AuditExports, FinishedExport};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tokio::task::spawn_blocking;

/// A file that appears under its name when it is complete.
#[derive(Debug)]
pub struct FileExport(PartFile);

/// The path of a complete file.
struct Published(PathBuf);

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
    /// Creates a file, readable by its owner only.
    ///
    /// # Errors
    /// If it exists or cannot be created.
    pub fn create(path: &Path) -> Result<Self> {
        PartFile::create(path).map(Self)
    }
}

#[async_trait]
impl AuditExport for FileExport {
    async fn write(&mut self, lines: String) -> Result<()> {
        // Entries are small and few: a write takes less time than handing it to another thread.
        let written = self.0.write_all(lines.as_bytes());
        written.map_err(|error| unavailable(self.0.path(), error))
    }

    async fn finish(self: Box<Self>) -> Result<Box<dyn FinishedExport>> {
        let path = self.0.path().to_owned();
        let finished = spawn_blocking(move || self.0.publish()).await;
        let finished = finished.unwrap_or_else(|error| Err(io::Error::other(error)));
        match finished {
            Ok(()) => Ok(Box::new(Published(path))),
            Err(error) => Err(unavailable(&path, error)),
        }
    }
}

#[async_trait]
impl FinishedExport for Published {
    async fn delete(self: Box<Self>) -> Result<()> {
        fs::remove_file(&self.0).map_err(|error| {
            let message = format!("delete the export {}, whose entries were not removed", self.0.display());
            Fault::new(Component::Service, FaultKind::Unavailable, message).caused_by(error)
        })
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
        let fault = exports.create("a.jsonl").await.err().unwrap();
        assert_eq!(fault.kind(), FaultKind::InUse, "another export with this name is being written");
        drop(export);
        let mut export = exports.create("a.jsonl").await.unwrap();
        export.write("two\n".to_owned()).await.unwrap();
        export.write("three\n".to_owned()).await.unwrap();
        let finished = export.finish().await.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two\nthree\n");
        assert!(exports.create("a.jsonl").await.is_err());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        finished.delete().await.unwrap();
        assert_eq!(fs::read_dir(folder.path().join("audit")).unwrap().count(), 0);
    }
}
