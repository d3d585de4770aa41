//! Benchmarks. They link what the checks do without: `cargo xtask bench …` starts itself again as a release
//! build with the feature that its benchmark is behind. With `bench` it links the parts that it measures;
//! with `load` it links clients, for the program is measured from outside.

#[cfg(feature = "bench")]
mod extract;
#[cfg(feature = "load")]
mod http;
#[cfg(feature = "bench")]
mod index;
#[cfg(feature = "load")]
mod ingest;
#[cfg(feature = "load")]
mod lists;
#[cfg(feature = "load")]
mod login;
#[cfg(feature = "load")]
mod peer;
#[cfg(feature = "load")]
mod restore;
#[cfg(feature = "bench")]
mod search;
#[cfg(feature = "load")]
mod service;
#[cfg(feature = "load")]
mod sse;
mod start;
#[cfg(feature = "bench")]
mod synthetic;
#[cfg(feature = "load")]
mod wire;

#[cfg(feature = "load")]
pub(crate) use peer::Role;

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
    /// Search the embedded index at several sizes, ranking included.
    Search {
        /// How many chunks, one after the other.
        #[arg(long, value_delimiter = ',', default_values_t = [1_000, 10_000, 100_000, 1_000_000], value_parser = clap::value_parser!(u32).range(1..))]
        sizes: Vec<u32>,
        /// Keep the indexes below this folder, and use those that are there already.
        #[arg(long, value_name = "FOLDER")]
        keep: Option<PathBuf>,
        /// What a process that this one starts does.
        #[cfg(feature = "bench")]
        #[arg(long, hide = true, requires = "keep")]
        step: Option<search::Step>,
    },
    /// Start the program and see how soon it answers, and how much memory it takes when idle.
    Start {
        /// How often.
        #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u16).range(1..))]
        runs: u16,
    },
    /// Ask the service for documents over HTTP, beside a handler that does nothing.
    Http(Http),
    /// Open many chat streams at once.
    Sse(Sse),
    /// Upload PDFs and follow them until they can be found.
    Ingest(Ingest),
    /// Open the lists of the API and of the panel with many documents and accounts, on both databases.
    Lists(Lists),
    /// Try to log in with a wrong password to an account that exists and to ones that do not.
    Login(Login),
    /// Ask questions, move the installation to the other profile and ask them again.
    Restore(Restore),
}

#[cfg(feature = "load")]
pub(crate) use {
    http::Load as Http, ingest::Load as Ingest, lists::Load as Lists, login::Load as Login,
    restore::Load as Restore, sse::Load as Sse,
};

/// Arguments that the build with the feature `load` reads.
#[cfg(not(feature = "load"))]
#[derive(clap::Args)]
pub(crate) struct Passed {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<String>,
}
#[cfg(not(feature = "load"))]
pub(crate) use {
    Passed as Http, Passed as Ingest, Passed as Lists, Passed as Login, Passed as Restore, Passed as Sse,
};

impl Bench {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            // This one links nothing.
            Self::Start { runs } => start::run(&crate::root()?, runs.into()),
            #[cfg(feature = "bench")]
            Self::Extract { folder, each, keep } => extract::run(&folder, each, keep.as_deref()),
            #[cfg(feature = "bench")]
            Self::Index { chunks, dimensions } => index::run(chunks, dimensions),
            #[cfg(feature = "bench")]
            Self::Search { sizes, keep: Some(keep), step: Some(step) } => search::step(sizes[0], &keep, step),
            #[cfg(feature = "bench")]
            Self::Search { sizes, keep, .. } => search::run(&sizes, keep.as_deref()),
            #[cfg(not(feature = "bench"))]
            Self::Extract { .. } | Self::Index { .. } | Self::Search { .. } => again("bench"),
            #[cfg(feature = "load")]
            Self::Http(load) => http::run(&crate::root()?, load),
            #[cfg(feature = "load")]
            Self::Sse(load) => sse::run(&crate::root()?, load),
            #[cfg(feature = "load")]
            Self::Ingest(load) => ingest::run(&crate::root()?, load),
            #[cfg(feature = "load")]
            Self::Lists(load) => lists::run(&crate::root()?, &load),
            #[cfg(feature = "load")]
            Self::Login(load) => login::run(&crate::root()?, &load),
            #[cfg(feature = "load")]
            Self::Restore(load) => restore::run(&crate::root()?, &load),
            #[cfg(not(feature = "load"))]
            Self::Http(_)
            | Self::Sse(_)
            | Self::Ingest(_)
            | Self::Lists(_)
            | Self::Login(_)
            | Self::Restore(_) => again("load"),
        }
    }
}

/// Starts this program again as a release build with `feature`, for the same task.
#[cfg(not(all(feature = "bench", feature = "load")))]
fn again(feature: &str) -> anyhow::Result<ExitCode> {
    use anyhow::Context;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = std::process::Command::new(cargo);
    command.args(["run", "--release", "--package", "xtask", "--features", feature, "--"]);
    let status = command.args(std::env::args_os().skip(1)).status().context("start of cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(feature = "bench")]
pub(crate) fn extract_worker(peak: &Path) -> anyhow::Result<ExitCode> {
    extract::worker(peak)
}

#[cfg(not(feature = "bench"))]
pub(crate) fn extract_worker(_: &Path) -> anyhow::Result<ExitCode> {
    anyhow::bail!("this build has no worker; `cargo xtask bench extract` makes one that has")
}
