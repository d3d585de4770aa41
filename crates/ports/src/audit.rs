//! The audit log in the relational store.

use async_trait::async_trait;
use docent_domain::audit::AuditEntry;
use docent_domain::fault::Result;
use docent_domain::id::AuditId;
use docent_domain::listing::{AuditFilter, Page, PageRequest};

/// Reads the audit log.
#[async_trait]
pub trait AuditReader: Send {
    /// Returns the entry with this ID.
    async fn get(&mut self, id: AuditId) -> Result<Option<AuditEntry>>;

    /// Lists entries, newest first.
    async fn list(&mut self, filter: &AuditFilter, page: PageRequest) -> Result<Page<AuditEntry>>;
}

/// Appends to the audit log. The database rejects changes to existing entries.
#[async_trait]
pub trait AuditWriter: AuditReader {
    /// Adds an entry.
    ///
    /// # Errors
    /// If an entry with this ID exists.
    async fn append(&mut self, entry: &AuditEntry) -> Result<()>;
}
