//! Commands for the collections of a running service.

use super::{ClientArgs, CollectionArg};
use clap::{ArgGroup, Args, Subcommand};

/// `docent collections …`
#[derive(Debug, Subcommand)]
pub enum CollectionsCommand {
    /// List the collections that the account has a role on.
    List(ListCollectionsArgs),
    /// Show a collection.
    Show(OneCollectionArgs),
    /// Create a collection, which the account then manages.
    Create(CreateCollectionArgs),
    /// Change the settings of a collection.
    Change(ChangeCollectionArgs),
    /// Delete a collection; its documents must be in other collections too.
    Delete(OneCollectionArgs),
    /// Hide a collection from the lists, searches and answers of the account.
    Hide(OneCollectionArgs),
    /// Show a hidden collection again.
    Unhide(OneCollectionArgs),
    /// Manage the members of a collection.
    #[command(subcommand)]
    Members(MembersCommand),
}

/// `docent collections members …`
#[derive(Debug, Subcommand)]
pub enum MembersCommand {
    /// List the accounts and groups that have a role.
    List(OneCollectionArgs),
    /// Give an account or a group a role; it replaces the role that it has.
    Set(SetMemberArgs),
    /// Remove an account or a group. Members can also remove themselves.
    Remove(RemoveMemberArgs),
}

/// Arguments of `docent collections list`.
#[derive(Debug, Args)]
pub struct ListCollectionsArgs {
    /// Only collections whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// Also collections that the account has hidden.
    #[arg(long)]
    pub hidden: bool,
    /// Output format, service and credentials.
    #[command(flatten)]
    pub client: ClientArgs,
}

/// Arguments of commands for one collection.
#[derive(Debug, Args)]
pub struct OneCollectionArgs {
    /// ID or name of the collection.
    pub collection: CollectionArg,
    /// Output format, service and credentials.
    #[command(flatten)]
    pub client: ClientArgs,
}

/// Arguments of `docent collections create`.
#[derive(Debug, Args)]
pub struct CreateCollectionArgs {
    /// Name of the collection.
    pub name: String,
    /// Description.
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// Role of every account; without this only members use the collection.
    #[arg(long, value_name = "ROLE", value_parser = ROLES)]
    pub role_of_all: Option<String>,
    /// Output format, service and credentials.
    #[command(flatten)]
    pub client: ClientArgs,
}

/// Arguments of `docent collections change`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("change").required(true).multiple(true).args(["name", "description", "role_of_all"]))]
pub struct ChangeCollectionArgs {
    /// ID or name of the collection.
    pub collection: CollectionArg,
    /// New name.
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// New description; can be empty.
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// Role of every account; `none` closes the collection to all but its members.
    #[arg(long, value_name = "ROLE", value_parser = ["viewer", "contributor", "manager", "none"])]
    pub role_of_all: Option<String>,
    /// Output format, service and credentials.
    #[command(flatten)]
    pub client: ClientArgs,
}

const ROLES: [&str; 3] = ["viewer", "contributor", "manager"];

/// An account or a group.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct MemberArg {
    /// Email address of the account.
    pub email: Option<String>,
    /// Name of the group.
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
}

/// Arguments of `docent collections members set`.
#[derive(Debug, Args)]
pub struct SetMemberArgs {
    /// ID or name of the collection.
    pub collection: CollectionArg,
    /// The account or group.
    #[command(flatten)]
    pub member: MemberArg,
    /// The role.
    #[arg(long, value_parser = ROLES)]
    pub role: String,
    /// Output format, service and credentials.
    #[command(flatten)]
    pub client: ClientArgs,
}

/// Arguments of `docent collections members remove`.
#[derive(Debug, Args)]
pub struct RemoveMemberArgs {
    /// ID or name of the collection.
    pub collection: CollectionArg,
    /// Email address of the account, or the ID of an account or a group.
    #[arg(required_unless_present = "group", conflicts_with = "group")]
    pub member: Option<String>,
    /// Name of the group.
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
    /// Output format, service and credentials.
    #[command(flatten)]
    pub client: ClientArgs,
}
