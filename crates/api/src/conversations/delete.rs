//! `DELETE /conversations/{id}`

use crate::openapi::answers;
use actix_web::{HttpResponse, web::Path};
use docent_app::conversations::own;
use docent_domain::access::Chat;
use docent_http::{
    context::State,
    error::Reply,
    extract::{self, granted::Granted},
};

/// Delete a conversation (extension)
///
/// Deletes its messages too. Its token usage remains in the usage ledger.
#[utoipa::path(
    delete, path = "/conversations/{id}", operation_id = "delete_conversation", tag = "Conversations",
    params(("id" = String, Path, description = "ID of the conversation.", format = "uuid")),
    responses(
        (status = 204, description = "Deleted."),
        answers::Guarded,
        answers::NoConversation,
        answers::BadInput,
        answers::StoreAway,
        answers::StoreFull,
    ),
)]
pub(crate) async fn delete(by: Granted<Chat>, context: State, id: Path<String>) -> Reply {
    own::delete(&context.app, &by.grant, extract::id("id", &id)?).await?;
    Ok(HttpResponse::NoContent().finish())
}
