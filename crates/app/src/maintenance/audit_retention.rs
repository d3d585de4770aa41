//! Removal of old entries of the audit log, which are exported first.

use super::backup::audit_line;
use crate::App;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::audit::AuditAction;
use docent_domain::error::ValidationError;
use docent_domain::fault::Fault;
use docent_domain::id::AuditId;
use docent_domain::permission::RecordKind;
use docent_ports::audit::AuditExport;

/// Entries that one read exports.
const BATCH: u64 = 500;
/// Entries younger than this are never removed: an entry with an earlier time could still be committed.
const MIN_AGE: TimeDelta = TimeDelta::hours(1);

/// Exports the entries before a time as JSON lines, oldest first, and then removes them; returns their number. The removal
/// is an entry itself. Without such entries no export is left. `name` is that of the export.
///
/// # Errors
/// [`Error::Invalid`] for a time that is less than an hour ago; [`Error::EntriesRemovedElsewhere`] when another run has
/// removed exported entries in the meantime, and then the export is deleted; or when the export or the database fails.
/// Nothing is removed then.
pub async fn remove_before(
    app: &App,
    initiator: &Initiator,
    before: DateTime<Utc>,
    name: &str,
    mut export: Box<dyn AuditExport>,
) -> Result<u64> {
    if before > app.now() - MIN_AGE {
        return Err(ValidationError::new("before", "must be at least an hour ago").into());
    }
    let (mut after, mut exported) = (None, 0);
    loop {
        let entries = app.store.read_latest().await?.audit().oldest(before, after, BATCH).await?;
        let Some(last) = entries.last() else { break };
        after = Some((last.at, last.id));
        exported += entries.len() as u64;
        let lines = entries.iter().map(audit_line).collect::<Result<String, Fault>>()?;
        export.write(lines).await?;
    }
    let finished = export.finish().await?;
    if exported == 0 {
        finished.delete().await?;
        return Ok(0);
    }
    let mut work = app.store.begin().await?;
    let removed = work.audit().remove(app.new_id(AuditId::generate), app.now(), before).await?;
    if removed != exported {
        drop(work);
        finished.delete().await?;
        return Err(Error::EntriesRemovedElsewhere);
    }
    let changes = Changes::default()
        .added("before", before.to_rfc3339())
        .added("entries", removed)
        .added("export", name);
    let target = AuditTarget::new(RecordKind::AuditEntry, "removal", "Audit log");
    app.audit(&mut *work, initiator, AuditAction::Delete, target, changes).await?;
    work.commit().await?;
    Ok(removed)
}

/// Whether there is an entry before a time.
pub(crate) async fn has_before(app: &App, before: DateTime<Utc>) -> Result<bool, Error> {
    Ok(!app.store.read_latest().await?.audit().oldest(before, None, 1).await?.is_empty())
}
