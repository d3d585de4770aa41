//! The usage ledger: token usage of answers, by account.

use crate::App;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::Result;
use chrono::{DateTime, Utc};
use docent_domain::access::{ExportUsage, Grant, ViewUsageRecords};
use docent_domain::api_key::ApiKey;
use docent_domain::audit::AuditAction;
use docent_domain::error::ValidationError;
use docent_domain::id::{ApiKeyId, UserId};
use docent_domain::listing::{Page, PageRequest, UsageFilter, UsageGrouping, UsageSum};
use docent_domain::permission::RecordKind;
use docent_domain::text::Email;
use docent_domain::usage::UsageRecord;
use std::collections::HashMap;

/// The maximum number of rows of an export.
pub const EXPORT_MAX: u64 = 50_000;

/// Adds a record to the usage ledger.
///
/// # Errors
/// When the database cannot be reached.
pub async fn record(app: &App, record: &UsageRecord) -> Result<()> {
    let mut work = app.store.begin().await?;
    work.usage().insert(record).await?;
    work.commit().await?;
    Ok(())
}

/// Sums with the names of their accounts and API keys, as far as these still exist.
#[derive(Debug)]
pub struct Usage {
    /// The sums.
    pub sums: Page<UsageSum>,
    /// Email addresses by account.
    pub emails: HashMap<UserId, Email>,
    /// API keys by ID.
    pub keys: HashMap<ApiKeyId, ApiKey>,
}

/// A page of sums over the ledger.
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
    read(app, filter, grouping, page).await
}

async fn read(app: &App, filter: &UsageFilter, grouping: UsageGrouping, page: PageRequest) -> Result<Usage> {
    let mut view = app.store.read().await?;
    let sums = view.usage().sums(filter, grouping, page).await?;
    let mut users: Vec<UserId> = sums.records.iter().filter_map(|sum| sum.user).collect();
    users.sort_unstable();
    users.dedup();
    let mut emails = HashMap::new();
    // The number of parameters of a statement is limited.
    for batch in users.chunks(500) {
        emails.extend(view.users().emails(batch).await?);
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

/// All sums over the ledger, for an export, which the audit log records.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) when there are more than [`EXPORT_MAX`] rows, or when the database
/// cannot be reached.
pub async fn export(
    app: &App,
    grant: Grant<ExportUsage>,
    filter: &UsageFilter,
    grouping: UsageGrouping,
) -> Result<Usage> {
    let usage = read(app, filter, grouping, PageRequest { offset: 0, limit: EXPORT_MAX }).await?;
    if usage.sums.total > EXPORT_MAX {
        let reason = format!("has more than {EXPORT_MAX} rows; choose a shorter one");
        return Err(ValidationError::new("period", reason).into());
    }
    let rfc3339 = |at: Option<DateTime<Utc>>| at.map(|at| at.to_rfc3339());
    let changes = Changes::default()
        .added("lines", usage.sums.records.len())
        .field("from", None, rfc3339(filter.period.from))
        .field("to", None, rfc3339(filter.period.to))
        .field("user", None, filter.user.map(|user| user.to_string()));
    let target = AuditTarget::new(RecordKind::Usage, "sums", "Usage");
    let mut work = app.store.begin().await?;
    app.audit(&mut *work, &Initiator::grantee(&grant), AuditAction::Export, target, changes).await?;
    work.commit().await?;
    Ok(usage)
}
