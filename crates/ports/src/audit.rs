//! The audit log in the relational store.

use crate::{
    error::Result,
    page::{Page, PageRequest, Period},
};
use async_trait::async_trait;
use docent_domain::{
    audit::{AuditAction, AuditEntry},
    id::{AuditId, UserId},
    permission::RecordKind,
};

/// Which entries to list.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Only what this account did.
    pub by: Option<UserId>,
    /// Only this deed.
    pub deed: Option<AuditAction>,
    /// Only what was done to records of this kind.
    pub kind: Option<RecordKind>,
    /// Only what was done to the record with this id.
    pub record: Option<String>,
    /// Only of this time.
    pub period: Period,
}

/// Reads the audit log.
#[async_trait]
pub trait AuditReader: Send {
    /// The entry with this id.
    async fn get(&mut self, id: AuditId) -> Result<Option<AuditEntry>>;

    /// Entries, newest first.
    async fn list(&mut self, filter: &AuditFilter, page: PageRequest) -> Result<Page<AuditEntry>>;
}

/// Adds to the audit log. The database itself refuses to change or remove entries.
#[async_trait]
pub trait AuditWriter: AuditReader {
    /// Adds an entry.
    ///
    /// # Errors
    /// When there is one with this id.
    async fn append(&mut self, entry: &AuditEntry) -> Result<()>;
}
