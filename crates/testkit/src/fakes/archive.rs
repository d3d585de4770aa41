//! In-memory archive.

use async_trait::async_trait;
use bytes::Bytes;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_ports::archive::{ArchiveReader, ArchiveSource, ArchiveWriter};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Names and bytes, in order.
pub type Entries = Vec<(String, Vec<u8>)>;

/// An in-memory archive that tests can inspect and change. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct FakeArchive {
    /// `None` until it is finished.
    entries: Arc<Mutex<Option<Entries>>>,
}

impl FakeArchive {
    /// Opens the archive for writing. Its previous entries remain until the writer has finished.
    pub fn writer(&self) -> Box<dyn ArchiveWriter> {
        Box::new(Writer { written: Vec::new(), left: 0, archive: Arc::clone(&self.entries) })
    }

    /// Names of the entries; empty if it was not finished.
    pub fn names(&self) -> Option<Vec<String>> {
        let entries = self.entries.lock().unwrap();
        entries.as_ref().map(|entries| entries.iter().map(|(name, _)| name.clone()).collect())
    }

    /// Replaces the entries.
    pub fn fill(&self, entries: Entries) {
        *self.entries.lock().unwrap() = Some(entries);
    }

    /// Changes the entries.
    pub fn change(&self, change: impl FnOnce(&mut Entries)) {
        change(self.entries.lock().unwrap().as_mut().expect("it was finished"));
    }
}

struct Writer {
    written: Entries,
    left: u64,
    archive: Arc<Mutex<Option<Entries>>>,
}

fn wrong(message: &'static str) -> Fault {
    Fault::new(Component::Service, FaultKind::Internal, message)
}

#[async_trait]
impl ArchiveWriter for Writer {
    async fn begin(&mut self, name: &str, bytes: u64) -> Result<()> {
        if self.left > 0 {
            return Err(wrong("an entry is shorter than was said"));
        }
        self.left = bytes;
        self.written.push((name.to_owned(), Vec::new()));
        Ok(())
    }

    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        let left = self.left.checked_sub(bytes.len() as u64);
        self.left = left.ok_or_else(|| wrong("an entry is longer than was said"))?;
        let (_, entry) = self.written.last_mut().ok_or_else(|| wrong("no entry was begun"))?;
        entry.extend_from_slice(&bytes);
        Ok(())
    }

    async fn finish(self: Box<Self>) -> Result<()> {
        if self.left > 0 {
            return Err(wrong("an entry is shorter than was said"));
        }
        *self.archive.lock().unwrap() = Some(self.written);
        Ok(())
    }
}

#[async_trait]
impl ArchiveSource for FakeArchive {
    async fn open(&self) -> Result<Box<dyn ArchiveReader>> {
        let entries = self.entries.lock().unwrap().clone();
        let entries = entries.ok_or_else(|| wrong("there is no archive"))?;
        Ok(Box::new(Reader { entries: entries.into(), entry: VecDeque::new() }))
    }
}

struct Reader {
    entries: VecDeque<(String, Vec<u8>)>,
    entry: VecDeque<Bytes>,
}

#[async_trait]
impl ArchiveReader for Reader {
    async fn next(&mut self) -> Result<Option<(String, u64)>> {
        let Some((name, bytes)) = self.entries.pop_front() else { return Ok(None) };
        self.entry = bytes.chunks(1000).map(Bytes::copy_from_slice).collect();
        Ok(Some((name, bytes.len() as u64)))
    }

    async fn read(&mut self) -> Result<Option<Bytes>> {
        Ok(self.entry.pop_front())
    }
}
