//! Webhooks: addresses of accounts that are told what becomes of documents.
//!
//! What is to be told is taken down in the unit of work that changes the document ([`events`]), so that neither is
//! there without the other. Couriers ([`courier`]) send it, sign it ([`signature`]), and try again.

pub mod courier;
pub(crate) mod events;
pub mod own;
pub mod signature;
pub mod staff;

use crate::{
    App,
    error::{Error, Result},
};
use docent_domain::{
    id::{WebhookDeliveryId, WebhookId},
    listing::{DeliveryPosition, PageRequest},
    permission::RecordKind,
    webhook::{DeliveryState, Webhook, WebhookDelivery},
};
use docent_ports::store::UnitOfWork;

/// Has a delivery of this webhook sent again, as if it had just come: the same message with the same id.
async fn send_again(
    app: &App,
    work: &mut dyn UnitOfWork,
    webhook: &Webhook,
    id: WebhookDeliveryId,
) -> Result<WebhookDelivery> {
    let found = work.webhooks().delivery(id).await?.filter(|delivery| delivery.webhook == webhook.id);
    let delivery = found.ok_or(Error::DeliveryNotFound)?;
    if !webhook.is_active {
        return Err(Error::WebhookDisabled);
    }
    let now = app.now();
    let again = WebhookDelivery {
        state: DeliveryState::Pending(now),
        attempts: 0,
        last_status: None,
        last_error: None,
        updated_at: now,
        ..delivery
    };
    match work.webhooks().change_delivery(&again, now).await? {
        true => Ok(again),
        false => Err(Error::DeliveryInProgress),
    }
}

/// At most `limit` deliveries behind a place of the log, newest first.
async fn log(
    app: &App,
    id: WebhookId,
    after: Option<DeliveryPosition>,
    limit: u64,
) -> Result<Vec<WebhookDelivery>> {
    let page = PageRequest { offset: 0, limit };
    Ok(app.store.read().await?.webhooks().deliveries(id, after, page).await?.records)
}

const fn missing() -> Error {
    Error::NotFound(RecordKind::Webhook)
}
