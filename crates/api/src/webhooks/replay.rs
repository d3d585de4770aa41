//! `POST /webhooks/{id}/deliveries/{delivery}/replay`

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

/// Replay a delivery (extension)
///
/// Sends the message again, whatever its state: the same body and `webhook-id`, a new `webhook-timestamp`, and the full number of
/// attempts.
#[utoipa::path(
    post, path = "/webhooks/{id}/deliveries/{delivery}/replay", operation_id = "replay_delivery", tag = "Webhooks",
    params(
        ("id" = String, Path, description = "ID of the webhook.", format = "uuid"),
        ("delivery" = String, Path, description = "ID of the delivery.", format = "uuid"),
    ),
    responses(
        (status = 202, description = "The delivery, pending again.", body = DeliveryResponse<'_>),
        answers::Guarded,
        answers::NoDelivery,
        answers::NoReplay,
        answers::BadInput,
        answers::StoreAway,
        answers::StoreFull,
    ),
)]
pub(crate) async fn replay(
    by: Granted<ManageWebhooks>,
    context: State,
    path: Path<(String, String)>,
) -> Reply {
    let (id, delivery) = path.into_inner();
    let (id, delivery) = (extract::id("id", &id)?, extract::id("delivery", &delivery)?);
    let again = own::replay(&context.app, &by.grant, id, delivery).await?;
    Ok(HttpResponse::Accepted().json(DeliveryResponse::from(&again)))
}
