//! `PATCH /webhooks/{id}`

use super::create::parse_events;
use super::response::{WebhookEventName, WebhookResponse};
use crate::answers;
use actix_web::HttpResponse;
use deserr::Deserr;
use docent_app::webhooks::own;
use docent_domain::access::ManageWebhooks;
use docent_domain::error::ValidationError;
use docent_domain::id::WebhookId;
use docent_domain::webhook::{WebhookDescription, WebhookEvents, WebhookUrl};
use docent_http::{Body, BodyErrors, Granted, PathId, Reply, State};
use serde_json::Value;
use utoipa::ToSchema;

/// Changes to a webhook. Fields that are missing or `null` stay unchanged.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "active": false }))]
pub(crate) struct WebhookChange {
    /// URL of the receiver.
    #[deserr(default)]
    #[schema(value_type = Option<String>, max_length = 2000, format = "uri")]
    url: Option<WebhookUrl>,
    /// Description for people.
    #[deserr(default)]
    #[schema(value_type = Option<String>, max_length = 200)]
    description: Option<WebhookDescription>,
    /// Subscribed events.
    #[deserr(default, try_from(Option<Value>) = parse_events -> ValidationError)]
    #[schema(value_type = Option<Vec<WebhookEventName>>, min_items = 1)]
    events: Option<WebhookEvents>,
    /// Whether to include the documents of all accounts. Requires the permission `documents.view_document`.
    #[deserr(default)]
    all_documents: Option<bool>,
    /// Whether events are sent. An inactive webhook receives no new events; deliveries that were pending before wait.
    #[deserr(default)]
    active: Option<bool>,
}

/// Change a webhook (extension)
#[utoipa::path(
    patch, path = "/webhooks/{id}", operation_id = "change_webhook", tag = "Webhooks",
    params(("id" = String, Path, description = "ID of the webhook.", format = "uuid")),
    request_body = WebhookChange,
    responses(
        (status = 200, description = "The webhook.", body = WebhookResponse<'_>),
        answers::UnknownWebhook, answers::InvalidBody, answers::StorageFull,
    ),
)]
pub(crate) async fn change(
    by: Granted<ManageWebhooks>,
    context: State,
    id: PathId<WebhookId>,
    body: Body,
) -> Reply {
    let id = id.parse()?;
    let WebhookChange { url, description, events, all_documents, active } = body.read().await?;
    let change = own::WebhookUpdate { url, description, events, all_documents, is_active: active };
    let webhook = own::change(&context.app, &by.actor, &by.grant, id, change).await?;
    Ok(HttpResponse::Ok().json(WebhookResponse::of(&webhook, context.app.now())))
}
