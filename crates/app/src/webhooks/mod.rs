//! Webhook subscriptions and deliveries.
//!
//! Deliveries are queued in the unit of work that changes the document ([`events`]), so that both are recorded or
//! neither is. Workers ([`delivery_worker`]) sign the messages ([`signature`]), send them, and retry.

pub mod delivery_worker;
pub(crate) mod events;
pub mod own;
pub mod signature;
pub mod staff;

use crate::App;
use crate::audit::AuditTarget;
use crate::error::{Error, Result};
use docent_domain::id::{WebhookDeliveryId, WebhookId};
use docent_domain::listing::{DeliveryPosition, PageRequest};
use docent_domain::permission::RecordKind;
use docent_domain::webhook::{DeliveryState, Webhook, WebhookDelivery};
use docent_ports::store::UnitOfWork;

/// Queues a delivery of this webhook again, as if it were new: the same message with the same ID.
async fn requeue(
    app: &App,
    work: &mut dyn UnitOfWork,
    webhook: &Webhook,
    id: WebhookDeliveryId,
) -> Result<WebhookDelivery> {
    let delivery = work.webhooks().delivery(id).await?.filter(|delivery| delivery.webhook == webhook.id);
    let delivery = delivery.ok_or(Error::DeliveryNotFound)?;
    if !webhook.is_active {
        return Err(Error::WebhookDisabled);
    }
    let now = app.now();
    let queued = WebhookDelivery {
        state: DeliveryState::Pending(now),
        attempts: 0,
        last_status: None,
        last_error: None,
        updated_at: now,
        ..delivery
    };
    match work.webhooks().change_delivery(&queued, now).await? {
        true => Ok(queued),
        false => Err(Error::DeliveryInProgress),
    }
}

/// At most `limit` deliveries after a position of the log, newest first.
async fn log(
    app: &App,
    id: WebhookId,
    after: Option<DeliveryPosition>,
    limit: u64,
) -> Result<Vec<WebhookDelivery>> {
    let page = PageRequest { offset: 0, limit };
    Ok(app.store.read().await?.webhooks().deliveries(id, after, page).await?.records)
}

/// The target of audit log entries about a webhook, without the secrets in its URL.
fn audit_target(webhook: &Webhook) -> AuditTarget {
    AuditTarget::new(RecordKind::Webhook, webhook.id, &webhook.url.masked())
}

const fn not_found() -> Error {
    Error::NotFound(RecordKind::Webhook)
}
