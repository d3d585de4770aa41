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

/// Send a message again (extension)
///
/// Whatever became of it: the same body with the same `webhook-id` and a new `webhook-timestamp`, tried as often as a new one.
#[utoipa::path(
    post, path = "/webhooks/{id}/deliveries/{delivery}/replay", operation_id = "replay_delivery", tag = "Webhooks",
    params(
        ("id" = String, Path, description = "The webhook's id.", format = "uuid"),
        ("delivery" = String, Path, description = "The delivery's id.", format = "uuid"),
    ),
    responses(
        (status = 202, description = "The delivery, which is to be sent again.", body = DeliveryResponse<'_>),
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
