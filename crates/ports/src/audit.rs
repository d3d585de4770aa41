//! The audit log in the relational store.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::audit::AuditEntry;
use docent_domain::fault::Result;
use docent_domain::id::AuditId;
use docent_domain::listing::{AuditFilter, Page, PageRequest};

/// Failed logins of unknown accounts from one network within an hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedLogins {
    /// The network, or [`OTHER_NETWORKS`].
    pub network: String,
    /// The start of the hour.
    pub hour: DateTime<Utc>,
    /// Number of failed logins.
    pub attempts: u64,
}

/// Maximum number of networks that are counted apart within an hour.
pub const NETWORKS_MAX: u64 = 1000;
/// The name under which all further networks of an hour are counted.
pub const OTHER_NETWORKS: &str = "other networks";

/// A file that entries are exported to.
#[async_trait]
pub trait AuditExport: Send {
    /// Appends text.
    async fn write(&mut self, lines: String) -> Result<()>;

    /// Makes the file durable. Without this call no file is left.
    async fn finish(self: Box<Self>) -> Result<Box<dyn FinishedExport>>;
}

/// A durable file with entries.
#[async_trait]
pub trait FinishedExport: Send {
    /// Deletes the file, because its entries were not removed.
    async fn delete(self: Box<Self>) -> Result<()>;
}

/// Creates files that entries are exported to.
#[async_trait]
pub trait AuditExports: Send + Sync {
    /// Creates a file with this name.
    ///
    /// # Errors
    /// If it exists or cannot be created.
    async fn create(&self, name: &str) -> Result<Box<dyn AuditExport>>;
}

/// Reads the audit log.
#[async_trait]
pub trait AuditReader: Send {
    /// Returns the entry with this ID.
    async fn get(&mut self, id: AuditId) -> Result<Option<AuditEntry>>;

    /// Lists entries before a time, oldest first by time and ID: at most `limit` after the given one.
    async fn oldest(
        &mut self,
        before: DateTime<Utc>,
        after: Option<(DateTime<Utc>, AuditId)>,
        limit: u64,
    ) -> Result<Vec<AuditEntry>>;

    /// Lists entries, newest first.
    async fn list(&mut self, filter: &AuditFilter, page: PageRequest) -> Result<Page<AuditEntry>>;
}

/// Appends to the audit log. The database rejects changes to existing entries, and deletions other than a recorded
/// [`remove`](Self::remove).
#[async_trait]
pub trait AuditWriter: AuditReader {
    /// Adds an entry.
    ///
    /// # Errors
    /// If an entry with this ID exists.
    async fn append(&mut self, entry: &AuditEntry) -> Result<()>;

    /// Removes all entries before a time and returns their number. The removal itself is recorded with `id`.
    async fn remove(&mut self, id: AuditId, at: DateTime<Utc>, before: DateTime<Utc>) -> Result<u64>;

    /// Counts a failed login of an unknown account. At most [`NETWORKS_MAX`] networks are counted apart within an hour, the
    /// others as [`OTHER_NETWORKS`].
    async fn count_failed_login(&mut self, network: &str, hour: DateTime<Utc>) -> Result<()>;

    /// Removes and returns the failed logins of hours that began before a time.
    async fn take_failed_logins(&mut self, before: DateTime<Utc>) -> Result<Vec<FailedLogins>>;
}
