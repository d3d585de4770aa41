//! Between webhooks, what is delivered to them, and their rows.

use super::{
    entities::{
        webhook_deliveries::{self, Model as DeliveryRow},
        webhooks::{self, Model},
    },
    fault::corrupt,
    values::{counted, digest, instant, micros},
};
use docent_domain::{
    id::{DocumentId, UserId, WebhookDeliveryId, WebhookId},
    webhook::{
        DeliveryState, Webhook, WebhookDelivery, WebhookDescription, WebhookEvent, WebhookEvents,
        WebhookSecret, WebhookUrl,
    },
};
use docent_ports::error::Result;
use sea_orm::{ActiveModelTrait, IntoActiveModel, NotSet};

/// The row of a webhook, without its lease.
pub(super) fn to_row(webhook: &Webhook) -> webhooks::ActiveModel {
    let previous = webhook.previous_secret.as_ref();
    let row = Model {
        id: webhook.id.as_uuid(),
        owner_id: webhook.owner.as_uuid(),
        url: webhook.url.as_str().to_owned(),
        description: webhook.description.as_str().to_owned(),
        events: webhook.events.to_string(),
        all_documents: webhook.all_documents,
        is_active: webhook.is_active,
        secret: webhook.secret.expose().to_vec(),
        previous_secret: previous.map(|(secret, _)| secret.expose().to_vec()),
        previous_until: previous.map(|(_, until)| micros(*until)),
        created_at: micros(webhook.created_at),
        updated_at: micros(webhook.updated_at),
        lease_id: None,
        held_until: 0,
    };
    webhooks::ActiveModel { lease_id: NotSet, held_until: NotSet, ..row.into_active_model().reset_all() }
}

pub(super) fn from_row(row: Model) -> Result<Webhook> {
    let secret = |bytes: &[u8]| digest(bytes, "webhook's secret").map(WebhookSecret::from_bytes);
    let when = |micros| instant(micros, "webhook's time");
    let previous_secret = match (&row.previous_secret, row.previous_until) {
        (Some(bytes), Some(until)) => Some((secret(bytes)?, when(until)?)),
        (None, None) => None,
        _ => return Err(corrupt("webhook's secret")),
    };
    Ok(Webhook {
        id: WebhookId::from_uuid(row.id),
        owner: UserId::from_uuid(row.owner_id),
        url: WebhookUrl::parse(&row.url).map_err(|_| corrupt("webhook's address"))?,
        description: WebhookDescription::parse(&row.description)
            .map_err(|_| corrupt("webhook's description"))?,
        events: WebhookEvents::parse(row.events.split(' ')).map_err(|_| corrupt("webhook's events"))?,
        all_documents: row.all_documents,
        is_active: row.is_active,
        secret: secret(&row.secret)?,
        previous_secret,
        created_at: when(row.created_at)?,
        updated_at: when(row.updated_at)?,
    })
}

pub(super) fn to_delivery_row(delivery: &WebhookDelivery) -> webhook_deliveries::ActiveModel {
    let row = DeliveryRow {
        id: delivery.id.as_uuid(),
        webhook_id: delivery.webhook.as_uuid(),
        event: delivery.event.name().to_owned(),
        document_id: delivery.document.map(DocumentId::as_uuid),
        body: delivery.body.clone(),
        state: delivery.state.name().to_owned(),
        due_at: delivery.state.next_attempt().map(micros),
        attempts: i64::from(delivery.attempts),
        last_status: delivery.last_status.map(i64::from),
        last_error: delivery.last_error.clone(),
        created_at: micros(delivery.created_at),
        updated_at: micros(delivery.updated_at),
    };
    row.into_active_model().reset_all()
}

pub(super) fn delivery(row: DeliveryRow) -> Result<WebhookDelivery> {
    let when = |micros| instant(micros, "delivery's time");
    let state = match (row.state.as_str(), row.due_at) {
        ("pending", Some(at)) => DeliveryState::Pending(when(at)?),
        ("delivered", None) => DeliveryState::Delivered,
        ("failed", None) => DeliveryState::Failed,
        _ => return Err(corrupt("delivery's state")),
    };
    Ok(WebhookDelivery {
        id: WebhookDeliveryId::from_uuid(row.id),
        webhook: WebhookId::from_uuid(row.webhook_id),
        event: WebhookEvent::parse(&row.event).ok_or_else(|| corrupt("delivery's event"))?,
        document: row.document_id.map(DocumentId::from_uuid),
        body: row.body,
        state,
        attempts: counted(row.attempts, "delivery's counter")?,
        last_status: row.last_status.map(|status| counted(status, "delivery's status")).transpose()?,
        last_error: row.last_error,
        created_at: when(row.created_at)?,
        updated_at: when(row.updated_at)?,
    })
}
