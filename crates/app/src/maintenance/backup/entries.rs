//! Writes and reads archive entries with their digests.

use super::manifest::End;
use super::{BackupError, END, ENTRY_MAX, invalid_archive, invalid_record, not_serializable};
use bytes::Bytes;
use docent_domain::fault::Fault;
use docent_ports::archive::{ArchiveReader, ArchiveWriter};
use docent_ports::records::Stored;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

/// Digests of the whole archive and of the current entry.
#[derive(Default)]
struct Digests {
    all: Sha256,
    entries: u64,
    entry: Sha256,
}

impl Digests {
    fn begin(&mut self, name: &str, bytes: u64) {
        self.entries += 1;
        self.entry = Sha256::new();
        self.all.update((name.len() as u64).to_be_bytes());
        self.all.update(name);
        self.all.update(bytes.to_be_bytes());
    }

    fn add(&mut self, bytes: &[u8]) {
        self.entry.update(bytes);
        self.all.update(bytes);
    }

    fn entry(&self) -> String {
        hex(self.entry.clone())
    }

    fn end(self, documents: u64) -> End {
        End { entries: self.entries, documents, sha256: hex(self.all) }
    }
}

fn hex(hasher: Sha256) -> String {
    <[u8; 32]>::from(hasher.finalize()).to_form()
}

/// Writes an archive.
pub(super) struct EntryWriter {
    writer: Box<dyn ArchiveWriter>,
    digests: Digests,
}

impl EntryWriter {
    pub(super) fn new(writer: Box<dyn ArchiveWriter>) -> Self {
        Self { writer, digests: Digests::default() }
    }

    pub(super) async fn begin(&mut self, name: &str, bytes: u64) -> Result<(), Fault> {
        self.digests.begin(name, bytes);
        self.writer.begin(name, bytes).await
    }

    pub(super) async fn write(&mut self, bytes: Bytes) -> Result<(), Fault> {
        self.digests.add(&bytes);
        self.writer.write(bytes).await
    }

    /// The SHA-256 of the current entry.
    pub(super) fn sha256(&self) -> String {
        self.digests.entry()
    }

    pub(super) async fn put(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), Fault> {
        self.begin(name, bytes.len() as u64).await?;
        self.write(bytes.into()).await
    }

    pub(super) async fn put_json(&mut self, name: &str, value: &impl Serialize) -> Result<(), Fault> {
        self.put(name, serde_json::to_vec(value).map_err(not_serializable)?).await
    }

    /// Writes records as JSON lines.
    pub(super) async fn put_records<T: Stored>(&mut self, name: &str, records: &[T]) -> Result<(), Fault> {
        let mut bytes = Vec::new();
        for record in records {
            serde_json::to_writer(&mut bytes, &record.to_form()).map_err(not_serializable)?;
            bytes.push(b'\n');
        }
        self.put(name, bytes).await
    }

    pub(super) async fn finish(mut self, documents: u64) -> Result<(), Fault> {
        let end = serde_json::to_vec(&self.digests.end(documents)).map_err(not_serializable)?;
        self.writer.begin(END, end.len() as u64).await?;
        self.writer.write(end.into()).await?;
        self.writer.finish().await
    }
}

/// Reads an archive. Reading it to the end verifies that it is complete and unchanged.
pub(super) struct EntryReader {
    reader: Box<dyn ArchiveReader>,
    digests: Digests,
}

impl EntryReader {
    pub(super) fn new(reader: Box<dyn ArchiveReader>) -> Self {
        Self { reader, digests: Digests::default() }
    }

    /// The next entry's name and size; `None` at the end, after verifying the whole archive. The previous entry must
    /// have been read completely.
    pub(super) async fn next(&mut self, documents: u64) -> Result<Option<(String, u64)>, BackupError> {
        let Some((name, bytes)) = self.reader.next().await? else {
            return Err(invalid_archive("it is incomplete"));
        };
        if name == END {
            let digests = std::mem::take(&mut self.digests);
            let end: End = self.json(bytes).await?;
            if end != digests.end(documents) {
                return Err(invalid_archive("its checksum does not match"));
            }
            return match self.reader.next().await? {
                None => Ok(None),
                Some((name, _)) => Err(invalid_archive(format!("it has an entry `{name}` after its end"))),
            };
        }
        self.digests.begin(&name, bytes);
        Ok(Some((name, bytes)))
    }

    pub(super) async fn read(&mut self) -> Result<Option<Bytes>, BackupError> {
        let bytes = self.reader.read().await?;
        if let Some(bytes) = &bytes {
            self.digests.add(bytes);
        }
        Ok(bytes)
    }

    /// Skips the entry. Returns its SHA-256.
    pub(super) async fn skip(&mut self) -> Result<String, BackupError> {
        while self.read().await?.is_some() {}
        Ok(self.sha256())
    }

    /// The SHA-256 of the current entry.
    pub(super) fn sha256(&self) -> String {
        self.digests.entry()
    }

    /// Reads the entry completely.
    pub(super) async fn read_all(&mut self, bytes: u64) -> Result<Vec<u8>, BackupError> {
        if bytes > ENTRY_MAX {
            return Err(invalid_archive("an entry is too large"));
        }
        let mut content = Vec::new();
        while let Some(piece) = self.read().await? {
            content.extend_from_slice(&piece);
        }
        Ok(content)
    }

    /// Reads the entry as one JSON value.
    pub(super) async fn json<T: DeserializeOwned>(&mut self, bytes: u64) -> Result<T, BackupError> {
        parse(&self.read_all(bytes).await?)
    }

    /// Reads the entry as one record.
    pub(super) async fn record<T: Stored>(&mut self, bytes: u64) -> Result<T, BackupError> {
        T::from_form(self.json(bytes).await?).map_err(invalid_record)
    }

    /// Reads the entry as JSON lines, one record each.
    pub(super) async fn records<T: Stored>(&mut self, bytes: u64) -> Result<Vec<T>, BackupError> {
        let content = self.read_all(bytes).await?;
        let lines = content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| T::from_form(parse(line)?).map_err(invalid_record)).collect()
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, BackupError> {
    serde_json::from_slice(bytes)
        .map_err(|error| invalid_archive(format!("a record cannot be read: {error}")))
}
