//! Commands for accounts and API keys. They use the installation's database directly.

use super::InstallationArgs;
use clap::{Args, Subcommand};
use docent_domain::collection::CollectionRole;
use docent_domain::id::CollectionId;
use std::path::PathBuf;
use std::str::FromStr;

/// `docent users …`
#[derive(Debug, Subcommand)]
pub enum UsersCommand {
    /// Create an account.
    Create(CreateUserArgs),
    /// Invite people: each gets a link with which the account is created. An earlier invitation is replaced.
    Invite(InviteArgs),
    /// List accounts.
    List(ListUsersArgs),
    /// Deactivate an account: its sessions end and its API keys are rejected.
    Deactivate(OneUserArgs),
    /// Reactivate an account.
    Activate(OneUserArgs),
    /// Remove the second factor of an account that has lost it; its sessions end.
    ResetSecondFactor(OneUserArgs),
}

/// `docent apikeys …`
#[derive(Debug, Subcommand)]
pub enum ApiKeysCommand {
    /// Create an API key and print it; it is not shown again.
    Create(CreateKeyArgs),
    /// List API keys, without their secrets.
    List(ListKeysArgs),
    /// Revoke an API key immediately.
    Revoke(RevokeKeyArgs),
}

/// An account and the source of its new password.
#[derive(Debug, Args)]
pub struct AccountArgs {
    /// Email address of the account.
    pub email: String,
    /// Read the password from the first line of standard input instead of prompting for it twice.
    #[arg(long)]
    pub password_stdin: bool,
    /// Output format and settings profile.
    #[command(flatten)]
    pub installation: InstallationArgs,
}

/// Arguments of `docent users create`.
#[derive(Debug, Args)]
pub struct CreateUserArgs {
    /// The account.
    #[command(flatten)]
    pub account: AccountArgs,
    /// Give the account access to the admin panel.
    #[arg(long)]
    pub staff: bool,
}

/// Arguments of `docent users invite`.
#[derive(Debug, Args)]
pub struct InviteArgs {
    /// Email addresses.
    #[arg(required_unless_present = "from", value_name = "EMAIL")]
    pub emails: Vec<String>,
    /// File with further addresses, one per line or as CSV; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Name of a group that the accounts will be in; can be repeated.
    #[arg(long = "group", value_name = "NAME")]
    pub groups: Vec<String>,
    /// Collection, by its name or ID, and the role that the accounts will have on it: viewer, contributor or manager; can
    /// be repeated.
    #[arg(long = "collection", value_name = "NAME=ROLE")]
    pub collections: Vec<CollectionRoleArg>,
    /// Send the links by email instead of printing them.
    #[arg(long)]
    pub send: bool,
    /// Output format and settings profile.
    #[command(flatten)]
    pub installation: InstallationArgs,
}

/// A collection and a role on it.
#[derive(Clone, Debug)]
pub struct CollectionRoleArg {
    /// Name or ID of the collection.
    pub collection: String,
    /// The role.
    pub role: CollectionRole,
}

impl FromStr for CollectionRoleArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Names can contain the sign.
        let (collection, role) = text.rsplit_once('=').ok_or("is not NAME=ROLE")?;
        let role = CollectionRole::parse(role).ok_or("the role is not viewer, contributor or manager")?;
        Ok(Self { collection: collection.to_owned(), role })
    }
}

/// Arguments of `docent users list`.
#[derive(Debug, Args)]
pub struct ListUsersArgs {
    /// Only accounts whose email address or name contains this text.
    pub text: Option<String>,
    /// Output format and settings profile.
    #[command(flatten)]
    pub installation: InstallationArgs,
}

/// An existing account.
#[derive(Debug, Args)]
pub struct OneUserArgs {
    /// Email address of the account.
    pub email: String,
    /// Output format and settings profile.
    #[command(flatten)]
    pub installation: InstallationArgs,
}

/// Arguments of `docent apikeys create`.
#[derive(Debug, Args)]
pub struct CreateKeyArgs {
    /// Email address of the account that the key acts for.
    pub email: String,
    /// Name of the key, such as the program that uses it.
    #[arg(long)]
    pub name: String,
    /// Scopes of the key, separated by commas: read, ingest, chat, admin.
    #[arg(long, required = true, value_delimiter = ',', value_name = "SCOPES")]
    pub scopes: Vec<String>,
    /// ID of a collection that the key is limited to; can be repeated. Without this it is for all of its account.
    #[arg(long = "collection", value_name = "ID")]
    pub collections: Vec<CollectionId>,
    /// Days until the key expires; without this it never does.
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..))]
    pub expires_in_days: Option<u32>,
    /// Output format and settings profile.
    #[command(flatten)]
    pub installation: InstallationArgs,
}

/// Arguments of `docent apikeys list`.
#[derive(Debug, Args)]
pub struct ListKeysArgs {
    /// Only keys of the account with this email address.
    pub email: Option<String>,
    /// Output format and settings profile.
    #[command(flatten)]
    pub installation: InstallationArgs,
}

/// Arguments of `docent apikeys revoke`.
#[derive(Debug, Args)]
pub struct RevokeKeyArgs {
    /// ID or prefix of the key, as `docent apikeys list` shows them.
    pub key: String,
    /// Output format and settings profile.
    #[command(flatten)]
    pub installation: InstallationArgs,
}
