//! Which files are meant.

use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
};

/// What was named, or found below a folder that was.
#[derive(Debug, PartialEq)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    /// Its size in bytes, or why it is not to be uploaded.
    pub(super) size: Result<u64, String>,
}

/// The files that were named, in that order; in place of a folder the PDFs below it, in order of their names.
///
/// Links to folders within a folder are not followed, for they may lead in circles.
pub(super) fn files(named: &[PathBuf]) -> Vec<Found> {
    let mut found = Vec::new();
    for path in named {
        match fs::metadata(path) {
            Ok(about) if about.is_dir() => {
                let before = found.len();
                below(path, &mut found);
                if found.len() == before {
                    found.push(unfit(path, "there is no PDF in this folder"));
                }
            }
            Ok(about) => found.push(file(path, &about)),
            Err(error) => found.push(unfit(path, &error.to_string())),
        }
    }
    found
}

fn below(folder: &Path, found: &mut Vec<Found>) {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => return found.push(unfit(folder, &error.to_string())),
    };
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let is_pdf =
            path.extension().and_then(OsStr::to_str).is_some_and(|end| end.eq_ignore_ascii_case("pdf"));
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => below(&path, found),
            Ok(_) if is_pdf => match fs::metadata(&path) {
                // A link to a folder that is named like a PDF.
                Ok(about) if about.is_dir() => {}
                Ok(about) => found.push(file(&path, &about)),
                Err(error) => found.push(unfit(&path, &error.to_string())),
            },
            Ok(_) => {}
            Err(error) => found.push(unfit(&path, &error.to_string())),
        }
    }
}

fn file(path: &Path, about: &fs::Metadata) -> Found {
    if about.is_file() {
        Found { path: path.to_owned(), size: Ok(about.len()) }
    } else {
        unfit(path, "this is no file")
    }
}

fn unfit(path: &Path, why: &str) -> Found {
    Found { path: path.to_owned(), size: Err(why.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_stand_for_the_pdfs_below_them_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("b/deep")).unwrap();
        fs::create_dir(root.join("empty")).unwrap();
        for name in ["c.pdf", "a.PDF", "notes.txt", "b/deep/d.pdf", "b/a.pdf"] {
            fs::write(root.join(name), "1234").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(root, root.join("b/circle.pdf")).unwrap();
        let named = ["notes.txt", ".", "missing.pdf", "empty"].map(|name| root.join(name));
        let found = files(&named);
        let short = |found: &Found| found.path.strip_prefix(root).unwrap().display().to_string();
        let names: Vec<String> = found.iter().map(short).collect();
        let below = ["a.PDF", "b/a.pdf", "b/deep/d.pdf", "c.pdf"];
        assert_eq!(names, [&["notes.txt"], &below[..], &["missing.pdf", "empty"]].concat());
        assert!(found[..5].iter().all(|found| found.size == Ok(4)), "{found:?}");
        assert!(found[5].size.as_ref().unwrap_err().contains("No such file"), "{found:?}");
        assert_eq!(found[6].size, Err("there is no PDF in this folder".to_owned()));
    }
}
