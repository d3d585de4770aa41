//! `PATCH /webhooks/{id}`

use super::response::{WebhookResponse, events, switch};
use crate::openapi::answers;
use actix_web::{HttpResponse, web::Path};
use docent_app::webhooks::own::{self, Change};
use docent_domain::{
    access::ManageWebhooks,
    webhook::{WebhookDescription, WebhookUrl},
};
use docent_http::{
    context::State,
    error::{ApiError, Reply},
    extract::{
        self,
        granted::Granted,
        json::{Body, Fields},
    },
};
use utoipa::ToSchema;

/// What to change of a webhook; what is missing or `null` stays as it is.
#[derive(ToSchema)]
#[expect(dead_code, reason = "says what the handler reads field by field")]
#[schema(example = json!({ "active": false }))]
pub(crate) struct WebhookChange {
    /// Where it is to be told.
    #[schema(max_length = 2000, format = "uri")]
    url: Option<String>,
    /// What it is for.
    #[schema(max_length = 200)]
    description: Option<String>,
    /// What it is to be told of.
    #[schema(min_items = 1)]
    events: Option<Vec<super::response::WebhookEventName>>,
    /// Whether it is to be told of the documents of all accounts, which takes the permission `documents.view_document`.
    all_documents: Option<bool>,
    /// Whether it is to be told of anything. One that is off misses what happens; what was to be told before waits.
    active: Option<bool>,
}

/// Change a webhook (extension)
#[utoipa::path(
    patch, path = "/webhooks/{id}", operation_id = "change_webhook", tag = "Webhooks",
    params(("id" = String, Path, description = "The webhook's id.", format = "uuid")),
    request_body = WebhookChange,
    responses(
        (status = 200, description = "The webhook.", body = WebhookResponse<'_>),
        answers::Guarded,
        answers::NoWebhook,
        answers::BodyRead,
        answers::StoreAway,
        answers::StoreFull,
    ),
)]
pub(crate) async fn change(
    by: Granted<ManageWebhooks>,
    context: State,
    id: Path<String>,
    body: Body,
) -> Reply {
    let id = extract::id("id", &id)?;
    let change = parse(body.fields().await?)?;
    let webhook = own::change(&context.app, &by.actor, &by.grant, id, change).await?;
    Ok(HttpResponse::Ok().json(WebhookResponse::of(&webhook, context.app.now())))
}

fn parse(mut body: Fields) -> Result<Change, ApiError> {
    let text = body.optional_text("url");
    let url = body.parse("url", text, WebhookUrl::parse);
    let text = body.optional_text("description");
    let description = body.parse("description", text, WebhookDescription::parse);
    let change = Change {
        url,
        description,
        events: events(&mut body),
        all_documents: switch(&mut body, "all_documents"),
        is_active: switch(&mut body, "active"),
    };
    body.done(Some(change))
}
