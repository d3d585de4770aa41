//! `DELETE /webhooks/{id}`

use crate::openapi::answers;
use actix_web::{HttpResponse, web::Path};
use docent_app::webhooks::own;
use docent_domain::access::ManageWebhooks;
use docent_http::{
    context::State,
    error::Reply,
    extract::{self, granted::Granted},
};

/// Delete a webhook (extension)
///
/// Deletes its deliveries too. Pending deliveries are not sent.
#[utoipa::path(
    delete, path = "/webhooks/{id}", operation_id = "delete_webhook", tag = "Webhooks",
    params(("id" = String, Path, description = "ID of the webhook.", format = "uuid")),
    responses(
        (status = 204, description = "Deleted."),
        answers::Guarded,
        answers::NoWebhook,
        answers::BadInput,
        answers::StoreAway,
        answers::StoreFull,
    ),
)]
pub(crate) async fn delete(by: Granted<ManageWebhooks>, context: State, id: Path<String>) -> Reply {
    own::delete(&context.app, &by.grant, extract::id("id", &id)?).await?;
    Ok(HttpResponse::NoContent().finish())
}
