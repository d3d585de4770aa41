//! The commands about accounts and API keys, which work on an installation's own database.

use super::{OutputArgs, ProfileArgs};
use clap::{Args, Subcommand};

/// `docent users …`
#[derive(Debug, Subcommand)]
pub enum UsersCommand {
    /// Create an account.
    Create(CreateUserArgs),
    /// List accounts.
    List(ListUsersArgs),
    /// Let an account be used no longer; all of its sessions end, and its API keys are refused.
    Deactivate(OneUserArgs),
    /// Let a deactivated account be used again.
    Activate(OneUserArgs),
}

/// `docent apikeys …`
#[derive(Debug, Subcommand)]
pub enum ApiKeysCommand {
    /// Make a key and print it; it is not shown again.
    Create(CreateKeyArgs),
    /// List keys, without their secrets.
    List(ListKeysArgs),
    /// Make a key void at once.
    Revoke(RevokeKeyArgs),
}

/// An account that gets a password.
#[derive(Debug, Args)]
pub struct AccountArgs {
    /// The account's e-mail address.
    pub email: String,
    /// Read the password from the first line of standard input instead of asking for it twice.
    #[arg(long)]
    pub password_stdin: bool,
    /// How results are given.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Which installation.
    #[command(flatten)]
    pub profile: ProfileArgs,
}

/// What `docent createsuperuser` takes.
#[derive(Debug, Args)]
pub struct CreateSuperuserArgs {
    /// The account.
    #[command(flatten)]
    pub account: AccountArgs,
}

/// What `docent changepassword` takes.
#[derive(Debug, Args)]
pub struct ChangePasswordArgs {
    /// The account.
    #[command(flatten)]
    pub account: AccountArgs,
}

/// What `docent users create` takes.
#[derive(Debug, Args)]
pub struct CreateUserArgs {
    /// The account.
    #[command(flatten)]
    pub account: AccountArgs,
    /// Let the account enter the admin panel.
    #[arg(long)]
    pub staff: bool,
}

/// What `docent users list` takes.
#[derive(Debug, Args)]
pub struct ListUsersArgs {
    /// Only those whose address holds this text.
    pub text: Option<String>,
    /// How results are given.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Which installation.
    #[command(flatten)]
    pub profile: ProfileArgs,
}

/// An account that is there.
#[derive(Debug, Args)]
pub struct OneUserArgs {
    /// The account's e-mail address.
    pub email: String,
    /// How results are given.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Which installation.
    #[command(flatten)]
    pub profile: ProfileArgs,
}

/// What `docent apikeys create` takes.
#[derive(Debug, Args)]
pub struct CreateKeyArgs {
    /// The e-mail address of the account that the key works for.
    pub email: String,
    /// What the key is for, such as the name of the program that gets it.
    #[arg(long)]
    pub name: String,
    /// What the key may be used for: read, ingest, chat, admin; several with commas between them.
    #[arg(long, required = true, value_delimiter = ',', value_name = "SCOPES")]
    pub scopes: Vec<String>,
    /// From when on it is refused; never when left out.
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..))]
    pub expires_in_days: Option<u32>,
    /// How results are given.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Which installation.
    #[command(flatten)]
    pub profile: ProfileArgs,
}

/// What `docent apikeys list` takes.
#[derive(Debug, Args)]
pub struct ListKeysArgs {
    /// Only those of the account with this address.
    pub email: Option<String>,
    /// How results are given.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Which installation.
    #[command(flatten)]
    pub profile: ProfileArgs,
}

/// What `docent apikeys revoke` takes.
#[derive(Debug, Args)]
pub struct RevokeKeyArgs {
    /// The key's id or its beginning, as `docent apikeys list` shows it.
    pub key: String,
    /// How results are given.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Which installation.
    #[command(flatten)]
    pub profile: ProfileArgs,
}
