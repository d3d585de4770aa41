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

/// Try a webhook out (extension)
///
/// It is sent a `ping`, whatever events it chose. What becomes of it is in the log.
#[utoipa::path(
    post, path = "/webhooks/{id}/test", operation_id = "test_webhook", tag = "Webhooks",
    params(("id" = String, Path, description = "The webhook's id.", format = "uuid")),
    responses(
        (status = 202, description = "The ping, which is to be sent.", body = DeliveryResponse<'_>),
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
