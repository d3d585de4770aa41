//! `POST /conversations`

use super::response::ConversationResponse;
use crate::answers;
use actix_web::HttpResponse;
use deserr::Deserr;
use docent_app::conversations::own;
use docent_app::conversations::sharing::Sharing;
use docent_domain::access::Chat;
use docent_domain::conversation::ConversationTitle;
use docent_http::{Body, BodyErrors, Granted, Reply, State};
use utoipa::ToSchema;

/// A new conversation.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "title": "Warranty" }))]
pub(crate) struct ConversationCreate {
    /// Title, trimmed, on one line. Default: `New conversation` until the first question provides a title.
    #[deserr(default)]
    #[schema(
        value_type = Option<String>,
        min_length = 1,
        max_length = 200,
        pattern = r"^\s*[^\s\x00-\x1F\x7F-\x9F]([^\x00-\x1F\x7F-\x9F]*[^\s\x00-\x1F\x7F-\x9F])?\s*$"
    )]
    title: Option<ConversationTitle>,
}

/// Create a conversation (extension)
///
/// Only the account itself can read it until it is shared. To add messages, use `conversation_id` of `POST /agents/{name}`, which also creates a missing
/// conversation. The body is optional.
#[utoipa::path(
    post, path = "/conversations", operation_id = "begin_conversation", tag = "Conversations",
    request_body = Option<ConversationCreate>,
    responses(
        (status = 201, description = "The new conversation.", body = ConversationResponse<'_>),
        answers::InvalidBody, answers::StorageFull,
    ),
)]
pub(crate) async fn begin(by: Granted<Chat>, context: State, body: Body) -> Reply {
    let ConversationCreate { title } = body.read_optional().await?;
    let conversation = own::create(&context.app, &by.grant, title).await?;
    Ok(HttpResponse::Created().json(ConversationResponse::of(&conversation, &Sharing::default())))
}
