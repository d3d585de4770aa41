//! Reads entries of ZIP archives within limits.

use super::encoding;
use crate::reader::damaged;
use docent_domain::document::{Failure, FailureCode};
use std::collections::HashMap;
use std::io::{Cursor, Read};
use zip::ZipArchive;
use zip::result::ZipError;

/// Maximum number of entries.
const ENTRIES_MAX: usize = 20_000;

/// Limits for unpacked bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackageLimits {
    /// Maximum unpacked size of an entry.
    entry_bytes: u64,
    /// Maximum unpacked size of all entries that are read.
    total_bytes: u64,
    /// Maximum unpacked size of all pictures that are read.
    picture_bytes: u64,
}

impl Default for PackageLimits {
    fn default() -> Self {
        Self { entry_bytes: 96 << 20, total_bytes: 192 << 20, picture_bytes: 256 << 20 }
    }
}

/// A ZIP archive that is read entry by entry.
pub(super) struct Package {
    archive: ZipArchive<Cursor<Vec<u8>>>,
    /// Indices of the entries by their folded names.
    names: HashMap<String, usize>,
    limits: PackageLimits,
    read_bytes: u64,
}

impl Package {
    pub(super) fn open(bytes: Vec<u8>) -> Result<Self, Failure> {
        Self::open_within(bytes, PackageLimits::default())
    }

    fn open_within(bytes: Vec<u8>, limits: PackageLimits) -> Result<Self, Failure> {
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| failure(&error))?;
        if archive.len() > ENTRIES_MAX {
            return Err(unpacks_to_too_much());
        }
        let names = (0..archive.len())
            .filter_map(|at| Some((folded(&archive.name_for_index(at)?.ok()?), at)))
            .collect();
        Ok(Self { archive, names, limits, read_bytes: 0 })
    }

    /// Fails if this is an OpenDocument file that needs a password.
    pub(super) fn refuse_encrypted_open_document(&mut self) -> Result<(), Failure> {
        match self.read_xml("META-INF/manifest.xml")? {
            Some(manifest) if manifest.contains("encryption-data") => Err(needs_password()),
            _ => Ok(()),
        }
    }

    /// The content of an entry; `None` if there is no such entry. Only bytes that are really unpacked count, whatever the
    /// archive says. Names are compared without regard to case and to the kind of slash.
    pub(super) fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        let limit = self.limits.entry_bytes.min(self.limits.total_bytes - self.read_bytes);
        let content = self.unpack(name, limit)?;
        self.read_bytes += content.as_ref().map_or(0, |content| content.len() as u64);
        Ok(content)
    }

    /// The content of a picture; `None` if there is no such entry, it is damaged, or it is over the limit for pictures, which
    /// do not count otherwise: a file is not refused for them.
    pub(super) fn read_picture(&mut self, name: &str) -> Option<Vec<u8>> {
        let content = self.unpack(name, self.limits.picture_bytes).ok().flatten()?;
        self.limits.picture_bytes -= content.len() as u64;
        Some(content)
    }

    fn unpack(&mut self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, Failure> {
        let exact = self.archive.index_for_name(name.trim_start_matches('/'));
        let Some(index) = exact.or_else(|| self.names.get(&folded(name)).copied()) else { return Ok(None) };
        let entry = self.archive.by_index(index).map_err(|error| failure(&error))?;
        let mut content = Vec::new();
        entry
            .take(limit + 1)
            .read_to_end(&mut content)
            .map_err(|_| damaged("an entry cannot be unpacked"))?;
        if content.len() as u64 > limit { Err(unpacks_to_too_much()) } else { Ok(Some(content)) }
    }

    /// The text of an XML entry; `None` if there is no such entry.
    pub(super) fn read_xml(&mut self, name: &str) -> Result<Option<String>, Failure> {
        Ok(self.read(name)?.map(encoding::decode_xml))
    }

    /// The text of an XML entry that must exist.
    pub(super) fn require_xml(&mut self, name: &str) -> Result<String, Failure> {
        self.read_xml(name)?.ok_or_else(|| damaged("a part of it is missing"))
    }
}

fn folded(name: &str) -> String {
    name.replace('\\', "/").trim_start_matches('/').to_lowercase()
}

/// The failure of a file that needs a password.
pub(super) fn needs_password() -> Failure {
    Failure::because(FailureCode::PasswordRequired, "the file needs a password")
}

fn unpacks_to_too_much() -> Failure {
    Failure::because(FailureCode::TooLarge, "the file unpacks to more than the limits allow")
}

fn failure(error: &ZipError) -> Failure {
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) | ZipError::InvalidPassword => {
            needs_password()
        }
        _ => damaged("its archive is not valid"),
    }
}

/// Decodes `%20` and the like, and removes a fragment.
pub(super) fn percent_decoded(path: &str) -> String {
    let path = path.split('#').next().unwrap_or_default();
    let mut decoded = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [byte, after @ ..] = rest {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let value = digits.filter(|_| *byte == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(value.unwrap_or(*byte));
        rest = if value.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Resolves a path that an entry names, such as `../media/a.xml` in `word/document.xml`.
pub(super) fn resolve(base: &str, target: &str) -> String {
    const SLASHES: [char; 2] = ['/', '\\'];
    let mut parts: Vec<&str> = match target.starts_with(SLASHES) {
        true => Vec::new(),
        false => base.rsplit_once(SLASHES).map_or(Vec::new(), |(folder, _)| folder.split(SLASHES).collect()),
    };
    for part in target.split(SLASHES) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::super::tests::archive;
    use super::*;

    #[test]
    fn entries_are_unpacked_within_limits() {
        let small = PackageLimits { entry_bytes: 1000, total_bytes: 1500, picture_bytes: 1000 };
        let text = "a".repeat(800);
        let bytes = archive(&[("a", text.as_str()), ("b", text.as_str()), ("c", &"a".repeat(1_000_000))]);
        assert!(bytes.len() < 4000, "a bomb is small");
        let mut package = Package::open_within(bytes, small).unwrap();
        assert_eq!(package.read("/a").unwrap().unwrap().len(), 800);
        assert_eq!(package.read("b").unwrap_err().code, FailureCode::TooLarge, "the total");
        assert_eq!(package.read("c").unwrap_err().code, FailureCode::TooLarge, "an entry");
        assert_eq!(package.read("d").unwrap(), None);
        assert_eq!(package.read_picture("b").unwrap().len(), 800, "pictures have their own limit");
        assert_eq!(package.read_picture("b"), None, "the limit");
    }

    #[test]
    fn entries_are_found_in_other_cases_and_with_backslashes() {
        let bytes = archive(&[("XL\\Workbook.XML", "1"), ("xl/styles.xml", "2"), ("xl/Styles.xml", "3")]);
        let mut package = Package::open(bytes).unwrap();
        for (name, content) in [("xl/workbook.xml", "1"), ("/xl/styles.xml", "2"), ("xl/Styles.xml", "3")] {
            assert_eq!(package.read_xml(name).unwrap().as_deref(), Some(content), "{name}");
        }
    }

    #[test]
    fn archive_with_too_many_entries_is_refused() {
        let names: Vec<String> = (0..=ENTRIES_MAX).map(|n| n.to_string()).collect();
        let entries: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
        assert_eq!(Package::open(archive(&entries)).err().unwrap().code, FailureCode::TooLarge);
    }

    #[test]
    fn truncated_and_changed_archives_are_failures() {
        let bytes = archive(&[("a", "some text of an entry")]);
        for end in 0..bytes.len() {
            if let Ok(mut package) = Package::open(bytes[..end].to_vec()) {
                let _ = package.read("a");
            }
        }
        assert_eq!(Package::open(b"PK\x03\x04garbage".to_vec()).err().unwrap().code, FailureCode::Unreadable);
    }

    #[test]
    fn relative_paths_are_resolved_within_the_archive() {
        for (base, target, path) in [
            ("word/document.xml", "footnotes.xml", "word/footnotes.xml"),
            ("ppt/slides/slide1.xml", "../notesSlides/n.xml", "ppt/notesSlides/n.xml"),
            ("", "word/document.xml", "word/document.xml"),
            ("a/b.xml", "/c/d.xml", "c/d.xml"),
            ("a\\b.xml", "..\\c\\d.xml", "c/d.xml"),
            ("a/b.xml", "../../../c.xml", "c.xml"),
        ] {
            assert_eq!(resolve(base, target), path);
        }
    }
}
