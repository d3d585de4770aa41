//! Groups, and what accounts are allowed, in the relational store.

use crate::{
    error::Result,
    page::{Page, PageRequest},
};
use async_trait::async_trait;
use docent_domain::{
    group::{AssignedPermissions, Group, GroupName},
    id::{GroupId, UserId},
    permission::PermissionSet,
};

/// Reads groups and rights.
///
/// Permissions that this program does not know, as a later one may have written, are left out of what is
/// read; rewriting a group's or an account's rights drops them.
#[async_trait]
pub trait GroupReader: Send {
    /// The group with this id.
    async fn get(&mut self, id: GroupId) -> Result<Option<Group>>;

    /// The group with this name, in whatever case.
    async fn by_name(&mut self, name: &GroupName) -> Result<Option<Group>>;

    /// Groups by name, those whose name holds `text` (ASCII letters in either case), each with the number of its
    /// members.
    async fn list(&mut self, text: Option<&str>, page: PageRequest) -> Result<Page<(Group, u64)>>;

    /// What an account was given; nothing for one that does not exist.
    async fn rights(&mut self, user: UserId) -> Result<AssignedPermissions>;

    /// What an account is allowed, by itself and by its groups.
    async fn permissions(&mut self, user: UserId) -> Result<PermissionSet>;
}

/// Reads and changes groups and rights.
#[async_trait]
pub trait GroupWriter: GroupReader {
    /// Adds a group; `false`, and nothing added, when its name is taken.
    async fn insert(&mut self, group: &Group) -> Result<bool>;

    /// Writes the group's present values; says whether there was one with its id.
    ///
    /// # Errors
    /// When its name is another group's.
    async fn update(&mut self, group: &Group) -> Result<bool>;

    /// Removes a group, and its members from it; says whether there was one.
    async fn delete(&mut self, id: GroupId) -> Result<bool>;

    /// Makes `rights` all that the account was given.
    ///
    /// # Errors
    /// When the account or one of the groups does not exist.
    async fn set_assigned_permissions(&mut self, user: UserId, rights: &AssignedPermissions) -> Result<()>;
}
