//! The records as answers, and what several operations share.

use chrono::{DateTime, SecondsFormat, Utc};
use docent_app::webhooks::signature::secret_text;
use docent_domain::webhook::{Webhook, WebhookDelivery, WebhookEvents};
use docent_http::extract::json::Fields;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A webhook.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "id": "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e",
    "url": "https://example.org/docent",
    "description": "the intranet",
    "events": ["document.ingested", "document.failed"],
    "all_documents": false,
    "active": true,
    "previous_secret_until": null,
    "created_at": "2026-01-01T00:00:00.000000Z",
    "updated_at": "2026-01-01T00:00:00.000000Z",
}))]
pub(crate) struct WebhookResponse<'a> {
    /// Its id.
    #[schema(format = "uuid")]
    id: String,
    /// Where it is told.
    #[schema(max_length = 2000)]
    url: &'a str,
    /// What it is for.
    #[schema(max_length = 200)]
    description: &'a str,
    /// What it is told of.
    #[schema(value_type = Vec<WebhookEventName>, min_items = 1)]
    events: Vec<&'static str>,
    /// Whether it is told of the documents of all accounts, and not of its own account's alone.
    all_documents: bool,
    /// Whether it is told of anything at present.
    active: bool,
    /// Until when the secret before the present one signs too; `null` when it does not.
    #[schema(required, format = "date-time")]
    previous_secret_until: Option<String>,
    /// When it was made.
    #[schema(format = "date-time")]
    created_at: String,
    /// When it last changed.
    #[schema(format = "date-time")]
    updated_at: String,
}

/// A webhook with its secret, which is not shown again.
#[derive(Serialize, ToSchema)]
pub(crate) struct WebhookWithSecret<'a> {
    /// Its id.
    #[schema(format = "uuid")]
    id: String,
    /// Where it is told.
    #[schema(max_length = 2000)]
    url: &'a str,
    /// What it is for.
    #[schema(max_length = 200)]
    description: &'a str,
    /// What it is told of.
    #[schema(value_type = Vec<WebhookEventName>, min_items = 1)]
    events: Vec<&'static str>,
    /// Whether it is told of the documents of all accounts, and not of its own account's alone.
    all_documents: bool,
    /// Whether it is told of anything at present.
    active: bool,
    /// Until when the secret before the present one signs too; `null` when it does not.
    #[schema(required, format = "date-time")]
    previous_secret_until: Option<String>,
    /// When it was made.
    #[schema(format = "date-time")]
    created_at: String,
    /// When it last changed.
    #[schema(format = "date-time")]
    updated_at: String,
    /// What its messages are signed with: `whsec_` and 32 bytes in base64.
    #[schema(pattern = "^whsec_[A-Za-z0-9+/]{43}=$")]
    secret: String,
}

/// What a webhook can be told of.
#[derive(ToSchema)]
#[expect(dead_code, reason = "says which names the domain gives them")]
pub(crate) enum WebhookEventName {
    /// A document can be found now.
    #[schema(rename = "document.ingested")]
    DocumentIngested,
    /// A document was given up.
    #[schema(rename = "document.failed")]
    DocumentFailed,
}

/// An event on its way to a webhook.
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
    /// Its id, which the message carries as `webhook-id`.
    #[schema(format = "uuid")]
    id: String,
    /// What it tells of: an event that can be chosen, or `ping`.
    event: &'static str,
    /// The document that it tells of, which may be gone; `null` for a ping.
    #[schema(required, format = "uuid")]
    document_id: Option<String>,
    /// `pending`, `delivered` or `failed`.
    #[schema(pattern = "^(pending|delivered|failed)$")]
    state: &'static str,
    /// Tries since it came, or was asked for again.
    attempts: u32,
    /// The status that the last try was answered with; `null` when it was not.
    #[schema(required)]
    last_status: Option<u16>,
    /// Why the last try did not do; `null` when it did.
    #[schema(required)]
    last_error: Option<&'a str>,
    /// When it is tried next; `null` when it is over.
    #[schema(required, format = "date-time")]
    next_attempt_at: Option<String>,
    /// When the event happened.
    #[schema(format = "date-time")]
    created_at: String,
    /// When it was last tried, or asked for again.
    #[schema(format = "date-time")]
    updated_at: String,
}

impl<'a> WebhookResponse<'a> {
    pub(super) fn of(webhook: &'a Webhook, now: DateTime<Utc>) -> Self {
        let until = webhook.previous_secret.as_ref().map(|(_, until)| *until);
        Self {
            id: webhook.id.to_string(),
            url: webhook.url.as_str(),
            description: webhook.description.as_str(),
            events: webhook.events.names().collect(),
            all_documents: webhook.all_documents,
            active: webhook.is_active,
            previous_secret_until: until.filter(|until| now < *until).map(instant),
            created_at: instant(webhook.created_at),
            updated_at: instant(webhook.updated_at),
        }
    }
}

impl<'a> WebhookWithSecret<'a> {
    pub(super) fn of(webhook: &'a Webhook, now: DateTime<Utc>) -> Self {
        let WebhookResponse {
            id,
            url,
            description,
            events,
            all_documents,
            active,
            previous_secret_until,
            created_at,
            updated_at,
        } = WebhookResponse::of(webhook, now);
        let secret = secret_text(&webhook.secret);
        Self {
            id,
            url,
            description,
            events,
            all_documents,
            active,
            previous_secret_until,
            created_at,
            updated_at,
            secret,
        }
    }
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
            next_attempt_at: delivery.state.next_attempt().map(instant),
            created_at: instant(delivery.created_at),
            updated_at: instant(delivery.updated_at),
        }
    }
}

pub(super) fn instant(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Micros, true)
}

/// Reads `events`, which may be missing.
pub(super) fn events(body: &mut Fields) -> Option<WebhookEvents> {
    let value = body.value("events")?;
    let names =
        value.as_array().and_then(|names| names.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
    let Some(names) = names else { return body.wrong("events", "must be a list of names") };
    match WebhookEvents::parse(names) {
        Ok(events) => Some(events),
        Err(invalid) => body.wrong("events", invalid.reason),
    }
}

/// Reads a boolean that may be missing.
pub(super) fn switch(body: &mut Fields, name: &'static str) -> Option<bool> {
    match body.value(name)? {
        Value::Bool(is_on) => Some(is_on),
        _ => body.wrong(name, "must be true or false"),
    }
}
