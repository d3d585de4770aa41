//! `PATCH /conversations/{id}`

use super::response::{ConversationResponse, title};
use crate::openapi::answers;
use actix_web::{HttpResponse, web::Path};
use docent_app::conversations::own;
use docent_domain::{access::Chat, conversation::ConversationTitle};
use docent_http::{
    context::State,
    error::{ApiError, Reply},
    extract::{
        self,
        granted::Granted,
        json::{Body, Fields},
    },
};
use utoipa::ToSchema;

/// What to change of a conversation.
#[derive(ToSchema)]
#[expect(dead_code, reason = "says what the handler reads field by field")]
#[schema(example = json!({ "title": "Warranty" }))]
pub(crate) struct ConversationRename {
    /// Trimmed, on one line.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^\s*[^\s\x00-\x1F\x7F-\x9F]([^\x00-\x1F\x7F-\x9F]*[^\s\x00-\x1F\x7F-\x9F])?\s*$"
    )]
    title: String,
}

/// Rename a conversation (extension)
#[utoipa::path(
    patch, path = "/conversations/{id}", operation_id = "rename_conversation", tag = "Conversations",
    params(("id" = String, Path, description = "The conversation's id.", format = "uuid")),
    request_body = ConversationRename,
    responses(
        (status = 200, description = "The conversation.", body = ConversationResponse<'_>),
        answers::Guarded,
        answers::NoConversation,
        answers::BodyRead,
        answers::StoreAway,
        answers::StoreFull,
    ),
)]
pub(crate) async fn rename(by: Granted<Chat>, context: State, id: Path<String>, body: Body) -> Reply {
    let id = extract::id("id", &id)?;
    let title = parse(body.fields().await?)?;
    let conversation = own::rename(&context.app, &by.grant, id, title).await?;
    Ok(HttpResponse::Ok().json(ConversationResponse::from(&conversation)))
}

fn parse(mut body: Fields) -> Result<ConversationTitle, ApiError> {
    let text = body.text("title");
    let title = title(&mut body, text);
    body.done(title)
}
