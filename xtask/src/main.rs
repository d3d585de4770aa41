#![doc = include_str!("../README.md")]
#![allow(clippy::print_stdout, reason = "its output is for the terminal")]

mod bench;
mod chaos;
mod fuzz;
mod generate;
#[cfg(any(feature = "chaos", feature = "load"))]
mod qdrant;
mod tidy;

use anyhow::Context;
use clap::{Parser, Subcommand};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

#[derive(Parser)]
#[command(name = "cargo xtask", about)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check the rules that the compiler cannot.
    Tidy,
    /// Write the references of settings and of the command line, the example of an environment and the OpenAPI document again.
    Gen,
    /// Feed hostile input to what reads bytes of strangers, for a bounded time.
    Fuzz(fuzz::Fuzz),
    /// Measure a part of Docent, in a release build.
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Kill and restart processes and stores while documents come and go, and look whether anything was lost,
    /// stuck, doubled or half deleted.
    Chaos(chaos::Chaos),
    /// Be an extraction worker, as `bench extract` starts it.
    #[command(hide = true)]
    ExtractWorker {
        /// Where to write the most memory it had, in KiB.
        peak: PathBuf,
    },
    /// Be a server that the load benchmarks ask.
    #[cfg(feature = "load")]
    #[command(hide = true, subcommand)]
    BenchPeer(bench::Role),
}

fn main() -> anyhow::Result<ExitCode> {
    match Cli::parse().task {
        Task::Tidy => tidy::run(&root()?).map(|()| ExitCode::SUCCESS),
        Task::Gen => generate::run(&root()?).map(|()| ExitCode::SUCCESS),
        Task::Fuzz(fuzz) => fuzz.run(&root()?),
        Task::Bench(bench) => bench.run(),
        Task::Chaos(chaos) => chaos.run(),
        Task::ExtractWorker { peak } => bench::extract_worker(&peak),
        #[cfg(feature = "load")]
        Task::BenchPeer(role) => role.play(),
    }
}

/// The workspace's folder.
fn root() -> anyhow::Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(Path::to_owned).context("the workspace has a folder")
}
