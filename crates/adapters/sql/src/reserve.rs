//! Disk space kept for deletions.
//!
//! A deletion frees space only after it was recorded, and a full disk has no room for the record. So a file beside an
//! SQLite database keeps some room, which the first deletion on a full disk releases. It is made again when there is
//! enough room.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tokio::task::spawn_blocking;

/// Size of the file: enough for the records and the index of many deletions.
const BYTES: u64 = 8 << 20;
/// With less free space than this, the reserve is released.
const LOW: u64 = 4 << 20;
/// With at least this much free space, the reserve is made.
const ENOUGH: u64 = 64 << 20;
const PIECE: usize = 1 << 20;

/// The reserve beside a database file.
#[derive(Clone, Debug)]
pub(super) struct Reserve {
    path: PathBuf,
}

impl Reserve {
    pub(super) fn beside(database: &Path) -> Self {
        let mut path = database.as_os_str().to_owned();
        path.push("-reserve");
        Self { path: path.into() }
    }

    /// Makes the file if it is missing and there is enough room. A failure leaves no file.
    pub(super) async fn fill(&self) {
        let reserve = self.clone();
        let filled = spawn_blocking(move || reserve.fill_with(free_space(&reserve.path)?)).await;
        if let Ok(Err(error)) = filled {
            tracing::debug!(%error, "no disk space is kept for deletions");
        }
    }

    /// Removes the file if the disk is full.
    pub(super) async fn release(&self) {
        let reserve = self.clone();
        let released = spawn_blocking(move || reserve.release_with(free_space(&reserve.path)?)).await;
        if let Ok(Ok(true)) = released {
            tracing::warn!("the disk is full; the space that was kept for deletions is used now");
        }
    }

    fn fill_with(&self, free: u64) -> io::Result<()> {
        if free < ENOUGH || fs::metadata(&self.path).is_ok_and(|file| file.len() == BYTES) {
            return Ok(());
        }
        let write = || {
            let mut file = File::create(&self.path)?;
            for _ in 0..BYTES / PIECE as u64 {
                file.write_all(&vec![0; PIECE])?;
            }
            file.sync_all()
        };
        write().inspect_err(|_| drop(fs::remove_file(&self.path)))
    }

    fn release_with(&self, free: u64) -> io::Result<bool> {
        if free >= LOW {
            return Ok(false);
        }
        match fs::remove_file(&self.path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Free space of the file system that has this file or will have it.
#[cfg(unix)]
fn free_space(path: &Path) -> io::Result<u64> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let space = rustix::fs::statvfs(folder)?;
    Ok(space.f_bavail.saturating_mul(space.f_frsize))
}

/// Elsewhere nothing is reserved.
#[cfg(not(unix))]
fn free_space(_: &Path) -> io::Result<u64> {
    Ok(LOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserve_is_made_with_enough_room_and_released_on_a_full_disk() {
        let folder = tempfile::tempdir().unwrap();
        let reserve = Reserve::beside(&folder.path().join("docent.db"));
        let size = || fs::metadata(folder.path().join("docent.db-reserve")).ok().map(|file| file.len());
        reserve.fill_with(ENOUGH - 1).unwrap();
        assert_eq!(size(), None);
        reserve.fill_with(ENOUGH).unwrap();
        assert_eq!(size(), Some(BYTES));
        assert!(!reserve.release_with(LOW).unwrap());
        assert_eq!(size(), Some(BYTES));
        assert!(reserve.release_with(LOW - 1).unwrap());
        assert!(!reserve.release_with(0).unwrap());
        assert_eq!(size(), None);
        File::create(folder.path().join("docent.db-reserve")).unwrap();
        reserve.fill_with(ENOUGH).unwrap();
        assert_eq!(size(), Some(BYTES), "an incomplete file is replaced");
    }
}
