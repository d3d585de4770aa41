//! The commands that are clients of a running service.

use super::OutputArgs;
use clap::{Args, Subcommand};
use docent_domain::id::{ConversationId, DocumentId};
use std::path::PathBuf;

/// Where a service is that nobody has moved.
pub const DEFAULT_SERVER: &str = "http://127.0.0.1:8000";

/// A running service, and how one proves who one is there.
#[derive(Clone, Args)]
pub struct RemoteArgs {
    /// The service's address.
    #[arg(long, value_name = "URL", env = "DOCENT_SERVER", default_value = DEFAULT_SERVER)]
    pub server: String,
    /// An API key; without one the login of `docent login` is used.
    #[arg(long, value_name = "KEY", env = "DOCENT_API_KEY", hide_env_values = true)]
    pub api_key: Option<String>,
    /// The file that logins are kept in; `.config/docent/credentials.json` in the home folder when left out.
    #[arg(long, value_name = "FILE", env = "DOCENT_CREDENTIALS")]
    pub credentials: Option<PathBuf>,
}

impl std::fmt::Debug for RemoteArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RemoteArgs({:?})", self.server)
    }
}

/// What `docent login` takes.
#[derive(Debug, Args)]
pub struct LoginArgs {
    /// The account's e-mail address.
    pub email: String,
    /// Read the password from the first line of standard input instead of asking for it.
    #[arg(long)]
    pub password_stdin: bool,
    /// How results are given.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The service.
    #[command(flatten)]
    pub remote: RemoteArgs,
}

/// What `docent logout` takes.
#[derive(Debug, Args)]
pub struct LogoutArgs {
    /// How results are given.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The service.
    #[command(flatten)]
    pub remote: RemoteArgs,
}

/// What `docent ingest` takes.
#[derive(Debug, Args)]
pub struct IngestArgs {
    /// PDFs, and folders: of a folder, all files below it whose names end in .pdf.
    #[arg(required = true, value_name = "FILES")]
    pub files: Vec<PathBuf>,
    /// Wait until each document is ingested or has failed, and say what of it cannot be found.
    #[arg(long)]
    pub wait: bool,
    /// How many files are uploaded at once, 1 to 16.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub concurrency: u8,
    /// How results are given.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The service.
    #[command(flatten)]
    pub remote: RemoteArgs,
}

/// What `docent ask` takes.
#[derive(Debug, Args)]
pub struct AskArgs {
    /// The question; `-` reads it from standard input.
    pub question: String,
    /// The agent to ask.
    #[arg(long, value_name = "NAME", default_value = "chat")]
    pub agent: String,
    /// Ask in the conversation with this id: it keeps question and answer, and what was said in it before is known.
    /// One that there is not yet is begun.
    #[arg(long, value_name = "ID")]
    pub conversation: Option<ConversationId>,
    /// Ask in the conversation in which something was said last; the first one is begun.
    #[arg(long = "continue", conflicts_with = "conversation")]
    pub go_on: bool,
    /// How the answer is given: with --json as one object when it is over.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The service.
    #[command(flatten)]
    pub remote: RemoteArgs,
}

/// `docent documents …`
#[derive(Debug, Subcommand)]
pub enum DocumentsCommand {
    /// List documents, newest first.
    List(ListDocumentsArgs),
    /// Show what became of a document: its pages, what of it cannot be found, or why it failed.
    Show(ShowDocumentArgs),
    /// Delete documents with their files and chunks.
    ///
    /// Ends with 1 when one of them was not deleted.
    Delete(NamedDocumentsArgs),
    /// Try the ingestion of failed documents anew.
    ///
    /// Ends with 1 when one of them is not tried.
    Retry(NamedDocumentsArgs),
}

/// What `docent documents list` takes.
#[derive(Debug, Args)]
pub struct ListDocumentsArgs {
    /// Only those in this state.
    #[arg(long, value_parser = ["pending", "ingested", "failed"])]
    pub status: Option<String>,
    /// Only those whose title holds this text.
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// How results are given.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The service.
    #[command(flatten)]
    pub remote: RemoteArgs,
}

/// What `docent documents show` takes.
#[derive(Debug, Args)]
pub struct ShowDocumentArgs {
    /// The document's id.
    #[arg(value_name = "ID")]
    pub id: DocumentId,
    /// How results are given.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The service.
    #[command(flatten)]
    pub remote: RemoteArgs,
}

/// Documents by their ids.
#[derive(Debug, Args)]
pub struct NamedDocumentsArgs {
    /// The documents' ids.
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<DocumentId>,
    /// How results are given.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The service.
    #[command(flatten)]
    pub remote: RemoteArgs,
}

/// What `docent search` takes.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// What to search for.
    pub query: String,
    /// How many passages to give, 1 to 50.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=50))]
    pub limit: u64,
    /// Only in the document with this id; may be given several times.
    #[arg(long = "document", value_name = "ID")]
    pub documents: Vec<DocumentId>,
    /// How results are given.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The service.
    #[command(flatten)]
    pub remote: RemoteArgs,
}
