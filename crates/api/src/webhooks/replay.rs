//! `POST /webhooks/{id}/deliveries/{delivery}/replay`

use super::response::DeliveryResponse;
use crate::answers;
use actix_web::HttpResponse;
use docent_app::webhooks::own;
use docent_domain::access::ManageWebhooks;
use docent_domain::id::{WebhookDeliveryId, WebhookId};
use docent_http::{Granted, PathId, Reply, State};

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
        answers::UnknownDelivery, answers::NotReplayable, answers::StorageFull,
    ),
)]
pub(crate) async fn replay(
    by: Granted<ManageWebhooks>,
    context: State,
    id: PathId<WebhookId>,
    delivery: PathId<WebhookDeliveryId>,
) -> Reply {
    let again = own::replay(&context.app, &by.grant, id.parse()?, delivery.parse()?).await?;
    Ok(HttpResponse::Accepted().json(DeliveryResponse::from(&again)))
}
