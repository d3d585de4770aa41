//! `GET /webhooks`

use super::response::WebhookResponse;
use actix_web::HttpResponse;
use docent_app::webhooks::own;
use docent_domain::access::ManageWebhooks;
use docent_http::{Granted, Reply, State};

/// List webhooks (extension)
///
/// Returns the webhooks of the account, newest first. There are at most 20.
#[utoipa::path(
    get, path = "/webhooks", operation_id = "list_webhooks", tag = "Webhooks",
    responses((status = 200, description = "The webhooks.", body = [WebhookResponse<'_>])),
)]
pub(crate) async fn list(by: Granted<ManageWebhooks>, context: State) -> Reply {
    let (webhooks, now) = (own::list(&context.app, &by.grant).await?, context.app.now());
    let webhooks: Vec<_> = webhooks.iter().map(|webhook| WebhookResponse::of(webhook, now)).collect();
    Ok(HttpResponse::Ok().json(webhooks))
}
