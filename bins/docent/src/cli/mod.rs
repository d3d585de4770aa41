//! What can be typed after `docent`. Help, manual pages, completions and the reference are made from it.

mod accounts;
mod reference;
mod remote;
mod upkeep;

pub use accounts::{
    AccountArgs, ApiKeysCommand, ChangePasswordArgs, CreateKeyArgs, CreateSuperuserArgs, CreateUserArgs,
    ListKeysArgs, ListUsersArgs, OneUserArgs, RevokeKeyArgs, UsersCommand,
};
pub use reference::reference;
pub use remote::{
    AskArgs, DEFAULT_SERVER, DocumentsCommand, IngestArgs, ListDocumentsArgs, LoginArgs, LogoutArgs,
    NamedDocumentsArgs, RemoteArgs, SearchArgs, ShowDocumentArgs,
};
pub use upkeep::{BackupArgs, DoctorArgs, EvalArgs, HealthcheckArgs, ReindexArgs, RestoreArgs};

use crate::config::Profile;
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::path::PathBuf;

/// Docent answers questions about documents.
///
/// Settings are environment variables that begin with DOCENT_; `docent config` lists them all with
/// the values in force.
#[derive(Debug, Parser)]
#[command(name = "docent", version, propagate_version = true, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What `docent` can do.
#[derive(Debug, Subcommand)]
pub enum Command {
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
    Migrate(InstallationArgs),
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
    Logout(LogoutArgs),
    /// Upload PDFs to a running service, several at once.
    ///
    /// Ends with 0 when all were taken (with --wait: ingested), 1 when some were not, 2 when nothing could be
    /// begun, as without a login, and 130 when it was stopped. What the service has taken by then stays there.
    Ingest(IngestArgs),
    /// Ask a running service, and print the answer as it comes and the pages that it stands on.
    ///
    /// Ends with 0 when the answer is whole, 1 when it broke off, 2 when there is none, and 130 when it was stopped.
    Ask(AskArgs),
    /// Search the documents of a running service.
    Search(SearchArgs),
    /// List, show, delete or retry documents of a running service.
    #[command(subcommand)]
    Documents(DocumentsCommand),
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
    Config(InstallationArgs),
    /// Print the API as a document of OpenAPI 3.1, the one that a service has at /openapi.json.
    Openapi,
    /// Print the completions of a shell, to be kept where it looks for them.
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands.
    Man(ManArgs),
    /// Read a PDF on standard input under limits; for the server's own use.
    #[command(hide = true)]
    ExtractWorker,
}

/// How a command gives its results.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct OutputArgs {
    /// Print results for programs: one JSON object a line.
    #[arg(long)]
    pub json: bool,
}

/// Which installation a command that works on its stores is about.
#[derive(Clone, Copy, Debug, Args)]
pub struct ProfileArgs {
    /// Use the defaults of `docent dev` instead of those of `docent serve`.
    #[arg(long)]
    pub dev: bool,
}

impl From<ProfileArgs> for Profile {
    fn from(args: ProfileArgs) -> Self {
        if args.dev { Self::Dev } else { Self::Serve }
    }
}

/// What commands about an installation as a whole take.
#[derive(Clone, Copy, Debug, Args)]
pub struct InstallationArgs {
    /// How results are given.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Which installation.
    #[command(flatten)]
    pub profile: ProfileArgs,
}

/// What `docent dev` takes.
#[derive(Clone, Copy, Debug, Args)]
pub struct DevArgs {
    /// On the first run, leave out the sample guide and the question about it.
    #[arg(long)]
    pub no_sample: bool,
}

/// What `docent serve` takes.
#[derive(Clone, Copy, Debug, Args)]
pub struct ServeArgs {
    /// Run no jobs: `docent worker` does.
    #[arg(long)]
    pub no_jobs: bool,
}

/// What `docent completions` takes.
#[derive(Clone, Copy, Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// What `docent man` takes.
#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// Write a page for each command into this folder, which is made when it is missing.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// The command line as people see it: without what is for the server's own use, and without `help`.
pub fn visible() -> clap::Command {
    let all = Cli::command();
    // Nothing takes a subcommand away again, so the others are put together anew.
    let shown = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let mut visible = clap::Command::new("docent")
        .version(env!("CARGO_PKG_VERSION"))
        .propagate_version(true)
        .disable_help_subcommand(true)
        .subcommand_required(true)
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
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
        visible().debug_assert();
    }

    #[test]
    fn the_worker_is_not_in_the_help() {
        assert!(!Cli::command().render_long_help().to_string().contains("extract-worker"));
    }

    /// The words of a command as a shell would read them, up to its end, a comment or a redirection.
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

    /// The pages in a folder and below it.
    fn pages(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
        // The reference is written by the program itself.
        let is_page = |path: &std::path::PathBuf| {
            path.extension().is_some_and(|kind| kind == "md") && !path.ends_with("reference/cli.md")
        };
        files.into_iter().filter(is_page).chain(folders.iter().flat_map(|below| pages(below))).collect()
    }

    #[test]
    fn every_command_of_the_documentation_is_one() {
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
                if let Err(error) = Cli::try_parse_from(words(&line)) {
                    panic!("{}: {line}\n{error}", page.display());
                }
                count += 1;
            }
        }
        assert!(count > 50, "only {count} commands were found");
    }
}
