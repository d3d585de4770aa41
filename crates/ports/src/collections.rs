//! Collections and their members in the relational store.

use async_trait::async_trait;
use docent_domain::collection::{Collection, CollectionRole, Member, Membership, SourcedRole};
use docent_domain::fault::Result;
use docent_domain::id::{CollectionId, GroupId, UserId};
use docent_domain::listing::{CollectionFilter, Page, PageRequest};
use std::collections::HashMap;

/// The number of members and documents of a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectionSize {
    /// Accounts and groups with a role on it.
    pub members: u64,
    /// Documents in it.
    pub documents: u64,
}

/// Reads collections.
#[async_trait]
pub trait CollectionReader: Send {
    /// Returns the collection with this ID.
    async fn get(&mut self, id: CollectionId) -> Result<Option<Collection>>;

    /// Lists collections with their sizes: by kind (everyone, personal, shared), then by name, ignoring ASCII case, then by ID.
    async fn page(
        &mut self,
        filter: &CollectionFilter,
        page: PageRequest,
    ) -> Result<Page<(Collection, CollectionSize)>>;

    /// Lists collections in the order of [`Self::page`], without their sizes: at most `limit`.
    async fn list(&mut self, filter: &CollectionFilter, limit: u64) -> Result<Vec<Collection>>;

    /// Returns the names of these collections, as far as they exist.
    async fn names(&mut self, ids: &[CollectionId]) -> Result<HashMap<CollectionId, String>>;

    /// Returns every role of an account: as owner, as a member, through a group, and as any account. A collection can
    /// occur several times.
    async fn roles(&mut self, user: UserId) -> Result<Vec<(CollectionId, CollectionRole)>>;

    /// Returns the roles of [`Self::roles`] with their sources, in no order.
    async fn sourced_roles(&mut self, user: UserId) -> Result<Vec<SourcedRole>>;

    /// Returns the roles of these groups; without groups that have none.
    async fn roles_of_groups(
        &mut self,
        groups: &[GroupId],
    ) -> Result<HashMap<GroupId, Vec<(CollectionId, CollectionRole)>>>;

    /// Returns the members of a collection: accounts, then groups, each in the order of their IDs.
    async fn members(&mut self, id: CollectionId) -> Result<Vec<Membership>>;

    /// Counts documents that are in this collection and in no other.
    async fn only_here(&mut self, id: CollectionId) -> Result<u64>;
}

/// Reads and changes collections.
#[async_trait]
pub trait CollectionWriter: CollectionReader {
    /// Adds a collection.
    ///
    /// # Errors
    /// If the ID exists, or the owner does not exist.
    async fn insert(&mut self, collection: &Collection) -> Result<()>;

    /// Updates a collection. Returns whether it existed.
    ///
    /// # Errors
    /// If the owner does not exist.
    async fn update(&mut self, collection: &Collection) -> Result<bool>;

    /// Deletes a collection and its memberships, and takes its documents out of it. Returns whether it existed.
    async fn delete(&mut self, id: CollectionId) -> Result<bool>;

    /// Sets the role of a member; `None` removes the member.
    ///
    /// # Errors
    /// If the collection or the member does not exist.
    async fn set_member(
        &mut self,
        id: CollectionId,
        member: Member,
        role: Option<CollectionRole>,
    ) -> Result<()>;
}
