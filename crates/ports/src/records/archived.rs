//! Records of archives: records of the store with what belongs to them.

use super::Stored;
use docent_domain::chunk::{PageStart, Span};
use docent_domain::collection::{Collection, CollectionRole};
use docent_domain::conversation::Conversation;
use docent_domain::document::Document;
use docent_domain::external_file::ExternalFile;
use docent_domain::file_batch::{CollectionMetadata, FilePurpose};
use docent_domain::group::AssignedPermissions;
use docent_domain::id::{CollectionId, GroupId, UserId};
use docent_domain::summary::DocumentSummary;
use docent_domain::user::User;
use std::collections::{BTreeMap, BTreeSet};

/// An account.
#[derive(Clone, Debug)]
pub struct ArchivedUser {
    /// The account.
    pub user: User,
    /// Its permissions and groups.
    pub rights: AssignedPermissions,
}

record! {
    ArchivedUser {
        #[serde(flatten)]
        user: User,
        #[serde(flatten)]
        rights: AssignedPermissions,
    }
}

/// A collection.
#[derive(Clone, Debug)]
pub struct ArchivedCollection {
    /// The collection.
    pub collection: Collection,
    /// Roles of accounts.
    pub users: BTreeMap<UserId, CollectionRole>,
    /// Roles of groups.
    pub groups: BTreeMap<GroupId, CollectionRole>,
    /// Accounts that have hidden it.
    pub hidden_by: Vec<UserId>,
    /// What clients of the OpenAI API store with it.
    pub metadata: Option<CollectionMetadata>,
}

record! {
    ArchivedCollection {
        #[serde(flatten)]
        collection: Collection,
        users: BTreeMap<UserId, CollectionRole>,
        groups: BTreeMap<GroupId, CollectionRole>,
        #[serde(default)]
        hidden_by: Vec<UserId>,
        metadata: Option<CollectionMetadata>,
    }
}

/// A conversation.
#[derive(Clone, Debug)]
pub struct ArchivedConversation {
    /// The conversation.
    pub conversation: Conversation,
    /// Collections that it is shared with.
    pub shared_with: BTreeSet<CollectionId>,
}

record! {
    ArchivedConversation {
        #[serde(flatten)]
        conversation: Conversation,
        #[serde(default)]
        shared_with: BTreeSet<CollectionId>,
    }
}

/// A document.
#[derive(Clone, Debug)]
pub struct ArchivedDocument {
    /// The document.
    pub document: Document,
    /// Its summary, if one is stored.
    pub summary: Option<DocumentSummary>,
    /// What a client of the OpenAI API uploaded its file for.
    pub purpose: Option<FilePurpose>,
    /// The ID that another program gave to its file.
    pub external: Option<ExternalFile>,
    /// The SHA-256 of each of its other entries, by file name.
    pub entries: BTreeMap<String, String>,
}

record! {
    ArchivedDocument {
        #[serde(flatten)]
        document: Document,
        summary: Option<DocumentSummary>,
        purpose: Option<FilePurpose>,
        external: Option<ExternalFile>,
        entries: BTreeMap<String, String>,
    }
}

/// A chunk. Its vector is in an entry of its own.
#[derive(Clone, Debug)]
pub struct ArchivedChunk {
    /// Position in the document.
    pub ordinal: u32,
    /// Its text.
    pub text: String,
    /// Where it is in the document.
    pub span: Span,
    /// Where its pages start in its text.
    pub pages: Vec<PageStart>,
    /// Dimensions of its vector; 0 if it has none.
    pub dimensions: u64,
}

record! {
    ArchivedChunk {
        ordinal: u32,
        text: String,
        span: Span,
        pages: Vec<PageStart>,
        dimensions: u64,
    }
}
