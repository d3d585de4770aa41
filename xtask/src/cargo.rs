//! Builds programs of the workspace.

use anyhow::{Context, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs `cargo build` with these arguments and returns the path of the last executable.
///
/// # Errors
/// If the build fails or builds no executable.
pub(crate) fn build(root: &Path, arguments: &[&str]) -> anyhow::Result<PathBuf> {
    let output = Command::new(env!("CARGO"))
        .current_dir(root)
        .args(["build", "--message-format", "json-render-diagnostics"])
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    ensure!(output.status.success(), "the build failed");
    let executable = |line: &str| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    };
    let messages = String::from_utf8_lossy(&output.stdout);
    messages.lines().filter_map(executable).next_back().context("cargo built no executable")
}
