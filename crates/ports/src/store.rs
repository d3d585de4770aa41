//! The relational store: units of work and their repositories.
//!
//! To add a repository, write its trait in a new file of this crate, a method in [`ReadView`] or [`UnitOfWork`], the
//! fake in `docent-testkit`, the SQL in `docent-sql`, and a contract battery that both run.

use crate::api_keys::{ApiKeyReader, ApiKeyWriter};
use crate::audit::{AuditReader, AuditWriter};
use crate::collections::{CollectionReader, CollectionWriter};
use crate::conversations::{ConversationReader, ConversationWriter};
use crate::documents::{DocumentReader, DocumentWriter};
use crate::embedding_cache::{EmbeddingCacheReader, EmbeddingCacheWriter};
use crate::generations::{GenerationReader, GenerationWriter};
use crate::groups::{GroupReader, GroupWriter};
use crate::identities::{IdentityReader, IdentityWriter};
use crate::inventory::Inventory;
use crate::invitations::{InvitationReader, InvitationWriter};
use crate::jobs::{JobReader, JobWriter};
use crate::oauth::{OAuthReader, OAuthWriter};
use crate::sessions::{SessionReader, SessionWriter};
use crate::singleton_tasks::SingletonTaskWriter;
use crate::term_statistics::{TermStatisticsReader, TermStatisticsWriter};
use crate::usage::{UsageReader, UsageWriter};
use crate::users::{UserReader, UserWriter};
use crate::verifications::{VerificationReader, VerificationWriter};
use crate::webhooks::{WebhookReader, WebhookWriter};
use async_trait::async_trait;
use docent_domain::fault::Result;

/// Opens read views and units of work.
#[async_trait]
pub trait Store: Send + Sync {
    /// Opens a unit of work that can change records. Records that it reads are locked until it commits; new ones can
    /// appear in counts and lists.
    ///
    /// No network calls are allowed between this and [`UnitOfWork::commit`].
    async fn begin(&self) -> Result<Box<dyn UnitOfWork>>;

    /// Like [`begin`](Self::begin), for changes that free space: on a full disk, they can use space that is kept for them.
    async fn begin_freeing(&self) -> Result<Box<dyn UnitOfWork>> {
        self.begin().await
    }

    /// Opens a consistent read view. It never waits for writers.
    async fn read(&self) -> Result<Box<dyn ReadView>>;

    /// Opens a view for a single read, without the cost of a consistent view: further reads may show a later state.
    /// Concurrent reads by ID can be batched. It never waits for writers.
    async fn read_latest(&self) -> Result<Box<dyn ReadView>> {
        self.read().await
    }

    /// Checks that the database responds.
    async fn check(&self) -> Result<()>;

    /// Checks that the database can be written: that it is neither full, locked by another process nor read-only. Costs at
    /// most a small write, and nothing after a recent successful one.
    async fn check_writable(&self) -> Result<()>;

    /// Name and version of the database, such as `PostgreSQL 16.4`, if it says so.
    async fn version(&self) -> Result<Option<String>> {
        Ok(None)
    }

    /// Compares the database schema with the one that this program was built for.
    async fn schema(&self) -> Result<Schema>;
}

/// The state of the database schema relative to the one that this program was built for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schema {
    /// Equal.
    #[default]
    Current,
    /// Migrated by a later version. Migrations are compatible with the previous version.
    Newer,
    /// Migrations are missing.
    Older,
    /// The database is empty.
    Missing,
}

impl Schema {
    /// Whether this program can work with it.
    pub const fn is_usable(self) -> bool {
        matches!(self, Self::Current | Self::Newer)
    }

    /// Whether it is the one that this program was built for.
    pub const fn is_current(self) -> bool {
        matches!(self, Self::Current)
    }

    /// A sentence for clients.
    pub const fn public_message(self) -> &'static str {
        match self {
            Self::Current => "The database schema is current",
            Self::Newer => "The database schema is newer than this program",
            Self::Older => "The database schema is older than this program needs",
            Self::Missing => "The database has no schema yet",
        }
    }
}

/// A consistent read view of the records.
pub trait ReadView: Send {
    /// Documents.
    fn documents(&mut self) -> &mut dyn DocumentReader;
    /// Collections of documents.
    fn collections(&mut self) -> &mut dyn CollectionReader;
    /// Jobs.
    fn jobs(&mut self) -> &mut dyn JobReader;
    /// Accounts.
    fn users(&mut self) -> &mut dyn UserReader;
    /// Groups and permissions of accounts.
    fn groups(&mut self) -> &mut dyn GroupReader;
    /// API keys.
    fn api_keys(&mut self) -> &mut dyn ApiKeyReader;
    /// OAuth clients and authorization codes.
    fn oauth(&mut self) -> &mut dyn OAuthReader;
    /// Sessions.
    fn sessions(&mut self) -> &mut dyn SessionReader;
    /// Identities of accounts at identity providers.
    fn identities(&mut self) -> &mut dyn IdentityReader;
    /// Invitations.
    fn invitations(&mut self) -> &mut dyn InvitationReader;
    /// Verification tokens.
    fn verifications(&mut self) -> &mut dyn VerificationReader;
    /// Conversations.
    fn conversations(&mut self) -> &mut dyn ConversationReader;
    /// Webhooks.
    fn webhooks(&mut self) -> &mut dyn WebhookReader;
    /// The usage ledger.
    fn usage(&mut self) -> &mut dyn UsageReader;
    /// The audit log.
    fn audit(&mut self) -> &mut dyn AuditReader;
    /// Cached embedding vectors.
    fn embedding_cache(&mut self) -> &mut dyn EmbeddingCacheReader;
    /// Index generations.
    fn generations(&mut self) -> &mut dyn GenerationReader;
    /// Term statistics of vector collections.
    fn term_statistics(&mut self) -> &mut dyn TermStatisticsReader;
    /// All records, page by page.
    fn inventory(&mut self) -> &mut dyn Inventory;
}

/// An atomic set of changes. Dropping it without a commit rolls them back.
///
/// After a call failed or was cancelled, all further calls fail, including the commit.
#[async_trait]
pub trait UnitOfWork: Send {
    /// Documents.
    fn documents(&mut self) -> &mut dyn DocumentWriter;
    /// Collections of documents.
    fn collections(&mut self) -> &mut dyn CollectionWriter;
    /// Jobs.
    fn jobs(&mut self) -> &mut dyn JobWriter;
    /// Accounts.
    fn users(&mut self) -> &mut dyn UserWriter;
    /// Groups and permissions of accounts.
    fn groups(&mut self) -> &mut dyn GroupWriter;
    /// API keys.
    fn api_keys(&mut self) -> &mut dyn ApiKeyWriter;
    /// OAuth clients and authorization codes.
    fn oauth(&mut self) -> &mut dyn OAuthWriter;
    /// Sessions.
    fn sessions(&mut self) -> &mut dyn SessionWriter;
    /// Identities of accounts at identity providers.
    fn identities(&mut self) -> &mut dyn IdentityWriter;
    /// Invitations.
    fn invitations(&mut self) -> &mut dyn InvitationWriter;
    /// Verification tokens.
    fn verifications(&mut self) -> &mut dyn VerificationWriter;
    /// Conversations.
    fn conversations(&mut self) -> &mut dyn ConversationWriter;
    /// Webhooks.
    fn webhooks(&mut self) -> &mut dyn WebhookWriter;
    /// The audit log.
    fn audit(&mut self) -> &mut dyn AuditWriter;
    /// The usage ledger.
    fn usage(&mut self) -> &mut dyn UsageWriter;
    /// Cached embedding vectors.
    fn embedding_cache(&mut self) -> &mut dyn EmbeddingCacheWriter;
    /// Index generations.
    fn generations(&mut self) -> &mut dyn GenerationWriter;
    /// Term statistics of vector collections.
    fn term_statistics(&mut self) -> &mut dyn TermStatisticsWriter;
    /// Tasks that run in one process at a time.
    fn singleton_tasks(&mut self) -> &mut dyn SingletonTaskWriter;

    /// Commits the changes.
    ///
    /// # Errors
    /// After a fault it is unknown whether the changes were committed; read before retrying.
    async fn commit(self: Box<Self>) -> Result<()>;
}

/// Implements the repository methods of [`ReadView`] (`read`) or [`UnitOfWork`] (`write`) by a field: `to transaction`
/// if the field implements all repositories, `through inner` if it is another unit of work.
#[macro_export]
macro_rules! repositories {
    (read $how:ident $field:tt) => {
        $crate::repositories! { @each $how $field
            documents: documents::DocumentReader, collections: collections::CollectionReader, jobs: jobs::JobReader, users: users::UserReader,
            groups: groups::GroupReader, api_keys: api_keys::ApiKeyReader, oauth: oauth::OAuthReader, sessions: sessions::SessionReader,
            identities: identities::IdentityReader, invitations: invitations::InvitationReader,
            verifications: verifications::VerificationReader, conversations: conversations::ConversationReader,
            webhooks: webhooks::WebhookReader,
            usage: usage::UsageReader, audit: audit::AuditReader,
            embedding_cache: embedding_cache::EmbeddingCacheReader, generations: generations::GenerationReader,
            term_statistics: term_statistics::TermStatisticsReader, inventory: inventory::Inventory
        }
    };
    (write $how:ident $field:tt) => {
        $crate::repositories! { @each $how $field
            documents: documents::DocumentWriter, collections: collections::CollectionWriter, jobs: jobs::JobWriter, users: users::UserWriter,
            groups: groups::GroupWriter, api_keys: api_keys::ApiKeyWriter, oauth: oauth::OAuthWriter, sessions: sessions::SessionWriter,
            identities: identities::IdentityWriter, invitations: invitations::InvitationWriter,
            verifications: verifications::VerificationWriter, conversations: conversations::ConversationWriter,
            webhooks: webhooks::WebhookWriter,
            usage: usage::UsageWriter, audit: audit::AuditWriter,
            embedding_cache: embedding_cache::EmbeddingCacheWriter, generations: generations::GenerationWriter,
            term_statistics: term_statistics::TermStatisticsWriter, singleton_tasks: singleton_tasks::SingletonTaskWriter
        }
    };
    (@each $how:ident $field:tt $($method:ident: $module:ident::$repository:ident),+) => {
        $($crate::repositories! { @$how $field $method $module $repository })+
    };
    (@to $field:tt $method:ident $module:ident $repository:ident) => {
        fn $method(&mut self) -> &mut dyn $crate::$module::$repository {
            &mut self.$field
        }
    };
    (@through $field:tt $method:ident $module:ident $repository:ident) => {
        fn $method(&mut self) -> &mut dyn $crate::$module::$repository {
            self.$field.$method()
        }
    };
}
