//! Entries with their digests, written and read.

use super::{
    BackupError, END, HELD_MAX,
    lines::{End, hex},
    refused, unwritable,
};
use bytes::Bytes;
use docent_ports::{
    archive::{ArchiveReader, ArchiveWriter},
    error::Fault,
};
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

/// What has gone through, and what goes through now.
#[derive(Default)]
struct Sums {
    all: Sha256,
    entries: u64,
    entry: Sha256,
}

impl Sums {
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
        hex(&self.entry.clone().finalize())
    }

    fn end(self, documents: u64) -> End {
        End { entries: self.entries, documents, sha256: hex(&self.all.finalize()) }
    }
}

/// An archive being written.
pub(super) struct Entries {
    writer: Box<dyn ArchiveWriter>,
    sums: Sums,
}

impl Entries {
    pub(super) fn into(writer: Box<dyn ArchiveWriter>) -> Self {
        Self { writer, sums: Sums::default() }
    }

    pub(super) async fn begin(&mut self, name: &str, bytes: u64) -> Result<(), Fault> {
        self.sums.begin(name, bytes);
        self.writer.begin(name, bytes).await
    }

    pub(super) async fn write(&mut self, bytes: Bytes) -> Result<(), Fault> {
        self.sums.add(&bytes);
        self.writer.write(bytes).await
    }

    /// The SHA-256 of the entry written last.
    pub(super) fn sha256(&self) -> String {
        self.sums.entry()
    }

    pub(super) async fn put(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), Fault> {
        self.begin(name, bytes.len() as u64).await?;
        self.write(bytes.into()).await
    }

    pub(super) async fn put_json(&mut self, name: &str, value: &impl Serialize) -> Result<(), Fault> {
        self.put(name, serde_json::to_vec(value).map_err(unwritable)?).await
    }

    pub(super) async fn put_lines<T: Serialize>(
        &mut self,
        name: &str,
        lines: impl Iterator<Item = T>,
    ) -> Result<(), Fault> {
        let mut bytes = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut bytes, &line).map_err(unwritable)?;
            bytes.push(b'\n');
        }
        self.put(name, bytes).await
    }

    pub(super) async fn finish(mut self, documents: u64) -> Result<(), Fault> {
        let end = serde_json::to_vec(&self.sums.end(documents)).map_err(unwritable)?;
        self.writer.begin(END, end.len() as u64).await?;
        self.writer.write(end.into()).await?;
        self.writer.finish().await
    }
}

/// An archive being read. Whoever reads it to the end knows that it is whole and as it was written.
pub(super) struct Contents {
    reader: Box<dyn ArchiveReader>,
    sums: Sums,
}

impl Contents {
    pub(super) fn of(reader: Box<dyn ArchiveReader>) -> Self {
        Self { reader, sums: Sums::default() }
    }

    /// The next entry's name and size; `None` at the end, once everything was found to be there. The entry
    /// before must have been read whole.
    pub(super) async fn next(&mut self, documents: u64) -> Result<Option<(String, u64)>, BackupError> {
        let Some((name, bytes)) = self.reader.next().await? else {
            return Err(refused("it has no end"));
        };
        if name == END {
            let sums = std::mem::take(&mut self.sums);
            let end: End = self.json(bytes).await?;
            if end != sums.end(documents) {
                return Err(refused("it is not as it was written"));
            }
            return match self.reader.next().await? {
                None => Ok(None),
                Some((name, _)) => Err(refused(format!("`{name}` follows its end"))),
            };
        }
        self.sums.begin(&name, bytes);
        Ok(Some((name, bytes)))
    }

    pub(super) async fn read(&mut self) -> Result<Option<Bytes>, BackupError> {
        let bytes = self.reader.read().await?;
        if let Some(bytes) = &bytes {
            self.sums.add(bytes);
        }
        Ok(bytes)
    }

    /// Reads the entry for its digest alone.
    pub(super) async fn pass(&mut self) -> Result<String, BackupError> {
        while self.read().await?.is_some() {}
        Ok(self.sha256())
    }

    /// The SHA-256 of the entry read last.
    pub(super) fn sha256(&self) -> String {
        self.sums.entry()
    }

    pub(super) async fn whole(&mut self, bytes: u64) -> Result<Vec<u8>, BackupError> {
        if bytes > HELD_MAX {
            return Err(refused("an entry is larger than any that is written"));
        }
        let mut whole = Vec::new();
        while let Some(piece) = self.read().await? {
            whole.extend_from_slice(&piece);
        }
        Ok(whole)
    }

    pub(super) async fn json<T: DeserializeOwned>(&mut self, bytes: u64) -> Result<T, BackupError> {
        parse(&self.whole(bytes).await?)
    }

    pub(super) async fn lines<T: DeserializeOwned>(&mut self, bytes: u64) -> Result<Vec<T>, BackupError> {
        lines(&self.whole(bytes).await?)
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, BackupError> {
    serde_json::from_slice(bytes).map_err(|error| refused(format!("a record cannot be read: {error}")))
}

fn lines<T: DeserializeOwned>(bytes: &[u8]) -> Result<Vec<T>, BackupError> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(parse).collect()
}
