//! The relational store: units of work, and the repositories reached through them.
//!
//! To add a repository: a trait in a file of its own beside this one, a method in [`ReadView`] or
//! [`UnitOfWork`], the fake in `docent-testkit`, the SQL in `docent-adapters`, and a battery that both run.

use crate::{
    api_keys::{ApiKeyReader, ApiKeyWriter},
    audit::{AuditReader, AuditWriter},
    conversations::{ConversationReader, ConversationWriter},
    documents::{DocumentReader, DocumentWriter},
    embedding_cache::{EmbeddingCacheReader, EmbeddingCacheWriter},
    error::Result,
    generations::{GenerationReader, GenerationWriter},
    groups::{GroupReader, GroupWriter},
    inventory::Inventory,
    jobs::{JobReader, JobWriter},
    sessions::{SessionReader, SessionWriter},
    singleton_tasks::SingletonTaskWriter,
    term_statistics::{TermStatisticsReader, TermStatisticsWriter},
    usage::{UsageReader, UsageWriter},
    users::{UserReader, UserWriter},
    verifications::{VerificationReader, VerificationWriter},
    webhooks::{WebhookReader, WebhookWriter},
};
use async_trait::async_trait;

/// Opens units of work.
#[async_trait]
pub trait Store: Send + Sync {
    /// Opens a unit of work that may change records. The records that it reads stay as they are until it
    /// commits; others may come, which counts and lists show.
    ///
    /// Make no network call between this and [`UnitOfWork::commit`].
    async fn begin(&self) -> Result<Box<dyn UnitOfWork>>;

    /// Opens a consistent view for reading. It never waits for writers.
    async fn read(&self) -> Result<Box<dyn ReadView>>;

    /// Opens a view for a single read, which is spared what would keep it consistent with further ones: those
    /// may show a later state. Records that concurrent glances ask for by their ids may be read together,
    /// after all of them were asked for. It never waits for writers.
    async fn read_latest(&self) -> Result<Box<dyn ReadView>> {
        self.read().await
    }

    /// Whether the database answers.
    async fn check(&self) -> Result<()>;

    /// How the database's schema compares with the one that this program was built for; changes nothing.
    async fn schema(&self) -> Result<Schema>;
}

/// A database's schema beside the one that this program was built for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schema {
    /// They are the same.
    #[default]
    Current,
    /// A later program has changed it already. Changes are made so that the program before still works.
    Newer,
    /// It lacks changes that this program needs.
    Older,
    /// There is none yet.
    Missing,
}

impl Schema {
    /// Whether this program can work with it.
    pub const fn is_usable(self) -> bool {
        matches!(self, Self::Current | Self::Newer)
    }
}

/// A consistent view of the records.
pub trait ReadView: Send {
    /// Documents.
    fn documents(&mut self) -> &mut dyn DocumentReader;
    /// Jobs.
    fn jobs(&mut self) -> &mut dyn JobReader;
    /// Accounts.
    fn users(&mut self) -> &mut dyn UserReader;
    /// Groups, and what accounts are allowed.
    fn groups(&mut self) -> &mut dyn GroupReader;
    /// API keys.
    fn api_keys(&mut self) -> &mut dyn ApiKeyReader;
    /// Sessions.
    fn sessions(&mut self) -> &mut dyn SessionReader;
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
    /// Vectors of texts that were embedded before.
    fn embedding_cache(&mut self) -> &mut dyn EmbeddingCacheReader;
    /// Generations of the index.
    fn generations(&mut self) -> &mut dyn GenerationReader;
    /// How often terms occur in collections.
    fn term_statistics(&mut self) -> &mut dyn TermStatisticsReader;
    /// Everything, page by page.
    fn inventory(&mut self) -> &mut dyn Inventory;
}

/// Changes that become visible together or not at all. Dropping it without a commit undoes them.
///
/// After one of its calls failed or was cut short it can only be dropped: all further ones fail, the
/// commit too.
#[async_trait]
pub trait UnitOfWork: Send {
    /// Documents.
    fn documents(&mut self) -> &mut dyn DocumentWriter;
    /// Jobs.
    fn jobs(&mut self) -> &mut dyn JobWriter;
    /// Accounts.
    fn users(&mut self) -> &mut dyn UserWriter;
    /// Groups, and what accounts are allowed.
    fn groups(&mut self) -> &mut dyn GroupWriter;
    /// API keys.
    fn api_keys(&mut self) -> &mut dyn ApiKeyWriter;
    /// Sessions.
    fn sessions(&mut self) -> &mut dyn SessionWriter;
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
    /// Vectors of texts that were embedded before.
    fn embedding_cache(&mut self) -> &mut dyn EmbeddingCacheWriter;
    /// Generations of the index.
    fn generations(&mut self) -> &mut dyn GenerationWriter;
    /// How often terms occur in collections.
    fn term_statistics(&mut self) -> &mut dyn TermStatisticsWriter;
    /// What one process at a time sees to.
    fn singleton_tasks(&mut self) -> &mut dyn SingletonTaskWriter;

    /// Makes the changes durable.
    ///
    /// # Errors
    /// When it fails, whether the changes were made is not known; read before trying again.
    async fn commit(self: Box<Self>) -> Result<()>;
}

/// Leads every repository to one field: `repositories!(read to session)` those of a [`ReadView`], and
/// `repositories!(write to session)` those of a [`UnitOfWork`] to a session that is all of them;
/// `repositories!(write through inner)` to those of another unit of work.
#[macro_export]
macro_rules! repositories {
    (read $how:ident $field:tt) => {
        $crate::repositories! { @each $how $field
            documents: documents::DocumentReader, jobs: jobs::JobReader, users: users::UserReader,
            groups: groups::GroupReader, api_keys: api_keys::ApiKeyReader, sessions: sessions::SessionReader,
            verifications: verifications::VerificationReader, conversations: conversations::ConversationReader,
            webhooks: webhooks::WebhookReader,
            usage: usage::UsageReader, audit: audit::AuditReader,
            embedding_cache: embedding_cache::EmbeddingCacheReader, generations: generations::GenerationReader,
            term_statistics: term_statistics::TermStatisticsReader, inventory: inventory::Inventory
        }
    };
    (write $how:ident $field:tt) => {
        $crate::repositories! { @each $how $field
            documents: documents::DocumentWriter, jobs: jobs::JobWriter, users: users::UserWriter,
            groups: groups::GroupWriter, api_keys: api_keys::ApiKeyWriter, sessions: sessions::SessionWriter,
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
