//! Groups and permissions of accounts in the relational store.

use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_domain::group::{AssignedPermissions, Group, GroupName};
use docent_domain::id::{GroupId, UserId};
use docent_domain::listing::{Page, PageRequest};
use docent_domain::permission::PermissionSet;
use std::collections::{HashMap, HashSet};

/// Reads groups and permissions.
///
/// Permissions unknown to this program version, written by a later one, are ignored when read and dropped when a group
/// or an account is rewritten.
#[async_trait]
pub trait GroupReader: Send {
    /// Returns the group with this ID.
    async fn get(&mut self, id: GroupId) -> Result<Option<Group>>;

    /// Returns the group with this name, ignoring case.
    async fn by_name(&mut self, name: &GroupName) -> Result<Option<Group>>;

    /// Lists groups with their number of members, by name; only those whose name contains `text`, ignoring ASCII case.
    async fn list(&mut self, text: Option<&str>, page: PageRequest) -> Result<Page<(Group, u64)>>;

    /// Returns the names of these groups, as far as they exist.
    async fn names(&mut self, ids: &[GroupId]) -> Result<HashMap<GroupId, String>>;

    /// Returns the accounts that manage a group.
    async fn managers(&mut self, id: GroupId) -> Result<HashSet<UserId>>;

    /// Returns the permissions and groups assigned to an account; none if it does not exist.
    async fn assigned_permissions(&mut self, user: UserId) -> Result<AssignedPermissions>;

    /// Returns the effective permissions of an account: its own and those of its groups.
    async fn permissions(&mut self, user: UserId) -> Result<PermissionSet>;
}

/// Reads and changes groups and permissions.
#[async_trait]
pub trait GroupWriter: GroupReader {
    /// Adds a group. Returns `false` without adding it if the name is already used.
    async fn insert(&mut self, group: &Group) -> Result<bool>;

    /// Updates a group. Returns whether it existed.
    ///
    /// # Errors
    /// If another group has its name.
    async fn update(&mut self, group: &Group) -> Result<bool>;

    /// Deletes a group and its memberships. Returns whether it existed.
    async fn delete(&mut self, id: GroupId) -> Result<bool>;

    /// Replaces the permissions and groups assigned to an account. It manages only groups that it is in.
    ///
    /// # Errors
    /// If the account or one of the groups does not exist.
    async fn set_assigned_permissions(&mut self, user: UserId, assigned: &AssignedPermissions) -> Result<()>;
}
