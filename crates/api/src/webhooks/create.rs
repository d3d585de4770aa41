//! `POST /webhooks`

use super::response::{WebhookEventName, WebhookWithSecret};
use crate::answers;
use actix_web::HttpResponse;
use deserr::Deserr;
use docent_app::webhooks::own::{self, WebhookInput};
use docent_domain::access::DirectWebhooks;
use docent_domain::error::ValidationError;
use docent_domain::webhook::{WebhookDescription, WebhookEvents, WebhookUrl};
use docent_http::{Body, BodyErrors, Granted, Reply, State};
use serde_json::Value;
use utoipa::ToSchema;

/// A new webhook.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "url": "https://example.org/docent", "events": ["document.ingested"] }))]
pub(crate) struct WebhookCreate {
    /// URL of the receiver: `https`, without a user name, and a host on the public internet unless `webhook_allow_private` is set.
    #[schema(value_type = String, max_length = 2000, format = "uri")]
    url: WebhookUrl,
    /// Description for people.
    #[deserr(default)]
    #[schema(value_type = Option<String>, max_length = 200)]
    description: Option<WebhookDescription>,
    /// Subscribed events. Default: all.
    #[deserr(default, try_from(Option<Value>) = parse_events -> ValidationError)]
    #[schema(value_type = Option<Vec<WebhookEventName>>, min_items = 1)]
    events: Option<WebhookEvents>,
    /// Whether to include the documents of all accounts. Requires the permission `documents.view_document`.
    #[deserr(default)]
    all_documents: Option<bool>,
}

/// Create a webhook (extension)
///
/// The webhook receives an event when the ingestion of a document of its account succeeds or fails. Only this response contains the
/// secret. An account can have 20 webhooks.
#[utoipa::path(
    post, path = "/webhooks", operation_id = "create_webhook", tag = "Webhooks",
    request_body = WebhookCreate,
    responses(
        (status = 201, description = "The new webhook, with its secret.", body = WebhookWithSecret<'_>),
        answers::TooManyWebhooks, answers::InvalidBody, answers::StorageFull,
    ),
)]
pub(crate) async fn create(by: Granted<DirectWebhooks>, context: State, body: Body) -> Reply {
    let WebhookCreate { url, description, events, all_documents } = body.read().await?;
    let input = WebhookInput {
        url,
        description: description.unwrap_or_default(),
        events: events.unwrap_or_else(WebhookEvents::all),
        all_documents: all_documents.unwrap_or(false),
    };
    let webhook = own::create(&context.app, &by.actor, &by.grant, input).await?;
    Ok(HttpResponse::Created().json(WebhookWithSecret::of(&webhook, context.app.now())))
}

/// Parses event names. An invalid name is reported at the list, not at the item.
pub(super) fn parse_events(names: Option<Value>) -> Result<Option<WebhookEvents>, ValidationError> {
    let Some(names) = names else { return Ok(None) };
    let Ok(names) = serde_json::from_value::<Vec<String>>(names) else {
        return Err(ValidationError::new("events", "must be a list of names"));
    };
    WebhookEvents::parse(names.iter().map(String::as_str)).map(Some)
}
