//! What can be typed after `docent`.

use clap::{Args, Parser, Subcommand};

/// Docent answers questions about documents.
///
/// Settings are environment variables that begin with DOCENT_; `docent config` lists them all with
/// the values in force.
#[derive(Debug, Parser)]
#[command(name = "docent", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve with everything built in: no other server, no network.
    ///
    /// The first run makes the data folder, a secret key and an admin account, ingests a sample guide
    /// and answers a question about it. Later runs start at once.
    Dev(DevArgs),
    /// Serve with the settings of a production installation.
    Serve(ServeArgs),
    /// Run background jobs alone, beside any number of `docent serve` on the same stores.
    Worker,
    /// Bring the database's schema up to date.
    Migrate(ProfileArgs),
    /// Create an account that may do everything.
    Createsuperuser(CreateSuperuserArgs),
    /// Give an account another password; all of its sessions end.
    Changepassword(ChangePasswordArgs),
    /// Manage accounts.
    #[command(subcommand)]
    Users(UsersCommand),
    /// Manage API keys, with which programs use the service.
    #[command(subcommand)]
    Apikeys(ApiKeysCommand),
    /// Log in at a running service, for the commands that follow.
    Login(LoginArgs),
    /// End the login at a running service.
    Logout(RemoteArgs),
    /// List, delete or retry documents of a running service.
    #[command(subcommand)]
    Documents(DocumentsCommand),
    /// Search the documents of a running service.
    Search(SearchArgs),
    /// Offer the documents of a running service to a program on this machine, over standard input and output.
    ///
    /// For assistants and editors that speak the Model Context Protocol: they start this command themselves. Log in
    /// first, or give an API key with the scope `read`.
    Mcp(RemoteArgs),
    /// Measure how well questions of your own are answered from your documents.
    ///
    /// Reads the PDFs into a temporary installation, asks each question of all documents and of its own one, and
    /// reports how often the right page is found, beside plain rankings of the same passages. The settings of
    /// embedding and ingestion apply; no service is touched.
    Eval(EvalArgs),
    /// Ask the server on this machine whether it is ready; for containers.
    Healthcheck(HealthcheckArgs),
    /// Check that every part works, and that records, jobs, chunks and files agree.
    ///
    /// Works beside a running service; only an embedded vector store cannot be looked at while a service has
    /// it open. Ends with 0 when nothing is wrong, 1 when something is, 2 when something could not be checked.
    Doctor(DoctorArgs),
    /// Write records, files and chunks into one archive, also while a service runs.
    ///
    /// The archive holds documents and password hashes: keep it as you keep them.
    Backup(BackupArgs),
    /// Make an installation from an archive; only an empty one can be restored into.
    Restore(RestoreArgs),
    /// Build another index while the first one serves, and let it take over: with another embedding model, or
    /// because the first one is damaged.
    ///
    /// Works beside a running service. Whatever stops it, one index serves, and running it again goes on. Ends
    /// with 0 when the new index serves, 1 when there is a build to go on with, 2 when nothing was begun.
    Reindex(ReindexArgs),
    /// Print every setting, its value in force and what it means.
    Config(ProfileArgs),
    /// Print the API as a document of OpenAPI 3.1, the one that a service has at /openapi.json.
    Openapi,
    /// Read a PDF on standard input under limits; for the server's own use.
    #[command(hide = true)]
    ExtractWorker,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ProfileArgs {
    /// Use the defaults of `docent dev` instead of those of `docent serve`.
    #[arg(long)]
    pub(crate) dev: bool,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DevArgs {
    /// On the first run, leave out the sample guide and the question about it.
    #[arg(long)]
    pub(crate) no_sample: bool,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct HealthcheckArgs {
    /// Where to ask; DOCENT_BIND_ADDRESS when left out.
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) address: Option<std::net::SocketAddr>,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Mend what can be mended.
    #[arg(long)]
    pub(crate) fix: bool,
    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReindexArgs {
    /// The embedding model, by its name at DOCENT_EMBEDDING_BASE_URL, or `builtin`; the settings' when left out.
    #[arg(long, value_name = "NAME")]
    pub(crate) embedding_model: Option<String>,
    /// Give up the build under way.
    #[arg(long, conflicts_with = "embedding_model")]
    pub(crate) abandon: bool,
    /// Print the outcome as a JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// The file to make, which must not exist; `-` is standard output.
    pub(crate) file: std::path::PathBuf,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The archive.
    pub(crate) file: std::path::PathBuf,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ServeArgs {
    /// Run no jobs: `docent worker` does.
    #[arg(long)]
    pub(crate) no_jobs: bool,
}

/// A running service, and how one proves who one is there.
#[derive(Clone, Args)]
pub(crate) struct RemoteArgs {
    /// The service's address.
    #[arg(long, value_name = "URL", env = "DOCENT_SERVER", default_value = "http://127.0.0.1:8000")]
    pub(crate) server: String,
    /// An API key; without one the login of `docent login` is used.
    #[arg(long, value_name = "KEY", env = "DOCENT_API_KEY", hide_env_values = true)]
    pub(crate) api_key: Option<String>,
    /// The file that logins are kept in; `.config/docent/credentials.json` in the home folder when left out.
    #[arg(long, value_name = "FILE", env = "DOCENT_CREDENTIALS")]
    pub(crate) credentials: Option<std::path::PathBuf>,
}

impl std::fmt::Debug for RemoteArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RemoteArgs({:?})", self.server)
    }
}

#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    /// The account's e-mail address.
    pub(crate) email: String,
    /// Read the password from the first line of standard input instead of asking for it.
    #[arg(long)]
    pub(crate) password_stdin: bool,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DocumentsCommand {
    /// List documents, newest first.
    List(ListDocumentsArgs),
    /// Delete documents with their files and chunks.
    Delete(NamedDocumentsArgs),
    /// Try the ingestion of failed documents anew.
    Retry(NamedDocumentsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListDocumentsArgs {
    /// Only those in this state.
    #[arg(long, value_parser = ["pending", "ingested", "failed"])]
    pub(crate) status: Option<String>,
    /// Only those whose title holds this text.
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct NamedDocumentsArgs {
    /// The documents' ids.
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<docent_domain::id::DocumentId>,
    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// What to search for.
    pub(crate) query: String,
    /// How many passages to give, 1 to 50.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=50))]
    pub(crate) limit: u64,
    /// Only in the document with this id; may be given several times.
    #[arg(long = "document", value_name = "ID")]
    pub(crate) documents: Vec<docent_domain::id::DocumentId>,
    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// The questions: a file with one JSON object a line.
    pub(crate) questions: std::path::PathBuf,
    /// The folder with the PDFs that the questions are about.
    #[arg(long, value_name = "DIR", required_unless_present = "reuse")]
    pub(crate) pdfs: Option<std::path::PathBuf>,
    /// Take the first N files alone, and the questions about them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit_files: Option<u32>,
    /// Name the documents doc-01.pdf, doc-02.pdf and so on, so that file names do not help.
    #[arg(long)]
    pub(crate) neutral_titles: bool,
    /// How many passages the recall of evidence looks at.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=50))]
    pub(crate) top: u8,
    /// Let the built-in answerer answer each question, and report how often it quotes the right page.
    #[arg(long)]
    pub(crate) answers: bool,
    /// Questions that no document answers, one JSON object a line: report how often the built-in answerer says so.
    #[arg(long, value_name = "FILE")]
    pub(crate) unanswerable: Option<std::path::PathBuf>,
    /// Write everything, question by question, into this file as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<std::path::PathBuf>,
    /// Keep what was ingested in this folder, which must be new or empty.
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<std::path::PathBuf>,
    /// Take what an earlier run kept, instead of ingesting.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["pdfs", "keep", "limit_files", "neutral_titles"])]
    pub(crate) reuse: Option<std::path::PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UsersCommand {
    /// Create an account.
    Create(CreateUserArgs),
    /// List accounts.
    List(ListUsersArgs),
    /// Let an account be used no longer; all of its sessions end, and its API keys are refused.
    Deactivate(OneUserArgs),
    /// Let a deactivated account be used again.
    Activate(OneUserArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApiKeysCommand {
    /// Make a key and print it; it is not shown again.
    Create(CreateKeyArgs),
    /// List keys, without their secrets.
    List(ListKeysArgs),
    /// Make a key void at once.
    Revoke(RevokeKeyArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ChangePasswordArgs {
    #[command(flatten)]
    pub(crate) account: AccountArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ListUsersArgs {
    /// Only those whose address holds this text.
    pub(crate) text: Option<String>,
    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OneUserArgs {
    /// The account's e-mail address.
    pub(crate) email: String,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CreateKeyArgs {
    /// The e-mail address of the account that the key works for.
    pub(crate) email: String,
    /// What the key is for, such as the name of the program that gets it.
    #[arg(long)]
    pub(crate) name: String,
    /// What the key may be used for: read, ingest, chat, admin; several with commas between them.
    #[arg(long, required = true, value_delimiter = ',', value_name = "SCOPES")]
    pub(crate) scopes: Vec<String>,
    /// From when on it is refused; never when left out.
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) expires_in_days: Option<u32>,
    /// Print a JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ListKeysArgs {
    /// Only those of the account with this address.
    pub(crate) email: Option<String>,
    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeKeyArgs {
    /// The key's id or its beginning, as `docent apikeys list` shows it.
    pub(crate) key: String,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CreateSuperuserArgs {
    #[command(flatten)]
    pub(crate) account: AccountArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CreateUserArgs {
    #[command(flatten)]
    pub(crate) account: AccountArgs,
    /// Let the account enter the admin panel.
    #[arg(long)]
    pub(crate) staff: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AccountArgs {
    /// The account's e-mail address.
    pub(crate) email: String,
    /// Read the password from the first line of standard input instead of asking for it twice.
    #[arg(long)]
    pub(crate) password_stdin: bool,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_worker_is_not_in_the_help() {
        assert!(!Cli::command().render_long_help().to_string().contains("extract-worker"));
    }
}
