//! Checks, generators and benchmarks of the workspace: `cargo xtask --help`.
// A tool for the terminal: what it finds goes to standard output.
#![allow(clippy::print_stdout)]

mod bench;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Measure a part of Docent, in a release build.
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Be an extraction worker, as `bench extract` starts it.
    #[command(hide = true)]
    ExtractWorker {
        /// Where to write the most memory it had, in KiB.
        peak: std::path::PathBuf,
    },
}

fn main() -> anyhow::Result<ExitCode> {
    match Cli::parse().task {
        Task::Bench(bench) => bench.run(),
        Task::ExtractWorker { peak } => bench::extract_worker(&peak),
    }
}
