//! Collections and their members in the relational store.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::collection::{Collection, CollectionRole, Member, Membership, SourcedRole};
use docent_domain::fault::Result;
use docent_domain::file_batch::{CollectionMetadata, FileBatch};
use docent_domain::id::{CollectionId, FileBatchId, GroupId, UserId};
use docent_domain::listing::{AccountCollections, CollectionFilter, Page, PageRequest};
use docent_domain::scope::AccountRoles;
use std::collections::HashMap;

/// The number of members and documents of a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectionSize {
    /// Accounts and groups with a role on it.
    pub members: u64,
    /// Documents in it.
    pub documents: u64,
}

/// A collection in the list of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedCollection {
    /// The collection.
    pub collection: Collection,
    /// Its size.
    pub size: CollectionSize,
    /// Whether the account itself is a member, and not only through a group.
    pub is_member: bool,
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

    /// Lists the collections of an account. The cost depends on the limit and on the number of collections that the account
    /// has a role of its own on, but not on the number of those that are open to all, unless they are searched by name.
    async fn list_of_account(&mut self, query: &AccountCollections) -> Result<Vec<ListedCollection>>;

    /// Counts the shared collections that an account owns.
    async fn count_owned(&mut self, owner: UserId) -> Result<u64>;

    /// Returns the accounts that have hidden a collection, in the order of their IDs.
    async fn hidden_by(&mut self, id: CollectionId) -> Result<Vec<UserId>>;

    /// Returns the names of these collections, as far as they exist.
    async fn names(&mut self, ids: &[CollectionId]) -> Result<HashMap<CollectionId, String>>;

    /// Returns the roles of an account and the collections that it has hidden. Unless the collections that are open to all
    /// have changed since an earlier call, the cost does not depend on their number.
    async fn roles(&mut self, user: UserId) -> Result<AccountRoles>;

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

    /// Returns the stored metadata of these collections.
    async fn metadata(&mut self, ids: &[CollectionId]) -> Result<HashMap<CollectionId, CollectionMetadata>>;

    /// Returns the batch of files with this ID.
    async fn file_batch(&mut self, id: FileBatchId) -> Result<Option<FileBatch>>;
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

    /// Stores the metadata of a collection, which replaces any other. Deleting the collection deletes it too.
    ///
    /// # Errors
    /// If the collection does not exist.
    async fn set_metadata(&mut self, id: CollectionId, metadata: &CollectionMetadata) -> Result<()>;

    /// Stores a batch of files, which replaces the one with its ID. Deleting its collection deletes it too.
    ///
    /// # Errors
    /// If the collection does not exist.
    async fn put_file_batch(&mut self, batch: &FileBatch) -> Result<()>;

    /// Deletes batches of files created before this time: at most `limit`. Returns how many. Their files stay.
    async fn purge_file_batches(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64>;

    /// Hides a collection from the lists and searches of an account, or shows it again.
    ///
    /// # Errors
    /// If the account or the collection does not exist.
    async fn set_hidden(&mut self, user: UserId, id: CollectionId, is_hidden: bool) -> Result<()>;
}
