//! `POST /conversations`

use super::{ConversationResponse, title};
use crate::{
    api::Reply,
    context::State,
    error::Refusal,
    extract::{
        granted::Granted,
        json::{Body, Fields},
    },
};
use actix_web::HttpResponse;
use docent_app::conversations::own;
use docent_domain::{access::Chat, conversation::ConversationTitle};

pub(crate) async fn begin(by: Granted<Chat>, context: State, body: Body) -> Reply {
    let title = parse(body.optional_fields().await?)?;
    let conversation = own::begin(&context.app, &by.grant, title).await?;
    Ok(HttpResponse::Created().json(ConversationResponse::from(&conversation)))
}

fn parse(mut body: Fields) -> Result<Option<ConversationTitle>, Refusal> {
    let text = body.optional_text("title");
    let title = title(&mut body, text);
    body.done(Some(title))
}
