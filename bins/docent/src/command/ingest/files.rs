//! Finds the files to upload.

use docent_domain::file_type::{FileType, FileTypes, HEAD_BYTES, detect};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A file given on the command line or found in a given directory.
#[derive(Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    /// Size in bytes, or why it cannot be uploaded.
    pub(crate) size: Result<u64, String>,
}

impl Found {
    /// Refuses the file if its content is of a type that is not accepted.
    pub(crate) fn check_type(self, accepted: FileTypes) -> Self {
        if self.size.is_err() {
            return self;
        }
        let size = match read_head(&self.path) {
            Err(error) => Err(error.to_string()),
            Ok(head) if head.is_empty() => Err("the file is empty".to_owned()),
            Ok(head) => {
                let name = self.path.file_name().unwrap_or_default().to_string_lossy();
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

fn read_head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    fs::File::open(path)?.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Returns the given files in order; a directory is replaced by the files of these types in it and its subdirectories, ordered by name.
///
/// Symbolic links to directories are not followed, because they can form cycles.
pub(crate) fn find_files(paths: &[PathBuf], types: FileTypes) -> Vec<Found> {
    let mut found = Vec::new();
    for path in paths {
        match fs::metadata(path) {
            Ok(about) if about.is_dir() => {
                let before = found.len();
                search_directory(path, types, &mut found);
                if found.len() == before {
                    found.push(rejected(path, &format!("no {types} file found in this directory")));
                }
            }
            Ok(about) => found.push(file(path, &about)),
            Err(error) => found.push(rejected(path, &error.to_string())),
        }
    }
    found
}

fn search_directory(folder: &Path, types: FileTypes, found: &mut Vec<Found>) {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => return found.push(rejected(folder, &error.to_string())),
    };
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // Also names that are not UTF-8.
        let name = entry.file_name();
        let is_accepted = FileType::of_name(&name.to_string_lossy()).is_some_and(|of| types.contains(of));
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => search_directory(&path, types, found),
            Ok(_) if is_accepted => match fs::metadata(&path) {
                // A symbolic link to a directory with the name of a file.
                Ok(about) if about.is_dir() => {}
                Ok(about) => found.push(file(&path, &about)),
                Err(error) => found.push(rejected(&path, &error.to_string())),
            },
            Ok(_) => {}
            Err(error) => found.push(rejected(&path, &error.to_string())),
        }
    }
}

fn file(path: &Path, about: &fs::Metadata) -> Found {
    if about.is_file() {
        Found { path: path.to_owned(), size: Ok(about.len()) }
    } else {
        rejected(path, "not a regular file")
    }
}

fn rejected(path: &Path, why: &str) -> Found {
    Found { path: path.to_owned(), size: Err(why.to_owned()) }
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
            let [found] = find_files(&[path], FileTypes::default()).try_into().unwrap();
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
        let found = find_files(&named, FileTypes::default());
        let short = |found: &Found| found.path.strip_prefix(root).unwrap().display().to_string();
        let names: Vec<String> = found.iter().map(short).collect();
        let below = ["a.PDF", "b/a.pdf", "b/deep/d.pdf", "c.pdf", "d\u{fffd}.pdf"];
        assert_eq!(names, [&["notes.txt"], &below[..], &["missing.pdf", "empty"]].concat());
        assert!(found[..6].iter().all(|found| found.size == Ok(4)), "{found:?}");
        assert!(found[6].size.as_ref().unwrap_err().contains("No such file"), "{found:?}");
        let texts = find_files(&[root.to_owned()], FileTypes::parse("txt").unwrap());
        assert_eq!(texts.iter().map(short).collect::<Vec<_>>(), ["notes.txt"]);
        assert_eq!(found[7].size, Err("no PDF file found in this directory".to_owned()));
    }
}
