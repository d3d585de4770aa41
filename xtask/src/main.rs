//! Checks, generators and benchmarks of the workspace: `cargo xtask <command>`.
#![expect(clippy::print_stdout, reason = "its output is for the terminal")]

mod generate;
mod tidy;

use anyhow::{Context, bail};
use std::path::{Path, PathBuf};

const USAGE: &str = "\
cargo xtask <command>

  tidy    check the rules that the compiler cannot
  gen     write the generated pages of docs/reference again";

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["tidy"] => tidy::run(&root()?),
        ["gen"] => generate::run(&root()?),
        _ => bail!("{USAGE}"),
    }
}

/// The workspace's folder.
fn root() -> anyhow::Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(Path::to_owned).context("the workspace has a folder")
}
