//! Commands for operating and evaluating an installation.

use super::{ConditionArg, InstallationArgs};
use crate::config::parse_duration;
use chrono::NaiveDate;
use clap::{Args, Subcommand};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `docent healthcheck`.
#[derive(Clone, Copy, Debug, Args)]
pub struct HealthcheckArgs {
    /// Address of the server; by default DOCENT_BIND_ADDRESS.
    #[arg(long, value_name = "HOST:PORT")]
    pub address: Option<SocketAddr>,
    /// Output format and settings profile.
    #[command(flatten)]
    pub installation: InstallationArgs,
}

/// Arguments of `docent doctor`.
#[derive(Clone, Copy, Debug, Args)]
pub struct DoctorArgs {
    /// Repair the problems that can be repaired.
    #[arg(long)]
    pub fix: bool,
    /// Output format and settings profile.
    #[command(flatten)]
    pub installation: InstallationArgs,
}

/// Arguments of `docent reindex`.
#[derive(Debug, Args)]
pub struct ReindexArgs {
    /// Embedding model: its name at DOCENT_EMBEDDING_BASE_URL, `builtin`, or `local:DIR`; by default the one in the settings.
    #[arg(long, value_name = "NAME")]
    pub embedding_model: Option<String>,
    /// Discard the unfinished build.
    #[arg(long, conflicts_with = "embedding_model")]
    pub abandon: bool,
    /// Output format and settings profile.
    #[command(flatten)]
    pub installation: InstallationArgs,
}

/// `docent llm …`
#[derive(Clone, Copy, Debug, Subcommand)]
pub enum LlmCommand {
    /// Check that the chat model and the embedding back end can be used, and print the settings that they
    /// need.
    ///
    /// Sends a few requests to DOCENT_LLM_BASE_URL and DOCENT_EMBEDDING_BASE_URL and says for each that fails
    /// what to do. Each answer is limited to 2048 tokens. No other part of the installation is used; a
    /// service may be running. The last lines are settings as NAME=VALUE. Exit codes: 0 if the models can be
    /// used with these settings, 1 if they cannot or if none is connected, 2 if the settings are invalid.
    Check(LlmCheckArgs),
}

/// Arguments of `docent llm check`.
#[derive(Clone, Copy, Debug, Args)]
pub struct LlmCheckArgs {
    /// Longest duration of the check. A step takes at most half of it, such as one in which the model is
    /// loaded.
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, default_value = "5m")]
    pub timeout: Duration,
    /// Output format and settings profile.
    #[command(flatten)]
    pub installation: InstallationArgs,
}

/// `docent audit …`
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Export old entries to a file, one JSON object per line, and remove them.
    ///
    /// Nothing is removed unless the file is complete. The removal is recorded in the audit log. DOCENT_AUDIT_RETENTION does
    /// the same every day.
    Prune(PruneArgs),
}

/// Arguments of `docent audit prune`.
#[derive(Debug, Args)]
pub struct PruneArgs {
    /// Remove entries before this day (UTC), such as 2026-01-31.
    #[arg(long, value_name = "DATE", required_unless_present = "older_than", conflicts_with = "older_than")]
    pub before: Option<NaiveDate>,
    /// Remove entries older than this, such as 365d.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub older_than: Option<Duration>,
    /// File to create, which must not exist.
    #[arg(long, value_name = "FILE")]
    pub export: PathBuf,
    /// Output format and settings profile.
    #[command(flatten)]
    pub installation: InstallationArgs,
}

/// Parses a duration as settings are.
fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|wrong| format!("the duration {wrong}"))
}

/// Parses a duration that is not zero.
fn positive_duration(text: &str) -> Result<Duration, String> {
    let parsed = duration(text)?;
    if parsed.is_zero() { Err("the duration is zero".to_owned()) } else { Ok(parsed) }
}

/// Arguments of `docent backup`.
#[derive(Debug, Args)]
pub struct BackupArgs {
    /// File to create, which must not exist; with `-` the archive goes to standard output and results to standard error.
    pub file: PathBuf,
    /// Output format and settings profile.
    #[command(flatten)]
    pub installation: InstallationArgs,
}

/// Arguments of `docent restore`.
#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// The archive.
    pub file: PathBuf,
    /// Output format and settings profile.
    #[command(flatten)]
    pub installation: InstallationArgs,
}

/// Arguments of `docent eval`.
#[derive(Debug, Args)]
pub struct EvalArgs {
    /// Files with questions, one JSON object per line. Each is a question set of its own, named like its file.
    #[arg(required = true)]
    pub questions: Vec<PathBuf>,
    /// Directory with the PDFs that the questions are about. With several question files, one for each, in their order.
    #[arg(long, value_name = "DIR", required_unless_present = "reuse")]
    pub pdfs: Vec<PathBuf>,
    /// Use only the first N files and the questions about them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit_files: Option<u32>,
    /// Title the documents doc-01.pdf, doc-02.pdf and so on, so that file names do not affect retrieval.
    #[arg(long)]
    pub neutral_titles: bool,
    /// Search only documents whose attribute compares so, such as 'language=de' or 'pages<100'; can be repeated, then all must.
    /// Questions about other documents are left out.
    #[arg(long = "where", value_name = "CONDITION")]
    pub conditions: Vec<ConditionArg>,
    /// Passages considered for evidence recall, 1 to 50.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=50))]
    pub top: u8,
    /// Answer each question with the built-in answerer, and report how often it quotes the right page, shows all evidence and declines.
    #[arg(long)]
    pub answers: bool,
    /// File with questions that no document answers, one JSON object per line; report how often the built-in answerer
    /// declines them. With several question files, mark such questions in them with "unanswerable": true.
    #[arg(long, value_name = "FILE")]
    pub unanswerable: Option<PathBuf>,
    /// Fit the weights of the built-in answerer to the questions, and write them to this file. Each set is also evaluated with weights
    /// that were fitted to the others.
    #[arg(long, value_name = "FILE", requires = "answers")]
    pub fit: Option<PathBuf>,
    /// Write all results, per question, to this file as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Compare the results with those that an earlier run wrote with --json, question by question.
    #[arg(long, value_name = "FILE")]
    pub compare: Option<PathBuf>,
    /// Keep the ingested documents in this directory, which must be new or empty.
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Use the documents that an earlier run kept with --keep, instead of ingesting.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["pdfs", "keep", "limit_files", "neutral_titles"])]
    pub reuse: Option<PathBuf>,
}
