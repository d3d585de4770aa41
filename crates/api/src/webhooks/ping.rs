//! `POST /webhooks/{id}/test`

use super::response::DeliveryResponse;
use crate::openapi::answers;
use actix_web::{HttpResponse, web::Path};
use docent_app::webhooks::own;
use docent_domain::access::ManageWebhooks;
use docent_http::{
    context::State,
    error::Reply,
    extract::{self, granted::Granted},
};

/// Test a webhook (extension)
///
/// Sends a `ping`, independent of the subscribed events. The result is in the deliveries.
#[utoipa::path(
    post, path = "/webhooks/{id}/test", operation_id = "test_webhook", tag = "Webhooks",
    params(("id" = String, Path, description = "ID of the webhook.", format = "uuid")),
    responses(
        (status = 202, description = "The pending delivery.", body = DeliveryResponse<'_>),
        answers::Guarded,
        answers::NoWebhook,
        answers::WebhookOff,
        answers::BadInput,
        answers::StoreAway,
        answers::StoreFull,
    ),
)]
pub(crate) async fn ping(by: Granted<ManageWebhooks>, context: State, id: Path<String>) -> Reply {
    let ping = own::ping(&context.app, &by.grant, extract::id("id", &id)?).await?;
    Ok(HttpResponse::Accepted().json(DeliveryResponse::from(&ping)))
}
