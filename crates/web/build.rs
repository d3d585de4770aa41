//! Writes the list of languages that `src/language.rs` includes: the folders of `src/locales` with the texts of their files.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "how Cargo and a build script talk to each other"
)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("src/locales");
    let mut list = String::from("&[");
    for folder in entries(&root)? {
        let code = folder.file_name().unwrap_or_default().to_string_lossy();
        list.push_str(&format!("({code:?}, &["));
        for file in entries(&folder)? {
            list.push_str(&format!("include_str!({:?}),", file.display().to_string()));
        }
        list.push_str("]),");
    }
    list.push(']');
    fs::write(Path::new(&env::var("OUT_DIR")?).join("locales.rs"), list)?;
    println!("cargo::rerun-if-changed=src/locales");
    Ok(())
}

/// The entries of a folder, sorted, so that every build has the same list.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut paths =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, std::io::Error>>()?;
    paths.sort();
    Ok(paths)
}
