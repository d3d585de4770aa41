//! The audit log in memory.

use super::{Transaction, insert_once, newest_page};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::audit::{AuditActor, AuditEntry};
use docent_domain::fault::Result;
use docent_domain::id::AuditId;
use docent_domain::listing::{AuditFilter, Page, PageRequest};
use docent_ports::audit::{AuditReader, AuditWriter, FailedLogins, NETWORKS_MAX, OTHER_NETWORKS};
use std::collections::BTreeMap;

#[async_trait]
impl AuditReader for Transaction {
    async fn get(&mut self, id: AuditId) -> Result<Option<AuditEntry>> {
        Ok(self.read()?.audit.get(&id).cloned())
    }

    async fn oldest(
        &mut self,
        before: DateTime<Utc>,
        after: Option<(DateTime<Utc>, AuditId)>,
        limit: u64,
    ) -> Result<Vec<AuditEntry>> {
        let mut entries: Vec<AuditEntry> = self.read()?.audit.values().cloned().collect();
        entries.retain(|entry| entry.at < before && after.is_none_or(|after| (entry.at, entry.id) > after));
        entries.sort_by_key(|entry| (entry.at, entry.id));
        entries.truncate(usize::try_from(limit).expect("few entries"));
        Ok(entries)
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

    async fn remove(&mut self, _: AuditId, _: DateTime<Utc>, before: DateTime<Utc>) -> Result<u64> {
        self.write(|tables| {
            let all = tables.audit.len();
            tables.audit.retain(|_, entry| entry.at >= before);
            Ok((all - tables.audit.len()) as u64)
        })
    }

    async fn count_failed_login(&mut self, network: &str, hour: DateTime<Utc>) -> Result<()> {
        self.write(|tables| {
            let networks = tables.failed_logins.keys().filter(|(of, _)| *of == hour).count() as u64;
            let is_known = tables.failed_logins.contains_key(&(hour, network.to_owned()));
            let network = if is_known || networks < NETWORKS_MAX { network } else { OTHER_NETWORKS };
            *tables.failed_logins.entry((hour, network.to_owned())).or_default() += 1;
            Ok(())
        })
    }

    async fn take_failed_logins(&mut self, before: DateTime<Utc>) -> Result<Vec<FailedLogins>> {
        self.write(|tables| {
            let (taken, left) = std::mem::take(&mut tables.failed_logins)
                .into_iter()
                .partition(|((hour, _), _)| *hour < before);
            tables.failed_logins = left;
            let taken: BTreeMap<(DateTime<Utc>, String), u64> = taken;
            let logins = |((hour, network), attempts)| FailedLogins { network, hour, attempts };
            Ok(taken.into_iter().map(logins).collect())
        })
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
