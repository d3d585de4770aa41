//! Writes the generated pages of docs/reference.

use anyhow::{Context, ensure};
use std::{fs, path::Path, process::Command};

/// The pages that `bins/docent/examples/reference.rs` prints.
const PAGES: &[&str] = &["configuration"];

pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    for page in PAGES {
        let arguments = ["run", "--quiet", "--package", "docent", "--example", "reference", "--", page];
        let output = Command::new(env!("CARGO")).args(arguments).current_dir(root).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let path = root.join("docs/reference").join(page).with_extension("md");
        fs::write(&path, &output.stdout).with_context(|| path.display().to_string())?;
        println!("wrote {}", path.display());
    }
    Ok(())
}
