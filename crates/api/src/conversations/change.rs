//! `PATCH /conversations/{id}`

use super::response::ConversationResponse;
use crate::answers;
use actix_web::HttpResponse;
use deserr::Deserr;
use docent_app::conversations::own;
use docent_domain::access::Chat;
use docent_domain::conversation::ConversationTitle;
use docent_domain::id::ConversationId;
use docent_http::{Body, BodyErrors, PathId, Reply, Scoped, State};
use utoipa::ToSchema;

/// Changes to a conversation. What is missing or `null` stays as it is.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "title": "Warranty", "pinned": true }))]
pub(crate) struct ConversationChange {
    /// Title, trimmed, on one line.
    #[deserr(default)]
    #[schema(
        value_type = Option<String>,
        min_length = 1,
        max_length = 200,
        pattern = r"^\s*[^\s\x00-\x1F\x7F-\x9F]([^\x00-\x1F\x7F-\x9F]*[^\s\x00-\x1F\x7F-\x9F])?\s*$"
    )]
    title: Option<ConversationTitle>,
    /// Whether the conversation is pinned. Lists can be filtered by it; the time of the last change stays.
    #[deserr(default)]
    pinned: Option<bool>,
}

/// Rename or pin a conversation (extension)
#[utoipa::path(
    patch, path = "/conversations/{id}", operation_id = "change_conversation", tag = "Conversations",
    params(("id" = String, Path, description = "ID of the conversation.", format = "uuid")),
    request_body = ConversationChange,
    responses(
        (status = 200, description = "The conversation.", body = ConversationResponse<'_>),
        answers::UnknownConversation, answers::InvalidBody, answers::StorageFull,
    ),
)]
pub(crate) async fn change(
    by: Scoped<Chat>,
    context: State,
    id: PathId<ConversationId>,
    body: Body,
) -> Reply {
    let id = id.parse()?;
    let ConversationChange { title, pinned } = body.read().await?;
    let (conversation, sharing) = own::change(&context.app, &by.grant, &by.scope, id, title, pinned).await?;
    Ok(HttpResponse::Ok().json(ConversationResponse::of(&conversation, &sharing)))
}
