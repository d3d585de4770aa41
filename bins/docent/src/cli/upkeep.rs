//! The commands that look after an installation, and that measure.

use super::{OutputArgs, ProfileArgs};
use clap::Args;
use std::{net::SocketAddr, path::PathBuf};

/// What `docent healthcheck` takes.
#[derive(Clone, Copy, Debug, Args)]
pub struct HealthcheckArgs {
    /// Where to ask; DOCENT_BIND_ADDRESS when left out.
    #[arg(long, value_name = "HOST:PORT")]
    pub address: Option<SocketAddr>,
    /// How results are given.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Which installation.
    #[command(flatten)]
    pub profile: ProfileArgs,
}

/// What `docent doctor` takes.
#[derive(Clone, Copy, Debug, Args)]
pub struct DoctorArgs {
    /// Mend what can be mended.
    #[arg(long)]
    pub fix: bool,
    /// How results are given.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Which installation.
    #[command(flatten)]
    pub profile: ProfileArgs,
}

/// What `docent reindex` takes.
#[derive(Debug, Args)]
pub struct ReindexArgs {
    /// The embedding model, by its name at DOCENT_EMBEDDING_BASE_URL, or `builtin`; the settings' when left out.
    #[arg(long, value_name = "NAME")]
    pub embedding_model: Option<String>,
    /// Give up the build under way.
    #[arg(long, conflicts_with = "embedding_model")]
    pub abandon: bool,
    /// How results are given.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Which installation.
    #[command(flatten)]
    pub profile: ProfileArgs,
}

/// What `docent backup` takes.
#[derive(Debug, Args)]
pub struct BackupArgs {
    /// The file to make, which must not exist; `-` is standard output, and results go to standard error then.
    pub file: PathBuf,
    /// How results are given.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Which installation.
    #[command(flatten)]
    pub profile: ProfileArgs,
}

/// What `docent restore` takes.
#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// The archive.
    pub file: PathBuf,
    /// How results are given.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Which installation.
    #[command(flatten)]
    pub profile: ProfileArgs,
}

/// What `docent eval` takes.
#[derive(Debug, Args)]
pub struct EvalArgs {
    /// The questions: a file with one JSON object a line.
    pub questions: PathBuf,
    /// The folder with the PDFs that the questions are about.
    #[arg(long, value_name = "DIR", required_unless_present = "reuse")]
    pub pdfs: Option<PathBuf>,
    /// Take the first N files alone, and the questions about them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit_files: Option<u32>,
    /// Name the documents doc-01.pdf, doc-02.pdf and so on, so that file names do not help.
    #[arg(long)]
    pub neutral_titles: bool,
    /// How many passages the recall of evidence looks at.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=50))]
    pub top: u8,
    /// Let the built-in answerer answer each question, and report how often it quotes the right page.
    #[arg(long)]
    pub answers: bool,
    /// Questions that no document answers, one JSON object a line: report how often the built-in answerer says so.
    #[arg(long, value_name = "FILE")]
    pub unanswerable: Option<PathBuf>,
    /// Write everything, question by question, into this file as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Keep what was ingested in this folder, which must be new or empty.
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Take what an earlier run kept, instead of ingesting.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["pdfs", "keep", "limit_files", "neutral_titles"])]
    pub reuse: Option<PathBuf>,
}
