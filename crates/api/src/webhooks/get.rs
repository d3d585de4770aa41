//! `GET /webhooks/{id}`

use super::response::WebhookResponse;
use crate::answers;
use actix_web::HttpResponse;
use docent_app::webhooks::own;
use docent_domain::access::ManageWebhooks;
use docent_domain::id::WebhookId;
use docent_http::{Granted, PathId, Reply, State};

/// Read a webhook (extension)
#[utoipa::path(
    get, path = "/webhooks/{id}", operation_id = "get_webhook", tag = "Webhooks",
    params(("id" = String, Path, description = "ID of the webhook.", format = "uuid")),
    responses((status = 200, description = "The webhook.", body = WebhookResponse<'_>), answers::UnknownWebhook),
)]
pub(crate) async fn get(by: Granted<ManageWebhooks>, context: State, id: PathId<WebhookId>) -> Reply {
    let webhook = own::get(&context.app, &by.grant, id.parse()?).await?;
    Ok(HttpResponse::Ok().json(WebhookResponse::of(&webhook, context.app.now())))
}
