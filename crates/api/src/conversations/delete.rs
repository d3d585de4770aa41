//! `DELETE /conversations/{id}`

use crate::answers;
use actix_web::HttpResponse;
use docent_app::conversations::own;
use docent_domain::access::Chat;
use docent_domain::id::ConversationId;
use docent_http::{Granted, PathId, Reply, State};

/// Delete a conversation (extension)
///
/// Deletes its messages too. Its token usage remains in the usage ledger.
#[utoipa::path(
    delete, path = "/conversations/{id}", operation_id = "delete_conversation", tag = "Conversations",
    params(("id" = String, Path, description = "ID of the conversation.", format = "uuid")),
    responses((status = 204, description = "Deleted."), answers::UnknownConversation, answers::StorageFull),
)]
pub(crate) async fn delete(by: Granted<Chat>, context: State, id: PathId<ConversationId>) -> Reply {
    own::delete(&context.app, &by.grant, id.parse()?).await?;
    Ok(HttpResponse::NoContent().finish())
}
