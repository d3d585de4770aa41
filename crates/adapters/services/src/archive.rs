//! Backup archives, which are gzip-compressed tar files, and exports of the audit log.
//!
//! Packing and unpacking run on a blocking thread, connected by a bounded queue.

pub mod audit_export;
mod part_file;

use self::part_file::PartFile;
use async_trait::async_trait;
use bytes::Bytes;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_ports::archive::{ArchiveReader, ArchiveSource, ArchiveWriter};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use tar::{Archive, EntryType, Header};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::{JoinHandle, spawn_blocking};

/// Maximum number of queued pieces.
const QUEUE: usize = 8;
/// Size in bytes of a piece that is read.
const PIECE: usize = 128 * 1024;
const BLOCK: usize = 512;

fn unavailable(action: &'static str, error: io::Error) -> Fault {
    Fault::new(Component::Service, FaultKind::Unavailable, action).caused_by(error)
}

fn internal(message: &'static str) -> Fault {
    Fault::new(Component::Service, FaultKind::Internal, message)
}

enum Piece {
    Begin(String, u64),
    Bytes(Bytes),
    Finish,
}

/// Writes an archive. A file appears under its name only when it is complete.
#[derive(Debug)]
pub struct TarWriter {
    // `None` after the thread has stopped and its fault was returned.
    pieces: Option<Sender<Piece>>,
    thread: Option<JoinHandle<io::Result<()>>>,
    /// Bytes missing from the current entry.
    left: u64,
}

impl TarWriter {
    /// Creates an archive file, readable by its owner only. Until it is complete, its name ends in `.part`; a partial
    /// file of an earlier attempt is overwritten.
    ///
    /// # Errors
    /// If the file exists or cannot be created.
    pub fn create(path: &Path) -> Result<Self> {
        let file = PartFile::create(path)?;
        Ok(Self::start(move |pieces| pack(file, pieces)?.publish()))
    }

    /// Creates a writer to a stream such as standard output.
    pub fn stream(to: impl Write + Send + 'static) -> Self {
        Self::start(move |pieces| pack(to, pieces)?.flush())
    }

    fn start(work: impl FnOnce(Receiver<Piece>) -> io::Result<()> + Send + 'static) -> Self {
        let (pieces, queue) = channel(QUEUE);
        Self { pieces: Some(pieces), thread: Some(spawn_blocking(move || work(queue))), left: 0 }
    }

    async fn send(&mut self, piece: Piece) -> Result<()> {
        let pieces = self.pieces.as_ref().ok_or_else(|| internal("write after a fault"))?;
        if pieces.send(piece).await.is_ok() {
            return Ok(());
        }
        self.end().await
    }

    /// Waits for the thread and returns its result.
    async fn end(&mut self) -> Result<()> {
        self.pieces = None;
        let Some(thread) = self.thread.take() else { return Err(internal("write after a fault")) };
        match thread.await {
            Ok(done) => done.map_err(|error| unavailable("write the archive", error)),
            Err(error) => Err(internal("the archive writer panicked").caused_by(error)),
        }
    }
}

#[async_trait]
impl ArchiveWriter for TarWriter {
    async fn begin(&mut self, name: &str, bytes: u64) -> Result<()> {
        if self.left > 0 {
            return Err(internal("an entry is shorter than announced"));
        }
        self.left = bytes;
        self.send(Piece::Begin(name.to_owned(), bytes)).await
    }

    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.left = self
            .left
            .checked_sub(bytes.len() as u64)
            .ok_or_else(|| internal("an entry is longer than announced"))?;
        self.send(Piece::Bytes(bytes)).await
    }

    async fn finish(mut self: Box<Self>) -> Result<()> {
        if self.left > 0 {
            return Err(internal("an entry is shorter than announced"));
        }
        self.send(Piece::Finish).await?;
        self.end().await
    }
}

/// Packs the received pieces and returns the underlying writer.
fn pack<W: Write>(to: W, mut pieces: Receiver<Piece>) -> io::Result<W> {
    let mut out = GzEncoder::new(to, Compression::fast());
    let mut padding = 0;
    while let Some(piece) = pieces.blocking_recv() {
        match piece {
            Piece::Begin(name, bytes) => {
                out.write_all(&[0; BLOCK][..padding])?;
                padding = (BLOCK - (bytes % BLOCK as u64) as usize) % BLOCK;
                let mut header = Header::new_ustar();
                header.set_path(&name)?;
                header.set_size(bytes);
                header.set_mode(0o600);
                header.set_entry_type(EntryType::Regular);
                header.set_cksum();
                out.write_all(header.as_bytes())?;
            }
            Piece::Bytes(bytes) => out.write_all(&bytes)?,
            Piece::Finish => {
                out.write_all(&[0; BLOCK][..padding])?;
                out.write_all(&[0; 2 * BLOCK])?;
                return out.finish();
            }
        }
    }
    Err(io::Error::new(io::ErrorKind::BrokenPipe, "the archive was not finished"))
}

/// An archive file.
#[derive(Clone, Debug)]
pub struct TarFile {
    path: PathBuf,
}

impl TarFile {
    /// Names an archive file without opening it.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }
}

enum Found {
    Entry(String, u64),
    Bytes(Bytes),
}

struct TarReader {
    found: Receiver<io::Result<Found>>,
    next: Option<(String, u64)>,
}

#[async_trait]
impl ArchiveSource for TarFile {
    async fn open(&self) -> Result<Box<dyn ArchiveReader>> {
        let path = self.path.clone();
        let (sender, found) = channel(QUEUE);
        let open = move || File::open(&path);
        let file = spawn_blocking(open)
            .await
            .map_err(|error| internal("opening the archive panicked").caused_by(error))?;
        let file = file.map_err(|error| unavailable("open the archive", error))?;
        spawn_blocking(move || {
            if let Err(error) = unpack(file, &sender) {
                // The receiver is closed if the caller has stopped reading.
                let _ = sender.blocking_send(Err(error));
            }
        });
        Ok(Box::new(TarReader { found, next: None }))
    }
}

/// Sends the archive's content until the receiver is closed.
fn unpack(file: File, found: &Sender<io::Result<Found>>) -> io::Result<()> {
    let mut archive = Archive::new(MultiGzDecoder::new(BufReader::new(file)));
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name = entry.path()?.to_string_lossy().into_owned();
        if found.blocking_send(Ok(Found::Entry(name, entry.size()))).is_err() {
            return Ok(());
        }
        loop {
            let mut piece = Vec::new();
            entry.by_ref().take(PIECE as u64).read_to_end(&mut piece)?;
            if piece.is_empty() {
                break;
            }
            if found.blocking_send(Ok(Found::Bytes(piece.into()))).is_err() {
                return Ok(());
            }
        }
    }
    // Reads to the end so that the checksum is verified.
    let mut rest = archive.into_inner();
    io::copy(&mut rest, &mut io::sink()).map(drop)
}

impl TarReader {
    async fn receive(&mut self) -> Result<Option<Found>> {
        let damaged = |error: io::Error| {
            Fault::new(
                Component::Service,
                FaultKind::Rejected,
                "the file is truncated, damaged or not an archive",
            )
            .caused_by(error)
        };
        self.found.recv().await.transpose().map_err(damaged)
    }
}

#[async_trait]
impl ArchiveReader for TarReader {
    async fn next(&mut self) -> Result<Option<(String, u64)>> {
        if let Some(next) = self.next.take() {
            return Ok(Some(next));
        }
        loop {
            match self.receive().await? {
                Some(Found::Entry(name, bytes)) => return Ok(Some((name, bytes))),
                Some(Found::Bytes(_)) => {}
                None => return Ok(None),
            }
        }
    }

    async fn read(&mut self) -> Result<Option<Bytes>> {
        if self.next.is_some() {
            return Ok(None);
        }
        match self.receive().await? {
            Some(Found::Bytes(bytes)) => Ok(Some(bytes)),
            Some(Found::Entry(name, bytes)) => {
                self.next = Some((name, bytes));
                Ok(None)
            }
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn write(path: &Path, entries: &[(&str, &[u8])]) -> Result<()> {
        let mut writer = TarWriter::create(path)?;
        for (name, bytes) in entries {
            writer.begin(name, bytes.len() as u64).await?;
            for piece in bytes.chunks(100_000) {
                writer.write(Bytes::copy_from_slice(piece)).await?;
            }
        }
        Box::new(writer).finish().await
    }

    async fn read(path: &Path) -> Result<Vec<(String, Vec<u8>)>> {
        let mut reader = TarFile::at(path).open().await?;
        let mut entries = Vec::new();
        while let Some((name, size)) = reader.next().await? {
            let mut bytes = Vec::new();
            while let Some(piece) = reader.read().await? {
                bytes.extend_from_slice(&piece);
            }
            assert_eq!(bytes.len() as u64, size);
            entries.push((name, bytes));
        }
        Ok(entries)
    }

    fn noise(bytes: usize) -> Vec<u8> {
        (0..bytes as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
    }

    #[tokio::test]
    async fn entries_are_read_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tar.gz");
        let large = noise(1_000_001);
        let entries: [(&str, &[u8]); 4] =
            [("manifest.json", b"{}"), ("a/empty", b""), ("a/block", &large[..512]), ("a/large", &large)];
        write(&path, &entries).await.unwrap();
        let expected = entries.map(|(name, bytes)| (name.to_owned(), bytes.to_vec()));
        assert!(read(&path).await.unwrap() == expected);
        assert!(!folder.path().join("a.tar.gz.part").exists());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(write(&path, &entries).await.unwrap_err().kind(), FaultKind::Rejected);
    }

    #[tokio::test]
    async fn unfinished_archive_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tar.gz");
        let mut writer = TarWriter::create(&path).unwrap();
        writer.begin("a", 10).await.unwrap();
        writer.write(Bytes::from_static(b"short")).await.unwrap();
        assert!(writer.write(Bytes::from_static(b"too long")).await.is_err());
        drop(writer);
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn truncated_or_altered_archive_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tar.gz");
        write(&path, &[("a", &noise(50_000)), ("b", b"end")]).await.unwrap();
        let whole = std::fs::read(&path).unwrap();
        let mut altered = whole.clone();
        altered[whole.len() / 2] ^= 1;
        for wrong in [&whole[..0], &whole[..whole.len() / 2], &whole[..whole.len() - 4], &altered, b"plain"] {
            std::fs::write(&path, wrong).unwrap();
            let fault = read(&path).await.unwrap_err();
            assert_eq!(
                (fault.component(), fault.kind()),
                (Component::Service, FaultKind::Rejected),
                "{}",
                wrong.len()
            );
        }
    }
}
