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

/// Which audit log entries to list.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Only actions of this account.
    pub actor: Option<UserId>,
    /// Only this action.
    pub action: Option<AuditAction>,
    /// Only actions on records of this kind.
    pub kind: Option<RecordKind>,
    /// Only actions on the record with this ID.
    pub record: Option<String>,
    /// Only actions in this period.
    pub period: Period,
}

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
