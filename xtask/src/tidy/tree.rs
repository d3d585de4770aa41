//! The files of the repository.

use anyhow::{Context, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Files by their path from the root, with `/` between its parts.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Text files with their texts.
    files: BTreeMap<String, String>,
    /// Other files, such as images.
    binaries: BTreeSet<String>,
}

impl Tree {
    /// Reads every file that git tracks or would add.
    pub(super) fn read(root: &Path) -> anyhow::Result<Self> {
        let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let output =
            Command::new("git").args(arguments).current_dir(root).output().context("git ls-files")?;
        ensure!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
        let mut tree = Self::default();
        for path in String::from_utf8(output.stdout)?.split_terminator('\0') {
            // A tracked file may have been removed from the working tree.
            let Ok(bytes) = fs::read(root.join(path)) else { continue };
            match String::from_utf8(bytes) {
                Ok(text) => drop(tree.files.insert(path.to_owned(), text)),
                Err(_) => drop(tree.binaries.insert(path.to_owned())),
            }
        }
        Ok(tree)
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Self { files: files.collect(), ..Self::default() }
    }

    #[cfg(test)]
    pub(super) fn with_binary(mut self, path: &str) -> Self {
        self.binaries.insert(path.to_owned());
        self
    }

    /// Whether a file that is not text has this path.
    pub(super) fn has_binary(&self, path: &str) -> bool {
        self.binaries.contains(path)
    }

    /// One file's text.
    pub(super) fn get(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Every text file.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The Rust files below a folder; all of them for `""`.
    pub(super) fn rust(&self, folder: &str) -> impl Iterator<Item = (&str, &str)> {
        self.all().filter(move |(path, _)| path.starts_with(folder) && path.ends_with(".rs"))
    }
}

/// The lines of a Rust file that are no whole-line comments, with their numbers.
pub(super) fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim_start().starts_with("//"))
}
