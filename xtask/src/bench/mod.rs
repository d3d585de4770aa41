//! Benchmarks. They link what they measure, which the checks do without: behind the feature `bench`
//! `cargo xtask bench …` starts itself again as a release build with that feature.

#[cfg(feature = "bench")]
mod extract;
#[cfg(feature = "bench")]
mod index;
mod start;

use clap::Subcommand;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// The benchmarks.
#[derive(Subcommand)]
pub(crate) enum Bench {
    /// Extract the text of all PDFs of a folder, beside `pdftotext` where that is installed.
    Extract {
        /// A folder with PDFs.
        folder: PathBuf,
        /// Print a line for each file.
        #[arg(long)]
        each: bool,
        /// Write the text of each file into this folder, pages separated by form feeds.
        #[arg(long, value_name = "FOLDER")]
        keep: Option<PathBuf>,
    },
    /// Fill the embedded index with synthetic chunks and search it.
    Index {
        /// How many chunks.
        #[arg(long, default_value_t = 100_000)]
        chunks: u32,
        /// Give chunks and queries dense vectors of so many dimensions too.
        #[arg(long, default_value_t = 0, value_name = "N")]
        dimensions: usize,
    },
    /// Start the program and see how soon it answers, and how much memory it takes when idle.
    Start {
        /// How often.
        #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u16).range(1..))]
        runs: u16,
    },
}

#[cfg(feature = "bench")]
impl Bench {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Extract { folder, each, keep } => extract::run(&folder, each, keep.as_deref()),
            Self::Index { chunks, dimensions } => index::run(chunks, dimensions),
            Self::Start { runs } => start::run(&crate::root()?, runs.into()),
        }
    }
}

#[cfg(feature = "bench")]
pub(crate) fn extract_worker(peak: &Path) -> anyhow::Result<ExitCode> {
    extract::worker(peak)
}

#[cfg(not(feature = "bench"))]
impl Bench {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        use anyhow::Context;
        // This one measures the program itself, and links none of it.
        if let Self::Start { runs } = self {
            return start::run(&crate::root()?, runs.into());
        }
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = std::process::Command::new(cargo);
        command.args(["run", "--release", "--package", "xtask", "--features", "bench", "--"]);
        let status = command.args(std::env::args_os().skip(1)).status().context("start of cargo")?;
        Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

#[cfg(not(feature = "bench"))]
pub(crate) fn extract_worker(_: &Path) -> anyhow::Result<ExitCode> {
    anyhow::bail!("this build has no worker; `cargo xtask bench extract` makes one that has")
}
