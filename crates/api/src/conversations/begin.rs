//! `POST /conversations`

use super::response::ConversationResponse;
use crate::openapi::answers;
use actix_web::HttpResponse;
use deserr::Deserr;
use docent_app::conversations::own;
use docent_domain::{access::Chat, conversation::ConversationTitle};
use docent_http::{
    context::State,
    error::Reply,
    extract::{deserialize::BodyErrors, granted::Granted, json::Body},
};
use utoipa::ToSchema;

/// A conversation to begin.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "title": "Warranty" }))]
pub(crate) struct ConversationCreate {
    /// Trimmed, on one line; without one, the conversation is `New conversation` until its first question names it.
    #[deserr(default)]
    #[schema(
        value_type = Option<String>,
        min_length = 1,
        max_length = 200,
        pattern = r"^\s*[^\s\x00-\x1F\x7F-\x9F]([^\x00-\x1F\x7F-\x9F]*[^\s\x00-\x1F\x7F-\x9F])?\s*$"
    )]
    title: Option<ConversationTitle>,
}

/// Begin a conversation (extension)
///
/// It is the account's own, and nobody else's. What is said in it goes through `conversation_id` of `POST /agents/{name}`, which begins one
/// likewise. The body may be missing.
#[utoipa::path(
    post, path = "/conversations", operation_id = "begin_conversation", tag = "Conversations",
    request_body = Option<ConversationCreate>,
    responses(
        (status = 201, description = "The new conversation.", body = ConversationResponse<'_>),
        answers::Guarded,
        answers::BodyRead,
        answers::StoreAway,
        answers::StoreFull,
    ),
)]
pub(crate) async fn begin(by: Granted<Chat>, context: State, body: Body) -> Reply {
    let ConversationCreate { title } = body.read_optional().await?;
    let conversation = own::create(&context.app, &by.grant, title).await?;
    Ok(HttpResponse::Created().json(ConversationResponse::from(&conversation)))
}
