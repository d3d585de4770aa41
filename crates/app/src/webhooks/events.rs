//! Queues webhook deliveries.

use crate::App;
use chrono::{DateTime, SecondsFormat, Utc};
use docent_domain::{
    document::{Document, DocumentState, Failure},
    fault::{Component, Fault, FaultKind},
    id::{DocumentId, WebhookDeliveryId, WebhookId},
    webhook::{DeliveryState, WebhookDelivery, WebhookEvent},
};
use docent_ports::store::UnitOfWork;
use serde::Serialize;

/// The body of a message.
#[derive(Serialize)]
struct Message<'a> {
    r#type: &'static str,
    timestamp: String,
    data: Data<'a>,
}

/// What the event is about; nothing for a ping.
#[derive(Default, Serialize)]
struct Data<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<DocumentView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<FailureView<'a>>,
}

/// A document as `GET /documents/{doc_id}` gives it.
#[derive(Serialize)]
struct DocumentView<'a> {
    id: String,
    title: &'a str,
    status: &'static str,
    vector_doc_id: Option<&'a str>,
}

/// Why it failed, as `GET /documents/{doc_id}/report` gives it.
#[derive(Serialize)]
struct FailureView<'a> {
    code: &'static str,
    reason: &'a str,
}

/// Queues the deliveries for a document that was ingested or has failed, in the unit of work that records this;
/// returns whether there are any.
///
/// # Errors
/// When the database fails; the unit of work must be dropped then.
pub(crate) async fn enqueue_deliveries(
    app: &App,
    work: &mut dyn UnitOfWork,
    document: &Document,
) -> Result<bool, Fault> {
    let (event, failure) = match &document.state {
        DocumentState::Pending(_) => return Ok(false),
        DocumentState::Ingested(_) => (WebhookEvent::DocumentIngested, None),
        DocumentState::Failed(failed) => (WebhookEvent::DocumentFailed, Some(&failed.failure)),
    };
    let webhooks = work.webhooks().subscribed(document.owner, event).await?;
    if webhooks.is_empty() {
        return Ok(false);
    }
    let now = app.now();
    let body = body(event, now, data(document, failure))?;
    for webhook in webhooks {
        let delivery = delivery(app, webhook, event, Some(document.id), body.clone(), now);
        work.webhooks().add_delivery(&delivery).await?;
    }
    Ok(true)
}

/// A test message.
pub(super) fn ping(app: &App, webhook: WebhookId) -> Result<WebhookDelivery, Fault> {
    let (event, now) = (WebhookEvent::Ping, app.now());
    Ok(delivery(app, webhook, event, None, body(event, now, Data::default())?, now))
}

fn data<'a>(document: &'a Document, failure: Option<&'a Failure>) -> Data<'a> {
    Data {
        document: Some(DocumentView {
            id: document.id.to_string(),
            title: document.title.as_str(),
            status: document.state.name(),
            vector_doc_id: document.state.vector_doc_id().map(|id| id.as_str()),
        }),
        failure: failure.map(|failure| FailureView { code: failure.code.as_str(), reason: &failure.reason }),
    }
}

fn body(event: WebhookEvent, at: DateTime<Utc>, data: Data<'_>) -> Result<String, Fault> {
    let timestamp = at.to_rfc3339_opts(SecondsFormat::Micros, true);
    serde_json::to_string(&Message { r#type: event.name(), timestamp, data }).map_err(|error| {
        Fault::new(Component::Service, FaultKind::Internal, "writing a webhook's message").caused_by(error)
    })
}

fn delivery(
    app: &App,
    webhook: WebhookId,
    event: WebhookEvent,
    document: Option<DocumentId>,
    body: String,
    now: DateTime<Utc>,
) -> WebhookDelivery {
    WebhookDelivery {
        id: app.new_id(WebhookDeliveryId::generate),
        webhook,
        event,
        document,
        body,
        state: DeliveryState::Pending(now),
        attempts: 0,
        last_status: None,
        last_error: None,
        created_at: now,
        updated_at: now,
    }
}
