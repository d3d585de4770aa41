//! `POST /webhooks/{id}/secret`

use super::response::WebhookWithSecret;
use crate::answers;
use actix_web::HttpResponse;
use docent_app::webhooks::own;
use docent_domain::access::DirectWebhooks;
use docent_domain::id::WebhookId;
use docent_http::{Granted, PathId, Reply, State};

/// Rotate the secret of a webhook (extension)
///
/// Only this response contains the new secret. For 24 hours messages are also signed with the previous secret, so that the receiver can
/// change it.
#[utoipa::path(
    post, path = "/webhooks/{id}/secret", operation_id = "rotate_webhook_secret", tag = "Webhooks",
    params(("id" = String, Path, description = "ID of the webhook.", format = "uuid")),
    responses(
        (status = 200, description = "The webhook, with its new secret.", body = WebhookWithSecret<'_>),
        answers::UnknownWebhook, answers::StorageFull,
    ),
)]
pub(crate) async fn rotate(by: Granted<DirectWebhooks>, context: State, id: PathId<WebhookId>) -> Reply {
    let webhook = own::rotate(&context.app, &by.grant, id.parse()?).await?;
    Ok(HttpResponse::Ok().json(WebhookWithSecret::of(&webhook, context.app.now())))
}
