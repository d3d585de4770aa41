//! `POST /webhooks/{id}/test`

use super::response::DeliveryResponse;
use crate::answers;
use actix_web::HttpResponse;
use docent_app::webhooks::own;
use docent_domain::access::ManageWebhooks;
use docent_domain::id::WebhookId;
use docent_http::{Granted, PathId, Reply, State};

/// Test a webhook (extension)
///
/// Sends a `ping`, independent of the subscribed events. The result is in the deliveries.
#[utoipa::path(
    post, path = "/webhooks/{id}/test", operation_id = "test_webhook", tag = "Webhooks",
    params(("id" = String, Path, description = "ID of the webhook.", format = "uuid")),
    responses(
        (status = 202, description = "The pending delivery.", body = DeliveryResponse<'_>),
        answers::UnknownWebhook, answers::WebhookDisabled, answers::StorageFull,
    ),
)]
pub(crate) async fn ping(by: Granted<ManageWebhooks>, context: State, id: PathId<WebhookId>) -> Reply {
    let ping = own::ping(&context.app, &by.grant, id.parse()?).await?;
    Ok(HttpResponse::Accepted().json(DeliveryResponse::from(&ping)))
}
