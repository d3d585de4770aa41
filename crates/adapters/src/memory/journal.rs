//! A file of changes, one JSON object a line, in the order they were made.
//!
//! A change is on disk before [`Journal::append`] returns, so that what callers were told stays true
//! after a crash at any instant. A last line without its end was never answered and is ignored. Any
//! other line that cannot be read may have been a revocation: the file is then refused.

use super::families::Change;
use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
};

/// A journal shorter than this is not worth rewriting.
const REWRITE_FROM: u64 = 256 * 1024;

#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// Bytes of whole lines.
    length: u64,
    rewrite_at: u64,
    /// A journal shorter than this is never rewritten.
    rewrite_from: u64,
    /// Whether it is unknown what the disk holds; nothing is appended any more.
    broken: bool,
    /// Held for as long as the journal is open, since rewriting would take the file from another process.
    _lock: File,
}

impl Journal {
    /// Opens the journal at `path`, hands every change in it to `replay`, and leaves it ready to be
    /// rewritten: no change may be appended before [`Journal::rewrite`].
    pub(super) fn open(path: &Path, replay: impl FnMut(Change)) -> io::Result<Self> {
        let lock = private().create(true).truncate(false).open(beside(path, ".lock"))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => {
                io::Error::new(io::ErrorKind::ResourceBusy, "another process uses this file")
            }
            TryLockError::Error(error) => error,
        })?;
        let file = private().create(true).truncate(false).read(true).open(path)?;
        let length = read(&file, replay)?;
        let path = path.to_owned();
        Ok(Self { path, file, length, rewrite_at: 0, rewrite_from: REWRITE_FROM, broken: false, _lock: lock })
    }

    /// Appends a change; it is durable when this returns. After an error it is not in the journal,
    /// or the journal takes no more changes.
    pub(super) fn append(&mut self, change: &Change) -> io::Result<()> {
        self.check()?;
        let mut line = serde_json::to_vec(change)?;
        line.push(b'\n');
        if let Err(error) = self.file.write_all(&line) {
            self.broken = self.file.set_len(self.length).is_err();
            return Err(error);
        }
        if let Err(error) = self.file.sync_data() {
            // What a failed sync leaves on disk is unknown, and a second one may claim success.
            self.broken = true;
            return Err(error);
        }
        self.length += line.len() as u64;
        Ok(())
    }

    /// Whether it has grown so much that it should be rewritten.
    pub(super) fn is_long(&self) -> bool {
        self.length > self.rewrite_at
    }

    /// Replaces everything in it by `changes`, all at once.
    pub(super) fn rewrite(&mut self, changes: impl Iterator<Item = Change>) -> io::Result<()> {
        self.check()?;
        // If this fails, the old lines are good still; then it is tried again at twice the length.
        self.rewrite_at = self.rewrite_from.max(self.length * 2);
        let new = beside(&self.path, ".new");
        match std::fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut writer = BufWriter::new(private().create_new(true).append(true).open(&new)?);
        let mut length = 0;
        for change in changes {
            let mut line = serde_json::to_vec(&change)?;
            line.push(b'\n');
            writer.write_all(&line)?;
            length += line.len() as u64;
        }
        let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        std::fs::rename(&new, &self.path)?;
        self.file = file;
        self.length = length;
        self.rewrite_at = self.rewrite_from.max(length * 4);
        // Until the folder is synced, a crash may bring the old file back, without what comes now.
        let synced = sync_folder_of(&self.path);
        self.broken = synced.is_err();
        synced
    }

    /// Whether it takes changes.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("an earlier write to disk failed; restart to try again"));
        }
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn rewrite_from(&mut self, length: u64) {
        (self.rewrite_from, self.rewrite_at) = (length, length);
    }

    /// Makes every later write fail, as a full or broken disk does.
    #[cfg(test)]
    pub(super) fn refuse_writes(&mut self) {
        self.file = File::open(&self.path).unwrap();
    }
}

/// Reads whole lines and gives their length.
fn read(file: &File, mut replay: impl FnMut(Change)) -> io::Result<u64> {
    let mut reader = BufReader::new(file);
    let (mut line, mut number, mut length) = (Vec::new(), 0, 0);
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)?;
        if line.last() != Some(&b'\n') {
            return Ok(length);
        }
        number += 1;
        length += read as u64;
        let change = serde_json::from_slice(&line).map_err(|error| {
            let hint = "remove the file to end all logins and begin anew";
            io::Error::new(io::ErrorKind::InvalidData, format!("line {number} is damaged ({error}); {hint}"))
        })?;
        replay(change);
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}
