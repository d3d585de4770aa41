//! `PATCH /conversations/{id}`

use super::response::ConversationResponse;
use crate::openapi::answers;
use actix_web::HttpResponse;
use deserr::Deserr;
use docent_app::conversations::own;
use docent_domain::access::Chat;
use docent_domain::conversation::ConversationTitle;
use docent_domain::id::ConversationId;
use docent_http::{Body, BodyErrors, Granted, PathId, Reply, State};
use utoipa::ToSchema;

/// Changes to a conversation.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "title": "Warranty" }))]
pub(crate) struct ConversationRename {
    /// Title, trimmed, on one line.
    #[schema(
        value_type = String,
        min_length = 1,
        max_length = 200,
        pattern = r"^\s*[^\s\x00-\x1F\x7F-\x9F]([^\x00-\x1F\x7F-\x9F]*[^\s\x00-\x1F\x7F-\x9F])?\s*$"
    )]
    title: ConversationTitle,
}

/// Rename a conversation (extension)
#[utoipa::path(
    patch, path = "/conversations/{id}", operation_id = "rename_conversation", tag = "Conversations",
    params(("id" = String, Path, description = "ID of the conversation.", format = "uuid")),
    request_body = ConversationRename,
    responses(
        (status = 200, description = "The conversation.", body = ConversationResponse<'_>),
        answers::UnknownConversation, answers::InvalidBody, answers::StorageFull,
    ),
)]
pub(crate) async fn rename(
    by: Granted<Chat>,
    context: State,
    id: PathId<ConversationId>,
    body: Body,
) -> Reply {
    let id = id.parse()?;
    let ConversationRename { title } = body.read().await?;
    let conversation = own::rename(&context.app, &by.grant, id, title).await?;
    Ok(HttpResponse::Ok().json(ConversationResponse::from(&conversation)))
}
