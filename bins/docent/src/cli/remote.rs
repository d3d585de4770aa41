//! Commands that are clients of a running service.

use super::{AttributeArg, CollectionArg, ConditionArg, OutputArgs, SelectionArgs};
use clap::{ArgGroup, Args, Subcommand};
use docent_domain::document::FailureCode;
use docent_domain::file_type::FileTypes;
use docent_domain::id::{ConversationId, DocumentId};
use std::path::PathBuf;

/// Base URL of a service with the default bind address.
pub const DEFAULT_SERVER: &str = "http://127.0.0.1:8000";

/// A running service and the credentials for it.
#[derive(Clone, Args)]
pub struct RemoteArgs {
    /// Base URL of the service.
    #[arg(long, value_name = "URL", env = "DOCENT_SERVER", default_value = DEFAULT_SERVER)]
    pub server: String,
    /// API key; without one the login of `docent login` is used.
    #[arg(long, value_name = "KEY", env = "DOCENT_API_KEY", hide_env_values = true)]
    pub api_key: Option<String>,
    /// File that stores logins; by default `.config/docent/credentials.json` in the home directory.
    #[arg(long, value_name = "FILE", env = "DOCENT_CREDENTIALS")]
    pub credentials: Option<PathBuf>,
}

impl std::fmt::Debug for RemoteArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RemoteArgs({:?})", self.server)
    }
}

/// Arguments of commands that are clients of a running service.
#[derive(Clone, Debug, Args)]
pub struct ClientArgs {
    /// Output format.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Service and credentials.
    #[command(flatten)]
    pub remote: RemoteArgs,
}

/// Arguments of `docent login`.
#[derive(Debug, Args)]
pub struct LoginArgs {
    /// Email address of the account.
    pub email: String,
    /// Read the password from the first line of standard input instead of prompting for it.
    #[arg(long)]
    pub password_stdin: bool,
    /// Code of the account's second factor; without it, an account that has one is asked for it.
    #[arg(long)]
    pub code: Option<String>,
    /// Output format, service and credentials.
    #[command(flatten)]
    pub client: ClientArgs,
}

/// Arguments of `docent ingest`.
#[derive(Debug, Args)]
pub struct IngestArgs {
    /// Files and directories; of a directory, all files with extensions of `--types`, including subdirectories.
    #[arg(required = true, value_name = "FILES")]
    pub files: Vec<PathBuf>,
    /// Wait until each document is ingested or failed, and report pages without searchable text.
    #[arg(long)]
    pub wait: bool,
    /// Types of files to upload from directories, such as pdf,docx or all. The service must accept them too.
    #[arg(long, value_name = "TYPES", env = "DOCENT_UPLOAD_TYPES", default_value = "pdf", value_parser = file_types)]
    pub types: FileTypes,
    /// Files uploaded at the same time, 1 to 16.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub concurrency: u8,
    /// ID or name of the collection for the documents; without this the service's default.
    #[arg(long)]
    pub collection: Option<CollectionArg>,
    /// Output format, service and credentials.
    #[command(flatten)]
    pub client: ClientArgs,
}

fn file_types(text: &str) -> Result<FileTypes, String> {
    FileTypes::parse(text).map_err(|name| format!("`{name}` is not a file type"))
}

/// Arguments of `docent sync`.
#[derive(Debug, Args)]
pub struct SyncArgs {
    /// Directory whose files, with those of its subdirectories, the collection is to have.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// ID or name of the collection.
    #[arg(long)]
    pub collection: CollectionArg,
    /// Print what would be done, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Delete documents of earlier runs whose files are no longer there. Other documents of the collection stay.
    #[arg(long)]
    pub delete: bool,
    /// Also replace and delete documents with a path that other accounts own. They keep their owners, who can change them again.
    #[arg(long)]
    pub all_owners: bool,
    /// Do nothing if more than this share of the documents of earlier runs would be deleted.
    #[arg(long, value_name = "PERCENT", default_value_t = 50, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub max_delete: u8,
    /// Types of files to upload from directories, such as pdf,docx or all. The service must accept them too.
    #[arg(long, value_name = "TYPES", env = "DOCENT_UPLOAD_TYPES", default_value = "pdf", value_parser = file_types)]
    pub types: FileTypes,
    /// Files uploaded at the same time, 1 to 16.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub concurrency: u8,
    /// Output format, service and credentials.
    #[command(flatten)]
    pub client: ClientArgs,
}

/// Arguments of `docent ask`.
#[derive(Debug, Args)]
pub struct AskArgs {
    /// The question; `-` reads it from standard input.
    pub question: String,
    /// Name of the agent to ask.
    #[arg(long, value_name = "NAME", default_value = "chat")]
    pub agent: String,
    /// Continue the conversation with this ID. Its history is sent along, and question and answer are stored in it.
    /// Created if missing.
    #[arg(long, value_name = "ID")]
    pub conversation: Option<ConversationId>,
    /// Continue the most recent conversation; created if there is none.
    #[arg(long = "continue", conflicts_with = "conversation")]
    pub continues_latest: bool,
    /// Also show how the built-in answerer rates the parts of what was found: a table of units by features with their weights, the most
    /// probable first. Needs a service without a language model.
    #[arg(long)]
    pub explain: bool,
    /// Which documents to answer from.
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Output format, service and credentials.
    #[command(flatten)]
    pub client: ClientArgs,
}

/// `docent documents …`
#[derive(Debug, Subcommand)]
pub enum DocumentsCommand {
    /// List documents, newest first: ID, status, date, pages, owner, collections and title.
    List(ListDocumentsArgs),
    /// Show a document: its status, collections, pages, pages without searchable text, and why it failed.
    Show(ShowDocumentArgs),
    /// Show the summary of a document: key sentences with their pages, main headings and suggested questions.
    Summary(ShowDocumentArgs),
    /// Change the collections and attributes of a document.
    Label(LabelArgs),
    /// Delete documents with their files and chunks.
    ///
    /// Exit code 1 if one of them was not deleted.
    Delete(DocumentIdsArgs),
    /// Retry the ingestion of failed documents.
    ///
    /// Exit code 1 if one of them was not queued again.
    Retry(RetryDocumentsArgs),
}

/// Arguments of `docent documents list`.
#[derive(Debug, Args)]
pub struct ListDocumentsArgs {
    /// Only documents with this status.
    #[arg(long, value_parser = ["pending", "ingested", "failed"])]
    pub status: Option<String>,
    /// Only documents whose title contains this text.
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Only documents of the collection with this ID or name.
    #[arg(long)]
    pub collection: Option<CollectionArg>,
    /// Only documents whose attribute compares so, such as 'year>=2024' or 'kind=lease'; can be repeated, then all must.
    #[arg(long = "where", value_name = "CONDITION")]
    pub conditions: Vec<ConditionArg>,
    /// Output format, service and credentials.
    #[command(flatten)]
    pub client: ClientArgs,
}

/// Arguments of `docent documents show` and `summary`.
#[derive(Debug, Args)]
pub struct ShowDocumentArgs {
    /// ID of the document.
    #[arg(value_name = "ID")]
    pub id: DocumentId,
    /// Output format, service and credentials.
    #[command(flatten)]
    pub client: ClientArgs,
}

/// Arguments of `docent documents label`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("label").required(true).multiple(true).args(["add", "remove", "set", "unset"]))]
pub struct LabelArgs {
    /// ID of the document.
    #[arg(value_name = "ID")]
    pub id: DocumentId,
    /// Add it to the collection with this ID or name; can be repeated.
    #[arg(long, value_name = "COLLECTION")]
    pub add: Vec<CollectionArg>,
    /// Take it out of the collection with this ID or name; can be repeated.
    #[arg(long, value_name = "COLLECTION")]
    pub remove: Vec<CollectionArg>,
    /// Set an attribute, such as 'year=2024'; can be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<AttributeArg>,
    /// Remove the attribute with this key; can be repeated.
    #[arg(long, value_name = "KEY")]
    pub unset: Vec<String>,
    /// Output format, service and credentials.
    #[command(flatten)]
    pub client: ClientArgs,
}

/// Arguments of `docent documents retry`.
#[derive(Debug, Args)]
pub struct RetryDocumentsArgs {
    /// IDs of the documents.
    #[arg(required_unless_present = "failed", conflicts_with = "failed", value_name = "ID")]
    pub ids: Vec<DocumentId>,
    /// All documents that failed with this code, such as 'no_extractable_text' after tesseract was installed.
    #[arg(long, value_name = "CODE", value_parser = failure_code)]
    pub failed: Option<FailureCode>,
    /// Output format, service and credentials.
    #[command(flatten)]
    pub client: ClientArgs,
}

fn failure_code(text: &str) -> Result<FailureCode, String> {
    FailureCode::parse(text).ok_or_else(|| {
        let codes: Vec<&str> = FailureCode::ALL.iter().map(|code| code.as_str()).collect();
        format!("expected one of {}", codes.join(", "))
    })
}

/// One or more documents.
#[derive(Debug, Args)]
pub struct DocumentIdsArgs {
    /// IDs of the documents.
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<DocumentId>,
    /// Output format, service and credentials.
    #[command(flatten)]
    pub client: ClientArgs,
}

/// Arguments of `docent search`.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// The search query.
    pub query: String,
    /// The most results, 1 to 50.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=50))]
    pub limit: u64,
    /// Which documents to search.
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Output format, service and credentials.
    #[command(flatten)]
    pub client: ClientArgs,
}
