//! What answers cost: writing it down, and what staff see of it.

use crate::{
    App,
    audit::{By, Changes, Subject},
    error::Result,
};
use chrono::{DateTime, Utc};
use docent_domain::{
    access::{Grant, ViewUsageRecords},
    api_key::ApiKey,
    audit::AuditAction,
    error::ValidationError,
    id::{ApiKeyId, UserId},
    permission::RecordKind,
    text::Email,
    usage::UsageRecord,
};
use docent_ports::{
    page::{Page, PageRequest},
    usage::{UsageFilter, UsageGrouping, UsageSum},
};
use std::collections::HashMap;

/// The most lines of an export.
pub const EXPORT_MAX: u64 = 50_000;

/// Adds a line to the usage ledger.
///
/// # Errors
/// When the database cannot be reached.
pub async fn record(app: &App, record: &UsageRecord) -> Result<()> {
    let mut work = app.store.begin().await?;
    work.usage().insert(record).await?;
    work.commit().await?;
    Ok(())
}

/// Sums, and what the accounts and keys in them are called, as far as they still exist.
#[derive(Debug)]
pub struct Usage {
    /// The sums.
    pub sums: Page<UsageSum>,
    /// Addresses of accounts.
    pub emails: HashMap<UserId, Email>,
    /// Keys.
    pub keys: HashMap<ApiKeyId, ApiKey>,
}

/// Sums over the ledger.
///
/// # Errors
/// When the database cannot be reached.
pub async fn sums(
    app: &App,
    _grant: Grant<ViewUsageRecords>,
    filter: &UsageFilter,
    grouping: UsageGrouping,
    page: PageRequest,
) -> Result<Usage> {
    let mut view = app.store.read().await?;
    let sums = view.usage().sums(filter, grouping, page).await?;
    let mut users: Vec<UserId> = sums.records.iter().filter_map(|sum| sum.user).collect();
    users.sort_unstable();
    users.dedup();
    let mut emails = HashMap::new();
    // A statement has room for so many values.
    for some in users.chunks(500) {
        emails.extend(view.users().emails(some).await?);
    }
    let mut keys = HashMap::new();
    for id in sums.records.iter().filter_map(|sum| sum.api_key) {
        if !keys.contains_key(&id)
            && let Some(key) = view.api_keys().get(id).await?
        {
            keys.insert(id, key);
        }
    }
    Ok(Usage { sums, emails, keys })
}

/// Sums over the ledger to be taken away as a file; the audit log tells of it.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) when there are more than [`EXPORT_MAX`], or when the database cannot be
/// reached.
pub async fn export(
    app: &App,
    grant: Grant<ViewUsageRecords>,
    filter: &UsageFilter,
    grouping: UsageGrouping,
) -> Result<Usage> {
    let usage = sums(app, grant, filter, grouping, PageRequest { offset: 0, limit: EXPORT_MAX }).await?;
    if usage.sums.total > EXPORT_MAX {
        let reason = format!("gives more than {EXPORT_MAX} lines; choose a shorter one");
        return Err(ValidationError::new("period", reason).into());
    }
    let day = |at: Option<DateTime<Utc>>| at.map(|at| at.to_rfc3339());
    let changes = Changes::default()
        .added("lines", usage.sums.records.len())
        .field("from", None, day(filter.period.from))
        .field("to", None, day(filter.period.to))
        .field("user", None, filter.user.map(|user| user.to_string()));
    let subject = Subject::new(RecordKind::Usage, "sums", "Usage");
    let mut work = app.store.begin().await?;
    app.auditor().write(&mut *work, &By::holder(&grant), AuditAction::Export, subject, changes).await?;
    work.commit().await?;
    Ok(usage)
}
