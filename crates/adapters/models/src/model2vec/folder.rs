//! Reads the files of a model folder within bounds.

use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Settings of the model, such as its maximum number of tokens.
pub(super) const CONFIG: &str = "config.json";
/// The tokenizer, in the format of the `tokenizers` library.
pub(super) const TOKENIZER: &str = "tokenizer.json";
/// The vectors.
pub(super) const WEIGHTS: &str = "model.safetensors";

const MIB: u64 = 1024 * 1024;
/// Maximum size of each file. Published models have vectors of up to 512 MB and tokenizers of up to 20 MB.
const MAX_BYTES: [(&str, u64); 3] = [(CONFIG, MIB), (TOKENIZER, 128 * MIB), (WEIGHTS, 2048 * MIB)];
/// Number of hexadecimal digits of the digest in the name of a model.
const DIGEST_DIGITS: usize = 12;
/// Maximum length of a folder name in the name of a model.
const NAME_CHARS: usize = 64;

/// Why the model in a folder cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the embedding model in {} cannot be used: {problem}", folder.display())]
pub struct InvalidModel {
    folder: PathBuf,
    problem: String,
}

/// What is wrong with a file, as a sentence that begins with its name.
pub(super) fn problem(file: &str, wrong: impl std::fmt::Display) -> String {
    format!("{file} {wrong}")
}

/// The files of a model folder.
pub(super) struct ModelFiles {
    pub(super) config: Vec<u8>,
    pub(super) tokenizer: Vec<u8>,
    pub(super) weights: Vec<u8>,
    /// Folder name and digest of the files, such as `potion@0f3ac1d2e4b5`.
    pub(super) name: String,
}

impl ModelFiles {
    /// Reads the files and computes the name of the model.
    ///
    /// # Errors
    /// If the folder or a file is missing, cannot be read, is not a regular file, or is too large.
    pub(super) fn read(folder: &Path) -> Result<Self, InvalidModel> {
        Self::read_files(folder).map_err(|problem| invalid(folder, problem))
    }

    fn read_files(folder: &Path) -> Result<Self, String> {
        match fs::metadata(folder) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err("it is not a folder".to_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err("the folder does not exist".to_owned());
            }
            Err(error) => return Err(format!("the folder cannot be read: {error}")),
        }
        let mut digest = Sha256::new();
        let mut files = Vec::with_capacity(MAX_BYTES.len());
        for (file, max_bytes) in MAX_BYTES {
            let bytes = read_file(&folder.join(file), max_bytes).map_err(|wrong| problem(file, wrong))?;
            // With its length, no part of a file can move to the next one unnoticed.
            digest.update((bytes.len() as u64).to_le_bytes());
            digest.update(&bytes);
            files.push(bytes);
        }
        let digest: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let name = format!("{}@{}", folder_name(folder), digest.get(..DIGEST_DIGITS).unwrap_or(&digest));
        let [config, tokenizer, weights] =
            <[Vec<u8>; 3]>::try_from(files).map_err(|_| "files are missing".to_owned())?;
        Ok(Self { config, tokenizer, weights, name })
    }
}

/// The error for a folder.
pub(super) fn invalid(folder: &Path, problem: String) -> InvalidModel {
    InvalidModel { folder: folder.to_owned(), problem }
}

/// Reads a file of at most `max_bytes`.
fn read_file(path: &Path, max_bytes: u64) -> Result<Vec<u8>, String> {
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => {
            format!("does not exist; a Model2Vec model has the files {CONFIG}, {TOKENIZER} and {WEIGHTS}")
        }
        _ => format!("cannot be read: {error}"),
    };
    let too_large = || format!("has more than {} MiB, the maximum", max_bytes / MIB);
    // Checked before opening, because opening a pipe waits for its other end.
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err("is not a regular file".to_owned());
    }
    if metadata.len() > max_bytes {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).map_err(|_| too_large())?);
    // The file may grow while it is read.
    File::open(path).and_then(|file| file.take(max_bytes + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
    if bytes.len() as u64 > max_bytes {
        return Err(too_large());
    }
    Ok(bytes)
}

/// The last part of the path, reduced to characters that are safe in names of models.
fn folder_name(folder: &Path) -> String {
    let absolute = folder.file_name().is_none().then(|| folder.canonicalize().ok()).flatten();
    let name = absolute.as_deref().unwrap_or(folder).file_name().unwrap_or_default().to_string_lossy();
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let name: String = name.chars().take(NAME_CHARS).map(safe).collect();
    if name.is_empty() { "model".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_name_has_only_safe_characters() {
        for (path, name) in [
            ("/models/potion-base-32M", "potion-base-32M"),
            ("models/potion/", "potion"),
            ("/models/größe @ 2+", "gr--e---2-"),
            ("/", "model"),
        ] {
            assert_eq!(folder_name(Path::new(path)), name, "{path}");
        }
        assert_eq!(folder_name(Path::new(&"n".repeat(200))).len(), NAME_CHARS);
        assert_eq!(folder_name(Path::new(".")), folder_name(&std::env::current_dir().unwrap()));
    }

    #[test]
    fn larger_file_is_refused_before_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large");
        File::create(&path).unwrap().set_len(3 * 1024 * MIB).unwrap();
        assert_eq!(read_file(&path, 2048 * MIB).unwrap_err(), "has more than 2048 MiB, the maximum");
        fs::write(&path, "twelve bytes").unwrap();
        assert_eq!(read_file(&path, 12).unwrap(), b"twelve bytes");
        assert!(read_file(&path, 11).is_err());
    }
}
