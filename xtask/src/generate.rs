//! Writes the generated files: references of settings and commands, example environment, OpenAPI document,
//! page of invariants.

use crate::{cargo, tidy};
use anyhow::{Context, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Pages printed by `bins/docent/examples/reference.rs`, and their files.
const PAGES: &[(&str, &str)] = &[
    ("configuration", "docs/reference/configuration.md"),
    ("environment", "deploy/.env.example"),
    ("cli", "docs/reference/cli.md"),
    ("openapi", "docs/reference/openapi.json"),
];

pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    // With `--workspace`, dependencies have the same features as in `cargo test --workspace` and are not built again.
    let program = cargo::build(root, &["--workspace", "--example", "reference", "--quiet"])?;
    for (page, file) in PAGES {
        let output = Command::new(&program).arg(page).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        write(root, file, &output.stdout)?;
    }
    write(root, tidy::invariants::PATH, tidy::invariants(root)?.as_bytes())
}

fn write(root: &Path, file: &str, content: &[u8]) -> anyhow::Result<()> {
    let path = root.join(file);
    fs::write(&path, content).with_context(|| path.display().to_string())?;
    println!("wrote {}", path.display());
    Ok(())
}
