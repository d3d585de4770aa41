//! Runs the fuzz targets of `tests/fuzz` one after the other, each for a limited time.

use anyhow::{Context, bail, ensure};
use clap::Args;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

const FOLDER: &str = "tests/fuzz";
/// Directory for builds, corpora and crashing inputs.
const OUTPUT: &str = "target/fuzz";
/// Timeout of one input; longer than the PDF worker may take for a document.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Memory limit of a target in MiB: twice that of the PDF worker, because it includes the corpus.
const MEMORY: u32 = 2048;
/// Maximum length of an input in bytes.
const LENGTH: u32 = 8192;

#[derive(Args)]
pub(crate) struct Fuzz {
    /// Seconds per target.
    #[arg(long, default_value_t = 60, value_name = "N")]
    seconds: u32,
    /// Targets to run; by default all.
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
}

impl Fuzz {
    /// Runs the targets; the exit code is a failure if one of them found a problem.
    pub(crate) fn run(self, root: &Path) -> anyhow::Result<ExitCode> {
        let known = targets(root)?;
        for name in &self.targets {
            ensure!(known.contains(name), "unknown target {name}; known targets: {}", known.join(", "));
        }
        check_tools(root)?;
        let chosen = if self.targets.is_empty() { known } else { self.targets };
        let mut finds = Vec::new();
        for target in &chosen {
            println!("== {target}, {} s", self.seconds);
            if !fuzz(root, target, self.seconds)? {
                finds.push(target.as_str());
            }
        }
        if finds.is_empty() {
            println!("== no problems found");
            return Ok(ExitCode::SUCCESS);
        }
        println!("== problems in {}; the inputs are in {OUTPUT}/finds", finds.join(", "));
        Ok(ExitCode::FAILURE)
    }
}

/// The names of all targets.
fn targets(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root.join(FOLDER).join("targets")).context(FOLDER)? {
        let path = entry?.path();
        names.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

fn check_tools(root: &Path) -> anyhow::Result<()> {
    let is_installed = |command: &mut Command| {
        let command = command.current_dir(root).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    if !is_installed(Command::new("cargo").args(["fuzz", "--version"])) {
        bail!("cargo-fuzz is missing: cargo install cargo-fuzz --locked");
    }
    if !is_installed(Command::new("c++").arg("--version")) {
        bail!("a C++ compiler named c++ is missing; on Debian: apt install g++");
    }
    Ok(())
}

/// Runs one target; returns false if it found a problem.
fn fuzz(root: &Path, target: &str, seconds: u32) -> anyhow::Result<bool> {
    let (corpus, finds) = (format!("{OUTPUT}/corpus/{target}"), format!("{OUTPUT}/finds/{target}"));
    for folder in [&corpus, &finds] {
        fs::create_dir_all(root.join(folder)).with_context(|| folder.clone())?;
    }
    // Without a sanitizer the stable toolchain suffices, and the workspace has no unsafe code.
    let mut command = Command::new("cargo");
    command.args(["fuzz", "run", "--fuzz-dir", FOLDER, "--target-dir", OUTPUT, "--sanitizer", "none"]);
    // New inputs are written to the first directory; the seeds are only read.
    command.arg(target).args([corpus, format!("{FOLDER}/seeds/{target}")]).arg("--");
    command.arg(format!("-artifact_prefix={finds}/"));
    command.arg(format!("-dict={FOLDER}/dictionaries/{target}.dict"));
    command.args([format!("-max_total_time={seconds}"), format!("-max_len={LENGTH}")]);
    command.args([format!("-timeout={}", TIMEOUT.as_secs()), format!("-rss_limit_mb={MEMORY}")]);
    command.arg("-print_final_stats=1");
    Ok(command.current_dir(root).status().context("cargo fuzz")?.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_declared_and_have_seeds_and_dictionaries() {
        let root = crate::root().unwrap();
        let manifest = fs::read_to_string(root.join(FOLDER).join("Cargo.toml")).unwrap();
        let targets = targets(&root).unwrap();
        assert!(!targets.is_empty());
        for target in targets {
            assert!(manifest.contains(&format!("path = \"targets/{target}.rs\"")), "{target}");
            let seeds = root.join(FOLDER).join("seeds").join(&target);
            assert!(fs::read_dir(seeds).unwrap().count() > 0, "{target}");
            assert!(root.join(FOLDER).join(format!("dictionaries/{target}.dict")).exists(), "{target}");
        }
    }
}
