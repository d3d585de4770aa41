//! Records who reads conversations of other accounts.

use crate::App;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::Result;
use chrono::NaiveTime;
use docent_domain::access::{Grant, ViewConversations};
use docent_domain::audit::AuditAction;
use docent_domain::conversation::Conversation;
use docent_domain::listing::{AuditFilter, PageRequest, Period};
use docent_domain::permission::RecordKind;
use docent_ports::store::UnitOfWork;

/// Writes to the audit log that a staff member reads a conversation of another account: once per reader, conversation
/// and day (UTC). The entry names the owner; the title may repeat a question, so it is left out.
///
/// # Errors
/// When the database cannot be reached. The conversation must not be shown then.
pub(super) async fn record(
    app: &App,
    grant: &Grant<ViewConversations>,
    conversation: &Conversation,
) -> Result<()> {
    let owner = conversation.owner;
    if owner == grant.user() {
        return Ok(());
    }
    let label = async |work: &mut dyn UnitOfWork| {
        let emails = work.users().emails(&[owner]).await?;
        Ok(emails.get(&owner).map_or("", |email| email.as_str()).to_owned())
    };
    record_once_a_day(app, grant, &conversation.id.to_string(), label).await
}

/// Writes to the audit log that a staff member reads this record, unless the log has it for this reader and day (UTC).
///
/// # Errors
/// When the database cannot be reached. The record must not be shown then.
pub(super) async fn record_once_a_day(
    app: &App,
    grant: &Grant<ViewConversations>,
    record: &str,
    label: impl AsyncFnOnce(&mut dyn UnitOfWork) -> Result<String>,
) -> Result<()> {
    let today = app.now().date_naive().and_time(NaiveTime::MIN).and_utc();
    let filter = AuditFilter {
        actor: Some(grant.user()),
        action: Some(AuditAction::View),
        kind: Some(RecordKind::Conversation),
        record: Some(record.to_owned()),
        period: Period { from: Some(today), to: None },
    };
    let first = PageRequest { offset: 0, limit: 1 };
    if app.store.read().await?.audit().list(&filter, first).await?.total > 0 {
        return Ok(());
    }
    let mut work = app.store.begin().await?;
    let target = AuditTarget::new(RecordKind::Conversation, record, &label(&mut *work).await?);
    app.audit(&mut *work, &Initiator::grantee(grant), AuditAction::View, target, Changes::default()).await?;
    Ok(work.commit().await?)
}
