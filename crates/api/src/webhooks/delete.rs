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
/// With the log of what it was told. What was still to be told is not.
#[utoipa::path(
    delete, path = "/webhooks/{id}", operation_id = "delete_webhook", tag = "Webhooks",
    params(("id" = String, Path, description = "The webhook's id.", format = "uuid")),
    responses(
        (status = 204, description = "It is gone."),
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
