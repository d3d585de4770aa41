//! The command line of `docent`. Help, manual pages, completions and the reference are generated from it.

mod accounts;
mod collections;
mod maintenance;
mod reference;
mod remote;
mod selection;

pub use accounts::{
    AccountArgs, ApiKeysCommand, CollectionRoleArg, CreateKeyArgs, CreateUserArgs, InviteArgs, ListKeysArgs,
    ListUsersArgs, OneUserArgs, RevokeKeyArgs, UsersCommand,
};
pub use collections::{
    ChangeCollectionArgs, CollectionsCommand, CreateCollectionArgs, ListCollectionsArgs, MemberArg,
    MembersCommand, OneCollectionArgs, RemoveMemberArgs, SetMemberArgs,
};
pub use maintenance::{
    AuditCommand, BackupArgs, DoctorArgs, EvalArgs, HealthcheckArgs, LlmCheckArgs, LlmCommand, PruneArgs,
    ReindexArgs, RestoreArgs,
};
pub use reference::reference;
pub use remote::{
    AskArgs, ClientArgs, DEFAULT_SERVER, DocumentIdsArgs, DocumentsCommand, IngestArgs, LabelArgs,
    ListDocumentsArgs, LoginArgs, RemoteArgs, RetryDocumentsArgs, SearchArgs, ShowDocumentArgs, SyncArgs,
};

pub use selection::{AttributeArg, CollectionArg, ConditionArg, SelectionArgs};

use crate::config::Profile;
use clap::{Args, ColorChoice, CommandFactory, Parser, Subcommand};
use std::path::PathBuf;

/// Docent answers questions about documents.
///
/// Settings are environment variables that start with DOCENT_; `docent config` lists them with their
/// current values.
#[derive(Debug, Parser)]
#[command(name = "docent", version, propagate_version = true)]
pub struct Cli {
    /// When to colour output; with `auto` on a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, value_name = "WHEN", default_value_t, value_enum)]
    pub color: ColorChoice,
    /// The command to run; without one the first steps are printed.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands of `docent`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the service with everything built in: no other servers, no network.
    ///
    /// The first run creates the data directory, a secret key and an admin account, ingests a sample guide
    /// and answers a question about it. Later runs start immediately. If the chat model or the embedding back
    /// end does not work, the first run says so, and the service starts nevertheless.
    Dev(DevArgs),
    /// Run the service with production defaults.
    Serve(ServeArgs),
    /// Run background jobs only, alongside any number of `docent serve` processes on the same stores.
    Worker,
    /// Update the database schema.
    Migrate(InstallationArgs),
    /// Create an account with all permissions.
    Createsuperuser(AccountArgs),
    /// Change the password of an account and end all its sessions.
    Changepassword(AccountArgs),
    /// Manage accounts.
    #[command(subcommand)]
    Users(UsersCommand),
    /// Manage API keys, the credentials for programs.
    #[command(subcommand)]
    Apikeys(ApiKeysCommand),
    /// Maintain the audit log.
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Check the connection to the chat model.
    #[command(subcommand)]
    Llm(LlmCommand),
    /// Log in to a running service, for later commands.
    Login(LoginArgs),
    /// Log out of a running service.
    Logout(ClientArgs),
    /// Upload files to a running service, several at once.
    ///
    /// Files of types that the service does not accept are refused before the upload. In a directory,
    /// symbolic links to files of the same directory are followed; links that lead outside of it are named
    /// and not followed. Exit codes: 0 if all files were uploaded (with --wait: ingested), 1 if some were
    /// not, 2 if nothing was started, for example without a login or because all files were refused, 130 if
    /// interrupted. Files uploaded before an interruption stay on the service.
    Ingest(IngestArgs),
    /// Make a collection of a running service have the PDFs of a directory.
    ///
    /// Uploads new files, replaces changed ones, and renames moved ones; compares SHA-256 digests, not times.
    /// Keeps no state of its own: a document has the path of its file in the attribute `path`. Can be
    /// interrupted at any moment and run again. Symbolic links to files of the directory are followed; links
    /// that lead outside of it are named and not followed, and a document that an earlier run made of such a
    /// link is left alone. Exit codes: 0 if the collection has the files, 1 if some changes failed or some
    /// files cannot be read, by this command or by the service, 2 if nothing was done.
    Sync(SyncArgs),
    /// Ask a running service a question; the answer is streamed, followed by its sources with page numbers.
    ///
    /// Exit codes: 0 if the answer is complete, 1 if it was cut off, 2 if there is none, 130 if interrupted.
    Ask(AskArgs),
    /// Search the documents of a running service.
    Search(SearchArgs),
    /// List, show, label, delete or retry documents of a running service.
    #[command(subcommand)]
    Documents(DocumentsCommand),
    /// Manage the collections of a running service and their members.
    #[command(subcommand)]
    Collections(CollectionsCommand),
    /// Run an MCP server on standard input and output that searches the documents of a running service.
    ///
    /// Assistants and editors that support the Model Context Protocol start this command themselves. Log in first, or
    /// pass an API key with the scope `read`.
    Mcp(RemoteArgs),
    /// Evaluate retrieval with your own questions and documents.
    ///
    /// Ingests the PDFs into a temporary installation, runs each question against all documents and against its own
    /// document, and reports how often the right page is found, compared with BM25 and dense baselines. The
    /// embedding and ingestion settings apply; a running service is not used.
    Eval(EvalArgs),
    /// Check whether the server on this machine is ready; for container health checks.
    Healthcheck(HealthcheckArgs),
    /// Check all components, and the consistency of records, jobs, chunks and files.
    ///
    /// Can run while the service runs, except that an embedded vector store that a service has open is not checked.
    /// Exit codes: 0 if no problems were found, 1 if problems remain, 2 if something could not be checked.
    Doctor(DoctorArgs),
    /// Write records, files and chunks to an archive; the service may be running.
    ///
    /// The archive contains documents and password hashes: protect it accordingly.
    Backup(BackupArgs),
    /// Restore an archive into an empty installation.
    Restore(RestoreArgs),
    /// Rebuild the index, for example with another embedding model or because it is damaged, and switch to the new one.
    ///
    /// Can run while the service runs. The current index stays active until the new one is complete; if the command is
    /// interrupted, running it again resumes the build. Exit codes: 0 if the new index is active, 1 if there is an
    /// unfinished build, 2 if nothing was started.
    Reindex(ReindexArgs),
    /// Print every setting with its current value and meaning.
    ///
    /// Exit code 1 if settings are missing or invalid; they are printed with the others, each with what is wrong.
    Config(InstallationArgs),
    /// Print the OpenAPI 3.1 document of the API, which a running service serves at /openapi.json.
    Openapi,
    /// Print the completion script for a shell.
    ///
    /// In bash, zsh and fish it completes the names of collections, and documents by their IDs or by a part of their
    /// titles, with the current login.
    Completions(CompletionsArgs),
    /// Print the values that complete the last word, for the completion scripts. Internal.
    #[command(hide = true)]
    CompleteValues(CompleteValuesArgs),
    /// Print the manual page, or write the pages of all commands to a directory.
    Man(ManArgs),
    /// Extract text from the PDF on standard input, with resource limits. Internal.
    #[command(hide = true)]
    ExtractWorker,
}

/// Output format of a command.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct OutputArgs {
    /// Print results as JSON, one object per line.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of commands that use the installation's stores directly.
#[derive(Clone, Copy, Debug, Args)]
pub struct InstallationArgs {
    /// Output format.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Use the defaults of `docent dev` instead of those of `docent serve`.
    #[arg(long)]
    pub dev: bool,
}

impl InstallationArgs {
    /// The settings profile.
    pub const fn profile(self) -> Profile {
        if self.dev { Profile::Dev } else { Profile::Serve }
    }
}

/// Arguments of `docent dev`.
#[derive(Clone, Copy, Debug, Args)]
pub struct DevArgs {
    /// Skip the sample guide and the question about it on the first run.
    #[arg(long)]
    pub no_sample: bool,
}

/// Arguments of `docent serve`.
#[derive(Clone, Copy, Debug, Args)]
pub struct ServeArgs {
    /// Do not run background jobs; run `docent worker` for them.
    #[arg(long)]
    pub no_jobs: bool,
}

/// Arguments of `docent completions`.
#[derive(Clone, Copy, Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// Arguments of `docent complete-values`.
#[derive(Clone, Debug, Args)]
pub struct CompleteValuesArgs {
    /// Service and credentials, unless the words name others.
    #[command(flatten)]
    pub remote: RemoteArgs,
    /// The words after the name of the program, the last of which is being typed.
    #[arg(last = true)]
    pub words: Vec<String>,
}

/// Arguments of `docent man`.
#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// Write a page for each command to this directory; it is created if missing.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Returns the command line without internal commands and without `help`.
pub fn visible() -> clap::Command {
    let all = Cli::command();
    // clap cannot remove a subcommand, so the command is rebuilt from the visible ones.
    let shown = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let mut visible = clap::Command::new("docent")
        .version(env!("CARGO_PKG_VERSION"))
        .propagate_version(true)
        .disable_help_subcommand(true)
        .args(all.get_arguments().cloned())
        .subcommands(shown);
    if let Some(about) = all.get_about() {
        visible = visible.about(about.clone());
    }
    if let Some(about) = all.get_long_about() {
        visible = visible.long_about(about.clone());
    }
    visible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_definitions_are_valid() {
        Cli::command().debug_assert();
        visible().debug_assert();
    }

    #[test]
    fn help_hides_extract_worker() {
        assert!(!Cli::command().render_long_help().to_string().contains("extract-worker"));
    }

    /// Splits a command into words as a shell would, up to a comment, pipe or redirection.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut is_quoted, mut is_word) = (Vec::new(), String::new(), false, false);
        for c in line.chars() {
            match c {
                '"' => (is_quoted, is_word) = (!is_quoted, true),
                '#' | '|' | '<' | '>' if !is_quoted => break,
                ' ' if !is_quoted => {
                    words.extend(is_word.then(|| std::mem::take(&mut word)));
                    is_word = false;
                }
                c => {
                    word.push(c);
                    is_word = true;
                }
            }
        }
        words.extend(is_word.then_some(word));
        words
    }

    /// The Markdown pages in a directory and its subdirectories.
    fn pages(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
        // The reference is generated from these definitions.
        let is_page = |path: &std::path::PathBuf| {
            path.extension().is_some_and(|kind| kind == "md") && !path.ends_with("reference/cli.md")
        };
        files.into_iter().filter(is_page).chain(folders.iter().flat_map(|below| pages(below))).collect()
    }

    #[test]
    fn commands_in_documentation_parse() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut count = 0;
        for page in pages(&root.join("docs")).into_iter().chain([root.join("README.md")]) {
            let text = std::fs::read_to_string(&page).unwrap();
            for line in text
                .lines()
                .map(str::trim_start)
                .filter(|line| line.starts_with("docent ") && !line.contains(" = "))
            {
                let line = line.replace(" ID", " 01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e");
                let line = line.replace("$ID", "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e");
                let line = line.replace("$DOCUMENT", "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e");
                if let Err(error) = Cli::try_parse_from(words(&line)) {
                    panic!("{}: {line}\n{error}", page.display());
                }
                count += 1;
            }
        }
        assert!(count > 50, "only {count} commands were found");
    }
}
