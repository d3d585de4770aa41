//! Local files to upload, and the directories they are from.
//!
//! A file of a directory must not lead outside of it, also if symbolic links are created while the program
//! runs. Its path is therefore resolved once, and each time it is opened from the directory's handle, without
//! following any link.

use rustix::fs::{Mode, OFlags, openat};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file to upload. Files are equal if their paths are.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    path: PathBuf,
    inside: Option<Inside>,
}

/// Where a file is in a directory.
#[derive(Clone, Debug)]
struct Inside {
    directory: Arc<File>,
    /// The path without symbolic links.
    path: PathBuf,
}

impl SourceFile {
    /// A file that the user has named. Symbolic links are followed.
    pub(crate) fn named(path: &Path) -> Self {
        Self { path: path.to_owned(), inside: None }
    }

    /// The path at which the file was found.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file.
    ///
    /// # Errors
    /// Also if a file of a directory is no longer inside, or no regular file.
    pub(crate) fn open(&self) -> io::Result<File> {
        match &self.inside {
            Some(Inside { directory, path }) => open_inside(directory, path),
            None => File::open(&self.path),
        }
    }
}

impl PartialEq for SourceFile {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for SourceFile {}

/// A directory whose files are uploaded.
#[derive(Clone, Debug)]
pub(crate) struct SourceDirectory {
    handle: Arc<File>,
    /// The path without symbolic links.
    path: PathBuf,
}

impl SourceDirectory {
    /// Opens a directory that the user has named. A symbolic link is followed.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { handle: Arc::new(File::open(path)?), path: fs::canonicalize(path)? })
    }

    /// The file at this path; `None` if symbolic links lead outside of the directory.
    ///
    /// # Errors
    /// If there is no file, for example because of a circle of links.
    pub(crate) fn file(&self, path: &Path) -> io::Result<Option<SourceFile>> {
        let real = fs::canonicalize(path)?;
        let inside = real.strip_prefix(&self.path).ok();
        Ok(inside.map(|inside| SourceFile {
            path: path.to_owned(),
            inside: Some(Inside { directory: Arc::clone(&self.handle), path: inside.to_owned() }),
        }))
    }
}

/// Opens a regular file at a path in a directory. Fails if a part of the path is a symbolic link.
fn open_inside(directory: &File, path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut parts = path.components();
    let name = parts.next_back().ok_or(io::ErrorKind::InvalidInput)?;
    let mut folder: Option<OwnedFd> = None;
    for part in parts {
        let parent = folder.as_ref().map_or(directory.as_fd(), AsFd::as_fd);
        folder = Some(openat(parent, part.as_os_str(), flags | OFlags::DIRECTORY, Mode::empty())?);
    }
    let parent = folder.as_ref().map_or(directory.as_fd(), AsFd::as_fd);
    // Without waiting for the writer of a named pipe.
    let file = File::from(openat(parent, name.as_os_str(), flags | OFlags::NONBLOCK, Mode::empty())?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("not a regular file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    /// A directory `files` beside a file `secret`, with a file `deep/a`.
    fn directory() -> (TempDir, PathBuf, SourceDirectory) {
        let folder = TempDir::new().unwrap();
        let files = folder.path().join("files");
        fs::create_dir_all(files.join("deep")).unwrap();
        fs::write(files.join("deep/a"), "a").unwrap();
        fs::write(folder.path().join("secret"), "secret").unwrap();
        let opened = SourceDirectory::open(&files).unwrap();
        (folder, files, opened)
    }

    fn read(file: &SourceFile) -> io::Result<String> {
        let mut text = String::new();
        file.open()?.read_to_string(&mut text).map(|_| text)
    }

    #[test]
    fn links_are_followed_inside_only() {
        let (_folder, files, directory) = directory();
        symlink("deep/a", files.join("relative")).unwrap();
        symlink(files.join("deep/a"), files.join("absolute")).unwrap();
        for name in ["deep/a", "relative", "absolute", "deep/../deep/a"] {
            let file = directory.file(&files.join(name)).unwrap().unwrap();
            assert_eq!((read(&file).unwrap().as_str(), file.path()), ("a", files.join(name).as_path()));
        }
        symlink("../secret", files.join("out")).unwrap();
        symlink("..", files.join("parent")).unwrap();
        symlink("out", files.join("twice")).unwrap();
        for name in ["out", "parent/secret", "twice", "../secret"] {
            assert_eq!(directory.file(&files.join(name)).unwrap(), None, "{name}");
        }
        symlink("circle", files.join("circle")).unwrap();
        assert!(directory.file(&files.join("circle")).is_err());
        // A sibling whose name begins with that of the directory.
        fs::write(files.with_file_name("files-2"), "other").unwrap();
        symlink("../files-2", files.join("sibling")).unwrap();
        assert_eq!(directory.file(&files.join("sibling")).unwrap(), None);
    }

    #[test]
    fn file_that_becomes_a_link_is_not_opened() {
        let (folder, files, directory) = directory();
        let file = directory.file(&files.join("deep/a")).unwrap().unwrap();
        fs::rename(files.join("deep/a"), folder.path().join("moved")).unwrap();
        symlink("../../secret", files.join("deep/a")).unwrap();
        assert!(read(&file).is_err());
        fs::remove_file(files.join("deep/a")).unwrap();
        fs::write(files.join("deep/a"), "b").unwrap();
        assert_eq!(read(&file).unwrap(), "b");

        // A directory on the way.
        fs::rename(files.join("deep"), files.join("old")).unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        fs::write(folder.path().join("outside/a"), "secret").unwrap();
        symlink("../outside", files.join("deep")).unwrap();
        assert!(read(&file).is_err());
    }

    #[test]
    fn named_pipe_is_refused_without_waiting() {
        let (_folder, files, directory) = directory();
        let pipe = files.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let file = directory.file(&pipe).unwrap().unwrap();
        assert_eq!(read(&file).unwrap_err().to_string(), "not a regular file");
    }
}
