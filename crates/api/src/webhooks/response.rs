//! Responses with webhooks and deliveries.

use crate::timestamp::rfc3339;
use chrono::{DateTime, Utc};
use docent_app::webhooks::signature::secret_text;
use docent_domain::webhook::{Webhook, WebhookDelivery, WebhookEvent, WebhookEvents};
use serde::Serialize;
use utoipa::ToSchema;

/// Defines a response with the fields of a webhook, and with its secret if one is named.
macro_rules! webhook_response {
    ($(#[$attribute:meta])* $name:ident $($(#[$of_secret:meta])* $secret:ident)?) => {
        #[derive(Serialize, ToSchema)]
        $(#[$attribute])*
        pub(crate) struct $name<'a> {
            /// ID of the webhook.
            #[schema(format = "uuid")]
            id: String,
            /// URL of the receiver.
            #[schema(max_length = 2000)]
            url: &'a str,
            /// Description for people.
            #[schema(max_length = 200)]
            description: &'a str,
            /// Subscribed events.
            #[schema(min_items = 1)]
            events: Vec<WebhookEventName>,
            /// Whether the documents of all accounts are included.
            all_documents: bool,
            /// Whether events are sent.
            active: bool,
            /// Until when messages are also signed with the previous secret; `null` if they are not.
            #[schema(required, format = "date-time")]
            previous_secret_until: Option<String>,
            /// Creation time.
            #[schema(format = "date-time")]
            created_at: String,
            /// Time of the last change.
            #[schema(format = "date-time")]
            updated_at: String,
            $($(#[$of_secret])* $secret: String,)?
        }

        impl<'a> $name<'a> {
            pub(super) fn of(webhook: &'a Webhook, now: DateTime<Utc>) -> Self {
                let until = webhook.previous_secret.as_ref().map(|(_, until)| *until);
                Self {
                    id: webhook.id.to_string(),
                    url: webhook.url.as_str(),
                    description: webhook.description.as_str(),
                    events: event_names(webhook.events),
                    all_documents: webhook.all_documents,
                    active: webhook.is_active,
                    previous_secret_until: until.filter(|until| now < *until).map(rfc3339),
                    created_at: rfc3339(webhook.created_at),
                    updated_at: rfc3339(webhook.updated_at),
                    $($secret: secret_text(&webhook.$secret),)?
                }
            }
        }
    };
}

webhook_response! {
    /// A webhook.
    #[schema(example = json!({
        "id": "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e",
        "url": "https://example.org/docent",
        "description": "the intranet",
        "events": ["document.ingested", "document.failed", "document.replacement_failed"],
        "all_documents": false,
        "active": true,
        "previous_secret_until": null,
        "created_at": "2026-01-01T00:00:00.000000Z",
        "updated_at": "2026-01-01T00:00:00.000000Z",
    }))]
    WebhookResponse
}

webhook_response! {
    /// A webhook with its secret, which is not shown again.
    WebhookWithSecret
    /// Key of the message signatures: `whsec_` and 32 bytes in Base64.
    #[schema(pattern = "^whsec_[A-Za-z0-9+/]{43}=$")]
    secret
}

/// An event that can be subscribed to.
#[derive(Clone, Copy, Serialize, ToSchema)]
pub(crate) enum WebhookEventName {
    /// A document became searchable.
    #[serde(rename = "document.ingested")]
    DocumentIngested,
    /// Ingestion of a document failed.
    #[serde(rename = "document.failed")]
    DocumentFailed,
    /// Ingestion of another file for a document failed; its former file stays searchable.
    #[serde(rename = "document.replacement_failed")]
    ReplacementFailed,
}

fn event_names(events: WebhookEvents) -> Vec<WebhookEventName> {
    let names = [
        (WebhookEvent::DocumentIngested, WebhookEventName::DocumentIngested),
        (WebhookEvent::DocumentFailed, WebhookEventName::DocumentFailed),
        (WebhookEvent::ReplacementFailed, WebhookEventName::ReplacementFailed),
    ];
    names.into_iter().filter(|(event, _)| events.contains(*event)).map(|(_, name)| name).collect()
}

/// The delivery of an event to a webhook.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "id": "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e",
    "event": "document.ingested",
    "document_id": "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4f",
    "state": "pending",
    "attempts": 1,
    "last_status": 503,
    "last_error": "the receiver answered 503",
    "next_attempt_at": "2026-01-01T00:00:05.000000Z",
    "created_at": "2026-01-01T00:00:00.000000Z",
    "updated_at": "2026-01-01T00:00:00.000000Z",
}))]
pub(crate) struct DeliveryResponse<'a> {
    /// ID of the delivery. Messages contain it as `webhook-id`.
    #[schema(format = "uuid")]
    id: String,
    /// Name of the event, or `ping`.
    event: &'static str,
    /// ID of the document, which may be deleted; `null` for a ping.
    #[schema(required, format = "uuid")]
    document_id: Option<String>,
    /// `pending`, `delivered` or `failed`.
    #[schema(pattern = "^(pending|delivered|failed)$")]
    state: &'static str,
    /// Number of attempts since the event or the last replay.
    attempts: u32,
    /// Status of the last response; `null` if there was none.
    #[schema(required)]
    last_status: Option<u16>,
    /// Why the last attempt failed; `null` if it succeeded.
    #[schema(required)]
    last_error: Option<&'a str>,
    /// Time of the next attempt; `null` if none is planned.
    #[schema(required, format = "date-time")]
    next_attempt_at: Option<String>,
    /// Time of the event.
    #[schema(format = "date-time")]
    created_at: String,
    /// Time of the last attempt or replay.
    #[schema(format = "date-time")]
    updated_at: String,
}

impl<'a> From<&'a WebhookDelivery> for DeliveryResponse<'a> {
    fn from(delivery: &'a WebhookDelivery) -> Self {
        Self {
            id: delivery.id.to_string(),
            event: delivery.event.name(),
            document_id: delivery.document.map(|id| id.to_string()),
            state: delivery.state.name(),
            attempts: delivery.attempts,
            last_status: delivery.last_status,
            last_error: delivery.last_error.as_deref(),
            next_attempt_at: delivery.state.next_attempt().map(rfc3339),
            created_at: rfc3339(delivery.created_at),
            updated_at: rfc3339(delivery.updated_at),
        }
    }
}
