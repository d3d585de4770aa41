//! `POST /webhooks`

use super::response::{WebhookWithSecret, events};
use crate::openapi::answers;
use actix_web::HttpResponse;
use docent_app::webhooks::own::{self, Wanted};
use docent_domain::{
    access::ManageWebhooks,
    webhook::{WebhookDescription, WebhookEvents, WebhookUrl},
};
use docent_http::{
    context::State,
    error::{ApiError, Reply},
    extract::{
        granted::Granted,
        json::{Body, Fields},
    },
};
use utoipa::ToSchema;

/// A webhook to make.
#[derive(ToSchema)]
#[expect(dead_code, reason = "says what the handler reads field by field")]
#[schema(example = json!({ "url": "https://example.org/docent", "events": ["document.ingested"] }))]
pub(crate) struct WebhookCreate {
    /// Where it is to be told: `https`, no user name, a host on the public internet unless `webhook_allow_private` is set.
    #[schema(max_length = 2000, format = "uri")]
    url: String,
    /// What it is for.
    #[schema(max_length = 200)]
    description: Option<String>,
    /// What it is to be told of; everything when left out.
    #[schema(min_items = 1)]
    events: Option<Vec<super::response::WebhookEventName>>,
    /// Of the documents of all accounts, which takes the permission `documents.view_document`.
    all_documents: Option<bool>,
}

/// Make a webhook (extension)
///
/// It is told when the ingestion of a document of its account is over, well or not. Its secret is in this answer alone. An account may have 20.
#[utoipa::path(
    post, path = "/webhooks", operation_id = "create_webhook", tag = "Webhooks",
    request_body = WebhookCreate,
    responses(
        (status = 201, description = "The new webhook, with its secret.", body = WebhookWithSecret<'_>),
        answers::Guarded,
        answers::TooManyWebhooks,
        answers::BodyRead,
        answers::StoreAway,
        answers::StoreFull,
    ),
)]
pub(crate) async fn create(by: Granted<ManageWebhooks>, context: State, body: Body) -> Reply {
    let wanted = parse(body.fields().await?)?;
    let webhook = own::create(&context.app, &by.actor, &by.grant, wanted).await?;
    Ok(HttpResponse::Created().json(WebhookWithSecret::of(&webhook, context.app.now())))
}

fn parse(mut body: Fields) -> Result<Wanted, ApiError> {
    let text = body.text("url");
    let url = body.parse("url", text, WebhookUrl::parse);
    let text = body.optional_text("description").or_else(|| Some(String::new()));
    let description = body.parse("description", text, WebhookDescription::parse);
    let events = events(&mut body).unwrap_or_else(WebhookEvents::all);
    let all_documents = body.flag("all_documents");
    let wanted =
        url.zip(description).map(|(url, description)| Wanted { url, description, events, all_documents });
    body.done(wanted)
}
