//! The audit log in memory.

use super::{Transaction, insert_once, newest_page};
use async_trait::async_trait;
use docent_domain::audit::{AuditActor, AuditEntry};
use docent_domain::fault::Result;
use docent_domain::id::AuditId;
use docent_domain::listing::{AuditFilter, Page, PageRequest};
use docent_ports::audit::{AuditReader, AuditWriter};

#[async_trait]
impl AuditReader for Transaction {
    async fn get(&mut self, id: AuditId) -> Result<Option<AuditEntry>> {
        Ok(self.read()?.audit.get(&id).cloned())
    }

    async fn list(&mut self, filter: &AuditFilter, page: PageRequest) -> Result<Page<AuditEntry>> {
        let entries: Vec<AuditEntry> =
            self.read()?.audit.values().filter(|entry| fits(filter, entry)).cloned().collect();
        Ok(newest_page(entries, |entry| (entry.at, entry.id), page))
    }
}

#[async_trait]
impl AuditWriter for Transaction {
    async fn append(&mut self, entry: &AuditEntry) -> Result<()> {
        self.write(|tables| insert_once(&mut tables.audit, entry.id, entry))
    }
}

fn fits(filter: &AuditFilter, entry: &AuditEntry) -> bool {
    let by = |user| matches!(&entry.actor, AuditActor::User { id, .. } if *id == user);
    filter.actor.is_none_or(by)
        && filter.action.is_none_or(|action| entry.action == action)
        && filter.kind.is_none_or(|kind| entry.kind == kind)
        && filter.record.as_ref().is_none_or(|record| entry.record == *record)
        && filter.period.contains(entry.at)
}
