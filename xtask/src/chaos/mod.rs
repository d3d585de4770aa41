//! `cargo xtask chaos`: kills and restarts everything while documents come and go, and then looks whether anything
//! was lost, stuck, doubled or half deleted.

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

use std::{path::PathBuf, process::ExitCode};

/// How wild it gets.
#[derive(clap::Args)]
pub(crate) struct Chaos {
    /// What the documents go into.
    #[arg(long, value_enum, default_value_t = Profile::Both)]
    profile: Profile,
    /// How many small PDFs are uploaded.
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = clap::value_parser!(u32).range(10..=10_000))]
    documents: u32,
    /// How many of them are deleted, some while they are being ingested. Default: a tenth of the documents.
    #[arg(long, value_name = "N")]
    deletes: Option<u32>,
    /// How often a failed one is tried again. Default: a twentieth of the documents.
    #[arg(long, value_name = "N")]
    retries: Option<u32>,
    /// What repeats the decisions of an earlier run, though not the instants at which they strike.
    #[arg(long)]
    seed: Option<u64>,
    /// The `docent` to start, instead of building the one of this workspace.
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Keep the folder with logs and data, and say where it is. It is kept anyway when something is wrong.
    #[arg(long)]
    keep: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Profile {
    /// SQLite and the embedded vector store: `docent dev`.
    Sqlite,
    /// PostgreSQL, Redis, a vector store that speaks Qdrant's protocol and embeddings over HTTP: `docent serve` and
    /// `docent worker`. PostgreSQL and Redis must be installed.
    Servers,
    /// One after the other.
    Both,
}

impl Chaos {
    #[cfg(feature = "chaos")]
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        run::run(&crate::root()?, self)
    }

    /// Starts this program again as a build that links the servers.
    #[cfg(not(feature = "chaos"))]
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        use anyhow::Context;
        let mut command = std::process::Command::new(env!("CARGO"));
        command.args(["run", "--quiet", "--package", "xtask", "--features", "chaos", "--"]);
        let status = command.args(std::env::args_os().skip(1)).status().context("start of cargo")?;
        Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
