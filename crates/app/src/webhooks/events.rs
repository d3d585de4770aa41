//! Queues webhook deliveries.

use crate::App;
use docent_domain::document::{Document, DocumentState};
use docent_domain::fault::Fault;
use docent_domain::id::{WebhookDeliveryId, WebhookId};
use docent_domain::webhook::{DeliveryState, WebhookDelivery, WebhookEvent, WebhookPayload};
use docent_ports::store::UnitOfWork;

/// Records a delivery of the end of an ingestion to each subscribed webhook, in the unit of work that changes the
/// document. Returns whether there is any.
///
/// # Errors
/// If the database fails; the unit of work cannot be used any more.
pub(crate) async fn enqueue_deliveries(
    app: &App,
    work: &mut dyn UnitOfWork,
    document: &Document,
) -> Result<bool, Fault> {
    let event = match &document.state {
        DocumentState::Pending(_) => return Ok(false),
        DocumentState::Ingested(_) if document.failed_replacement().is_some() => {
            WebhookEvent::ReplacementFailed
        }
        DocumentState::Ingested(_) => WebhookEvent::DocumentIngested,
        DocumentState::Failed(_) => WebhookEvent::DocumentFailed,
    };
    let webhooks = work.webhooks().subscribed(document.owner, event).await?;
    if webhooks.is_empty() {
        return Ok(false);
    }
    let payload = WebhookPayload { event, at: app.now(), document: Some(document) };
    let body = (app.webhook_body)(&payload)?;
    for webhook in webhooks {
        work.webhooks().add_delivery(&delivery(app, webhook, &payload, body.clone())).await?;
    }
    Ok(true)
}

/// Creates a delivery of a test message.
pub(super) fn ping(app: &App, webhook: WebhookId) -> Result<WebhookDelivery, Fault> {
    let payload = WebhookPayload { event: WebhookEvent::Ping, at: app.now(), document: None };
    let body = (app.webhook_body)(&payload)?;
    Ok(delivery(app, webhook, &payload, body))
}

fn delivery(app: &App, webhook: WebhookId, payload: &WebhookPayload<'_>, body: String) -> WebhookDelivery {
    WebhookDelivery {
        id: app.new_id(WebhookDeliveryId::generate),
        webhook,
        event: payload.event,
        document: payload.document.map(|document| document.id),
        body,
        state: DeliveryState::Pending(payload.at),
        attempts: 0,
        last_status: None,
        last_error: None,
        created_at: payload.at,
        updated_at: payload.at,
    }
}
