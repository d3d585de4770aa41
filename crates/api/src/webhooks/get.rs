//! `GET /webhooks/{id}`

use super::response::WebhookResponse;
use crate::openapi::answers;
use actix_web::{HttpResponse, web::Path};
use docent_app::webhooks::own;
use docent_domain::access::ManageWebhooks;
use docent_http::{
    context::State,
    error::Reply,
    extract::{self, granted::Granted},
};

/// Read a webhook (extension)
#[utoipa::path(
    get, path = "/webhooks/{id}", operation_id = "get_webhook", tag = "Webhooks",
    params(("id" = String, Path, description = "ID of the webhook.", format = "uuid")),
    responses(
        (status = 200, description = "The webhook.", body = WebhookResponse<'_>),
        answers::Guarded,
        answers::NoWebhook,
        answers::BadInput,
        answers::StoreAway,
    ),
)]
pub(crate) async fn get(by: Granted<ManageWebhooks>, context: State, id: Path<String>) -> Reply {
    let webhook = own::get(&context.app, &by.grant, extract::id("id", &id)?).await?;
    Ok(HttpResponse::Ok().json(WebhookResponse::of(&webhook, context.app.now())))
}
