//! Writes the generated files: references of settings and commands, example environment, OpenAPI document.

use anyhow::{Context, ensure};
use std::{fs, path::Path, process::Command};

/// Pages printed by `bins/docent/examples/reference.rs`, and their files.
const PAGES: &[(&str, &str)] = &[
    ("configuration", "docs/reference/configuration.md"),
    ("environment", "deploy/.env.example"),
    ("cli", "docs/reference/cli.md"),
    ("openapi", "docs/reference/openapi.json"),
];

pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    for (page, file) in PAGES {
        let arguments = ["run", "--quiet", "--package", "docent", "--example", "reference", "--", page];
        let output = Command::new(env!("CARGO")).args(arguments).current_dir(root).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let path = root.join(file);
        fs::write(&path, &output.stdout).with_context(|| path.display().to_string())?;
        println!("wrote {}", path.display());
    }
    Ok(())
}
