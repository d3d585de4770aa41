//! `cargo xtask chaos`: kills and restarts processes and stores while documents are uploaded, replaced and deleted, and then checks
//! that nothing was lost, duplicated, left pending or partly deleted.

#[cfg(feature = "chaos")]
mod client;
#[cfg(feature = "chaos")]
mod installation;
#[cfg(feature = "chaos")]
mod plan;
#[cfg(feature = "chaos")]
mod process;
#[cfg(feature = "chaos")]
mod run;
#[cfg(feature = "chaos")]
mod verdict;

use std::path::PathBuf;
use std::process::ExitCode;

/// Options of a run.
#[derive(clap::Args)]
pub(crate) struct Chaos {
    /// Stores to test.
    #[arg(long, value_enum, default_value_t = Profile::Both)]
    profile: Profile,
    /// Number of small PDFs to upload.
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = clap::value_parser!(u32).range(10..=10_000))]
    documents: u32,
    /// Number of deletions, some of them during ingestion. Default: a tenth of the documents.
    #[arg(long, value_name = "N")]
    deletes: Option<u32>,
    /// Number of retries of failed documents. Default: a twentieth of the documents.
    #[arg(long, value_name = "N")]
    retries: Option<u32>,
    /// Seed that repeats the decisions of an earlier run, but not their exact timing.
    #[arg(long)]
    seed: Option<u64>,
    /// Program to test, instead of building the one of this workspace.
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Keep the directory with logs and data, and print its path. After a failure it is always kept.
    #[arg(long)]
    keep: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Profile {
    /// SQLite and the embedded vector store: `docent dev`.
    Sqlite,
    /// PostgreSQL, Redis, a Qdrant fake and embeddings over HTTP: `docent serve` and `docent worker`. PostgreSQL and Redis
    /// must be installed.
    Servers,
    /// Both, one after the other.
    Both,
}

impl Chaos {
    #[cfg(feature = "chaos")]
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        run::run(&crate::root()?, self)
    }

    /// Restarts this program with the feature `chaos`.
    #[cfg(not(feature = "chaos"))]
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        use anyhow::Context;
        let mut command = std::process::Command::new(env!("CARGO"));
        command.args(["run", "--quiet", "--package", "xtask", "--features", "chaos", "--"]);
        let status = command.args(std::env::args_os().skip(1)).status().context("starting cargo")?;
        Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
