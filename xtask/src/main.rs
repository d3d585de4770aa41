#![doc = include_str!("../README.md")]
#![allow(clippy::print_stdout, reason = "a command-line program prints")]

mod bench;
mod cargo;
mod chaos;
mod fuzz;
mod generate;
#[cfg(feature = "load")]
mod load;
#[cfg(any(feature = "chaos", feature = "load"))]
mod qdrant;
#[cfg(any(feature = "bench", feature = "chaos", feature = "load"))]
mod random;
mod sbom;
mod tidy;

use anyhow::Context;
use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check the rules that the compiler cannot check.
    Tidy,
    /// Update the generated files: references of settings and commands, example environment, OpenAPI document, page of invariants.
    Gen,
    /// Print the software bill of materials of `docent` as CycloneDX JSON.
    Sbom,
    /// Fuzz the parsers of untrusted input for a limited time.
    Fuzz(fuzz::Fuzz),
    /// Run a benchmark in a release build.
    Bench(bench::Arguments),
    /// Kill and restart processes and stores while documents are uploaded and deleted, and check that nothing was lost,
    /// duplicated, left pending or partly deleted.
    Chaos(chaos::Chaos),
    #[cfg(feature = "load")]
    Load(load::Load),
    /// Attack the service, and measure its memory and the latency of ordinary requests with and without the attack.
    #[cfg(not(feature = "load"))]
    Load(bench::Passed),
    /// Run an extraction worker for `bench extract`.
    #[command(hide = true)]
    ExtractWorker {
        /// Socket that receives its peak memory in KiB.
        peak: Option<PathBuf>,
    },
    /// Run a server for the load benchmarks.
    #[cfg(feature = "load")]
    #[command(hide = true, subcommand)]
    BenchPeer(bench::Role),
}

fn main() -> anyhow::Result<ExitCode> {
    match Cli::parse().task {
        Task::Tidy => tidy::run(&root()?).map(|()| ExitCode::SUCCESS),
        Task::Gen => generate::run(&root()?).map(|()| ExitCode::SUCCESS),
        Task::Sbom => sbom::run(&root()?).map(|()| ExitCode::SUCCESS),
        Task::Fuzz(fuzz) => fuzz.run(&root()?),
        Task::Bench(bench) => bench.run(),
        Task::Chaos(chaos) => chaos.run(),
        #[cfg(feature = "load")]
        Task::Load(load) => load.run(),
        #[cfg(not(feature = "load"))]
        Task::Load(_) => bench::restart("load"),
        Task::ExtractWorker { peak } => bench::extract_worker(peak.as_deref()),
        #[cfg(feature = "load")]
        Task::BenchPeer(role) => role.run(),
    }
}

/// The root directory of the workspace.
fn root() -> anyhow::Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(Path::to_owned).context("the workspace has a root directory")
}

/// The last lines of the log of a process, for an error.
#[cfg(any(feature = "chaos", feature = "load"))]
fn last_lines(log: &Path) -> String {
    let log = std::fs::read(log).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
