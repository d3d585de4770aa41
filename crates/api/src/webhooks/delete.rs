//! `DELETE /webhooks/{id}`

use crate::answers;
use actix_web::HttpResponse;
use docent_app::webhooks::own;
use docent_domain::access::ManageWebhooks;
use docent_domain::id::WebhookId;
use docent_http::{Granted, PathId, Reply, State};

/// Delete a webhook (extension)
///
/// Deletes its deliveries too. Pending deliveries are not sent.
#[utoipa::path(
    delete, path = "/webhooks/{id}", operation_id = "delete_webhook", tag = "Webhooks",
    params(("id" = String, Path, description = "ID of the webhook.", format = "uuid")),
    responses((status = 204, description = "Deleted."), answers::UnknownWebhook, answers::StorageFull),
)]
pub(crate) async fn delete(by: Granted<ManageWebhooks>, context: State, id: PathId<WebhookId>) -> Reply {
    own::delete(&context.app, &by.grant, id.parse()?).await?;
    Ok(HttpResponse::NoContent().finish())
}
