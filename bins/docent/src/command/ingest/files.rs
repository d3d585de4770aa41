//! Finds the files to upload.

use crate::client::source::{SourceDirectory, SourceFile};
use crate::output::sanitize;
use docent_domain::file_type::{FileType, FileTypes, HEAD_BYTES, detect};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Number of symbolic links that a message names.
const SHOWN_LINKS: usize = 5;

/// The files given on the command line and found in given directories.
#[derive(Debug, Default)]
pub(crate) struct Files {
    pub(crate) found: Vec<Found>,
    /// Symbolic links in the directories that lead outside of them, and are therefore not followed.
    pub(crate) links: Vec<PathBuf>,
}

impl Files {
    /// Names the links that are not followed on standard error.
    pub(crate) fn report_links(&self) {
        let shown = self.links.iter().take(SHOWN_LINKS).map(|link| sanitize(&link.display().to_string()));
        let mut shown = shown.collect::<Vec<_>>().join(", ");
        match self.links.len() {
            0 => return,
            links if links > SHOWN_LINKS => shown.push_str(&format!(" and {} others", links - SHOWN_LINKS)),
            _ => {}
        }
        eprintln!("docent: symbolic links that lead outside of the directory are not followed: {shown}");
    }
}

/// A file given on the command line or found in a given directory.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) source: SourceFile,
    /// Size in bytes, or why it cannot be uploaded.
    pub(crate) size: Result<u64, String>,
}

impl Found {
    /// Refuses the file if its content is of a type that is not accepted.
    pub(crate) fn check_type(self, accepted: FileTypes) -> Self {
        if self.size.is_err() {
            return self;
        }
        let size = match read_head(&self.source) {
            Err(error) => Err(error.to_string()),
            Ok(head) if head.is_empty() => Err("the file is empty".to_owned()),
            Ok(head) => {
                let name = self.source.path().file_name().unwrap_or_default().to_string_lossy();
                match detect(&head, &name) {
                    Some(of) if accepted.contains(of) => return self,
                    Some(of) => Err(format!(
                        "this is a file of the type {}; the service accepts {accepted} (to accept it, an administrator \
                         adds {} to DOCENT_UPLOAD_TYPES of the service)",
                        of.title(),
                        of.as_str(),
                    )),
                    None => Err(format!("this is a file of an unknown type; the service accepts {accepted}")),
                }
            }
        };
        Self { size, ..self }
    }
}

fn read_head(source: &SourceFile) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    source.open()?.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Returns the given files in order; a directory is replaced by the files of these types in it and its subdirectories, ordered by name.
///
/// In directories, symbolic links to files are followed if they stay inside. Links to directories are not
/// followed: inside, their files are found anyway, and they can form cycles.
pub(crate) fn find_files(paths: &[PathBuf], types: FileTypes) -> Files {
    let mut files = Files::default();
    for path in paths {
        match fs::metadata(path) {
            Ok(about) if about.is_dir() => {
                let before = files.found.len();
                match SourceDirectory::open(path) {
                    Ok(directory) => Search { directory, types, files: &mut files }.search(path),
                    Err(error) => files.found.push(rejected(path, &error.to_string())),
                }
                if files.found.len() == before {
                    files.found.push(rejected(path, &format!("no {types} file found in this directory")));
                }
            }
            Ok(about) => files.found.push(file(SourceFile::named(path), &about)),
            Err(error) => files.found.push(rejected(path, &error.to_string())),
        }
    }
    files
}

/// The search of a directory.
struct Search<'a> {
    directory: SourceDirectory,
    types: FileTypes,
    files: &'a mut Files,
}

impl Search<'_> {
    fn search(&mut self, folder: &Path) {
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => return self.files.found.push(rejected(folder, &error.to_string())),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.search(&path),
                Ok(kind) => {
                    if let Err(error) = self.add(&path, kind.is_symlink()) {
                        self.files.found.push(rejected(&path, &error.to_string()));
                    }
                }
                Err(error) => self.files.found.push(rejected(&path, &error.to_string())),
            }
        }
    }

    /// Adds a file if its name is that of an accepted type.
    fn add(&mut self, path: &Path, is_link: bool) -> io::Result<()> {
        // Also names that are not UTF-8.
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_accepted = FileType::of_name(&name).is_some_and(|of| self.types.contains(of));
        let leads_to_directory = is_link && fs::metadata(path).is_ok_and(|about| about.is_dir());
        if !is_accepted && !leads_to_directory {
            return Ok(());
        }
        match self.directory.file(path)? {
            None => self.files.links.push(path.to_owned()),
            Some(_) if leads_to_directory => {}
            Some(source) => self.files.found.push(file(source, &fs::metadata(path)?)),
        }
        Ok(())
    }
}

fn file(source: SourceFile, about: &fs::Metadata) -> Found {
    if about.is_file() {
        Found { source, size: Ok(about.len()) }
    } else {
        rejected(source.path(), "not a regular file")
    }
}

fn rejected(path: &Path, why: &str) -> Found {
    Found { source: SourceFile::named(path), size: Err(why.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_of_another_type_is_refused_by_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let refusal = |name: &str, content: &[u8], types: &str| {
            let path = folder.path().join(name);
            fs::write(&path, content).unwrap();
            let [found] = find_files(&[path], FileTypes::default()).found.try_into().unwrap();
            found.check_type(FileTypes::parse(types).unwrap()).size.err()
        };
        assert_eq!(refusal("a.txt", b"%PDF-1.7\n", "pdf"), None, "the content decides");
        assert_eq!(refusal("a.txt", b"text", "pdf,txt"), None);
        let text = "this is a file of the type plain text; the service accepts PDF (to accept it, an administrator adds \
                    txt to DOCENT_UPLOAD_TYPES of the service)";
        assert_eq!(refusal("a.pdf", b"text", "pdf").as_deref(), Some(text));
        assert_eq!(refusal("a.pdf", b"", "pdf,txt").as_deref(), Some("the file is empty"));
        let image = "this is a file of an unknown type; the service accepts PDF and DOCX";
        assert_eq!(refusal("a.pdf", b"\x89PNG\r\n\x1a\n\0\0", "pdf,docx").as_deref(), Some(image));
    }

    #[test]
    fn directories_are_replaced_by_their_pdfs_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("b/deep")).unwrap();
        fs::create_dir(root.join("empty")).unwrap();
        for name in ["c.pdf", "a.PDF", "notes.txt", "b/deep/d.pdf", "b/a.pdf"] {
            fs::write(root.join(name), "1234").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(root, root.join("b/circle.pdf")).unwrap();
        #[cfg(unix)]
        fs::write(
            root.join(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"d\xe9.pdf")),
            "1234",
        )
        .unwrap();
        let named = ["notes.txt", ".", "missing.pdf", "empty"].map(|name| root.join(name));
        let files = find_files(&named, FileTypes::default());
        assert!(files.links.is_empty());
        let found = files.found;
        let short = |found: &Found| found.source.path().strip_prefix(root).unwrap().display().to_string();
        let names: Vec<String> = found.iter().map(short).collect();
        let below = ["a.PDF", "b/a.pdf", "b/deep/d.pdf", "c.pdf", "d\u{fffd}.pdf"];
        assert_eq!(names, [&["notes.txt"], &below[..], &["missing.pdf", "empty"]].concat());
        assert!(found[..6].iter().all(|found| found.size == Ok(4)), "{found:?}");
        assert!(found[6].size.as_ref().unwrap_err().contains("No such file"), "{found:?}");
        let texts = find_files(&[root.to_owned()], FileTypes::parse("txt").unwrap()).found;
        assert_eq!(texts.iter().map(short).collect::<Vec<_>>(), ["notes.txt"]);
        assert_eq!(found[7].size, Err("no PDF file found in this directory".to_owned()));
    }

    #[test]
    fn links_are_followed_in_the_directory_only() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("files");
        fs::create_dir_all(root.join("deep")).unwrap();
        fs::create_dir(folder.path().join("private")).unwrap();
        for name in ["files/deep/a.pdf", "private/secret.pdf"] {
            fs::write(folder.path().join(name), "1234").unwrap();
        }
        let secret = folder.path().join("private/secret.pdf");
        symlink("deep/a.pdf", root.join("b.pdf")).unwrap();
        symlink(&secret, root.join("c.pdf")).unwrap();
        symlink("../private", root.join("d")).unwrap();
        symlink(&root, root.join("deep/circle")).unwrap();
        symlink("notes.txt", root.join("notes.txt")).unwrap();
        let files = find_files(std::slice::from_ref(&root), FileTypes::default());
        let paths: Vec<&Path> = files.found.iter().map(|found| found.source.path()).collect();
        assert_eq!(paths, [root.join("b.pdf"), root.join("deep/a.pdf")]);
        assert!(files.found.iter().all(|found| found.size == Ok(4)));
        assert_eq!(files.links, [root.join("c.pdf"), root.join("d")]);

        // A circle is an error, since the file cannot be read.
        symlink("e.pdf", root.join("e.pdf")).unwrap();
        let circle = find_files(std::slice::from_ref(&root), FileTypes::default()).found.pop().unwrap();
        assert!(circle.size.unwrap_err().contains("symbolic links"));
        // Links that the user names are followed.
        let named = find_files(&[root.join("c.pdf"), root.join("d")], FileTypes::default());
        assert!(named.found.iter().all(|found| found.size == Ok(4)) && named.links.is_empty());
        assert_eq!(named.found[1].source.path(), root.join("d/secret.pdf"));
    }
}
