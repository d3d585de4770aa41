//! Benchmarks. `cargo xtask bench …` restarts itself as a release build with the feature of the benchmark: `bench` links
//! the crates under test; `load` links clients that measure the program from outside.

#[cfg(feature = "bench")]
mod extract;
#[cfg(any(feature = "load", test))]
mod figures;
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
#[cfg(feature = "bench")]
mod ocr;
#[cfg(feature = "load")]
mod peer;
#[cfg(feature = "load")]
mod report;
#[cfg(feature = "load")]
mod restore;
#[cfg(feature = "load")]
mod scale;
#[cfg(feature = "bench")]
mod search;
#[cfg(feature = "load")]
pub(crate) mod service;
#[cfg(feature = "load")]
mod sse;
mod start;
#[cfg(feature = "bench")]
mod synthetic;
#[cfg(feature = "bench")]
mod tables;
#[cfg(feature = "load")]
pub(crate) mod wire;
#[cfg(any(feature = "bench", feature = "load"))]
mod words;

#[cfg(feature = "load")]
pub(crate) use peer::Role;

use clap::Subcommand;
#[cfg(feature = "bench")]
use search::Server;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A benchmark and what it measures.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Measure this build of the program, instead of building one. Several are measured one after the other. The benchmarks of
    /// extraction, tables, recognition and the embedded index measure the crates instead.
    #[arg(long = "program", global = true, value_name = "PATH")]
    programs: Vec<PathBuf>,
    #[command(subcommand)]
    bench: Bench,
}

/// Builds of the program.
pub(crate) struct Programs(Vec<PathBuf>);

impl Programs {
    /// The paths. Without any, the program is built in release mode.
    fn paths(self) -> anyhow::Result<Vec<PathBuf>> {
        if !self.0.is_empty() {
            return Ok(self.0);
        }
        Ok(vec![crate::cargo::build(&crate::root()?, &["--release", "--package", "docent"])?])
    }
}

/// Runs a measurement with each program and an empty directory, which is removed afterwards, and prints a table of the figures.
#[cfg(feature = "load")]
fn in_folder(
    programs: Programs,
    measure: impl AsyncFn(&Path, &Path) -> anyhow::Result<Vec<figures::Figure>>,
) -> anyhow::Result<ExitCode> {
    let programs = programs.paths()?;
    let mut measured = Vec::new();
    for program in &programs {
        if programs.len() > 1 {
            println!("{}:", program.display());
        }
        let folder = tempfile::tempdir()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        measured.push(tokio::task::LocalSet::new().block_on(&runtime, measure(program, folder.path()))?);
    }
    figures::print(&programs, &measured);
    Ok(ExitCode::SUCCESS)
}

/// Total size in bytes of the files in a directory.
#[cfg(any(feature = "bench", feature = "load"))]
fn size_of(folder: &Path) -> anyhow::Result<u64> {
    let mut size = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        size += if metadata.is_dir() { size_of(&entry.path())? } else { metadata.len() };
    }
    Ok(size)
}

/// The benchmarks.
#[derive(Subcommand)]
pub(crate) enum Bench {
    /// Extract the text of all PDFs of a directory, and compare with `pdftotext` if it is installed.
    Extract {
        /// Directory with PDFs.
        folder: PathBuf,
        /// Print a line for each file.
        #[arg(long)]
        each: bool,
        /// Write the text of each file to this directory, with form feeds between pages.
        #[arg(long, value_name = "FOLDER")]
        keep: Option<PathBuf>,
    },
    /// Compare the tables of PDFs with tables written by hand.
    Tables {
        /// Directory with a file per table: lines `file: PATH` and `page: NUMBER`, then the table in Markdown.
        gold: PathBuf,
        /// Directory that the paths of the PDFs start from.
        files: PathBuf,
        /// Print a line for each table.
        #[arg(long)]
        each: bool,
    },
    /// Recognise text on scans that are drawn and degraded: word errors by kind, time and memory. Needs tesseract.
    Ocr {
        /// Number of pages of each kind.
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
        pages: u32,
    },
    /// Fill the embedded index with synthetic chunks and search it.
    Index {
        /// Number of chunks.
        #[arg(long, default_value_t = 100_000)]
        chunks: u32,
        /// Add dense vectors with this many dimensions to chunks and queries.
        #[arg(long, default_value_t = 0, value_name = "N")]
        dimensions: usize,
    },
    /// Search the embedded index or a Qdrant server at several sizes, including ranking.
    Search {
        /// Numbers of chunks, measured one after the other.
        #[arg(long, value_delimiter = ',', default_values_t = [1_000, 10_000, 100_000, 1_000_000], value_parser = clap::value_parser!(u32).range(1..))]
        sizes: Vec<u32>,
        /// Keep the indexes in this directory, and reuse existing ones.
        #[arg(long, value_name = "FOLDER")]
        keep: Option<PathBuf>,
        /// gRPC address of a Qdrant server to search instead, such as http://localhost:6334. Its collections docent_bench_N are filled and
        /// stay there.
        #[arg(long, value_name = "URL")]
        qdrant: Option<String>,
        /// Create the collections of the Qdrant server on disk, with quantised dense vectors.
        #[arg(long, requires = "qdrant")]
        on_disk: bool,
        /// Step of a child process.
        #[cfg(feature = "bench")]
        #[arg(long, hide = true, requires = "keep")]
        step: Option<search::Step>,
    },
    /// Measure the start-up time and idle memory of the program.
    Start {
        /// Number of starts.
        #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u16).range(1..))]
        runs: u16,
    },
    /// Measure start, requests, chat streams and ingestion one after the other, and print one table in Markdown.
    Report(Report),
    /// Measure document requests over HTTP, compared with an empty handler.
    Http(Http),
    /// Open many concurrent chat streams.
    Sse(Sse),
    /// Measure ingestion from upload until the documents are searchable.
    Ingest(Ingest),
    /// Measure the lists of the API and the panel with many records, on both databases.
    Lists(Lists),
    /// Compare the times of failed logins to existing and unknown accounts.
    Login(Login),
    /// Compare answers before and after restoring a backup into the other profile.
    Restore(Restore),
    /// Fill an installation with many documents and accounts, then measure searches, memory, disk, start, backup and reindexing.
    Scale(Scale),
}

#[cfg(feature = "load")]
pub(crate) use {
    http::Load as Http, ingest::Load as Ingest, lists::Load as Lists, login::Load as Login,
    report::Load as Report, restore::Load as Restore, scale::Load as Scale, sse::Load as Sse,
};

/// Arguments for the build with the feature `load`, passed through.
#[cfg(not(feature = "load"))]
#[derive(clap::Args)]
pub(crate) struct Passed {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<String>,
}
#[cfg(not(feature = "load"))]
pub(crate) use {
    Passed as Http, Passed as Ingest, Passed as Lists, Passed as Login, Passed as Report, Passed as Restore,
    Passed as Scale, Passed as Sse,
};

impl Arguments {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        self.bench.run(Programs(self.programs))
    }
}

impl Bench {
    fn run(self, programs: Programs) -> anyhow::Result<ExitCode> {
        match self {
            // Needs no feature.
            Self::Start { runs } => start::run(programs, runs.into()),
            #[cfg(feature = "bench")]
            Self::Extract { folder, each, keep } => extract::run(&folder, each, keep.as_deref()),
            #[cfg(feature = "bench")]
            Self::Tables { gold, files, each } => tables::run(&gold, &files, each),
            #[cfg(feature = "bench")]
            Self::Ocr { pages } => ocr::run(pages),
            #[cfg(feature = "bench")]
            Self::Index { chunks, dimensions } => index::run(chunks, dimensions),
            #[cfg(feature = "bench")]
            Self::Search { sizes, keep: Some(keep), qdrant, on_disk, step: Some(step) } => {
                search::step(sizes[0], &keep, Server::of(qdrant.as_deref(), on_disk), step)
            }
            #[cfg(feature = "bench")]
            Self::Search { sizes, keep, qdrant, on_disk, .. } => {
                search::run(&sizes, keep.as_deref(), Server::of(qdrant.as_deref(), on_disk))
            }
            #[cfg(not(feature = "bench"))]
            Self::Extract { .. }
            | Self::Tables { .. }
            | Self::Ocr { .. }
            | Self::Index { .. }
            | Self::Search { .. } => restart("bench"),
            #[cfg(feature = "load")]
            Self::Report(load) => report::run(programs, load),
            #[cfg(feature = "load")]
            Self::Http(load) => http::run(programs, load),
            #[cfg(feature = "load")]
            Self::Sse(load) => sse::run(programs, load),
            #[cfg(feature = "load")]
            Self::Ingest(load) => ingest::run(programs, load),
            #[cfg(feature = "load")]
            Self::Lists(load) => lists::run(programs, &load),
            #[cfg(feature = "load")]
            Self::Login(load) => login::run(programs, &load),
            #[cfg(feature = "load")]
            Self::Restore(load) => restore::run(programs, &load),
            #[cfg(feature = "load")]
            Self::Scale(load) => scale::run(programs, &load),
            #[cfg(not(feature = "load"))]
            Self::Report(_)
            | Self::Http(_)
            | Self::Sse(_)
            | Self::Ingest(_)
            | Self::Lists(_)
            | Self::Login(_)
            | Self::Restore(_)
            | Self::Scale(_) => restart("load"),
        }
    }
}

/// Restarts this program as a release build with a feature.
#[cfg(not(all(feature = "bench", feature = "load")))]
pub(crate) fn restart(feature: &str) -> anyhow::Result<ExitCode> {
    use anyhow::Context;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = std::process::Command::new(cargo);
    command.args(["run", "--release", "--package", "xtask", "--features", feature, "--"]);
    let status = command.args(std::env::args_os().skip(1)).status().context("starting cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(feature = "bench")]
pub(crate) fn extract_worker(peak: Option<&Path>) -> anyhow::Result<ExitCode> {
    extract::worker(peak)
}

#[cfg(not(feature = "bench"))]
pub(crate) fn extract_worker(_: Option<&Path>) -> anyhow::Result<ExitCode> {
    anyhow::bail!("this build has no extraction worker; run `cargo xtask bench extract`")
}
