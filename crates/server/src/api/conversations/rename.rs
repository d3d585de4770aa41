//! `PATCH /conversations/{id}`

use super::{ConversationResponse, title};
use crate::{
    api::Reply,
    context::State,
    error::Refusal,
    extract::{
        self,
        granted::Granted,
        json::{Body, Fields},
    },
};
use actix_web::{HttpResponse, web::Path};
use docent_app::conversations::own;
use docent_domain::{access::Chat, conversation::ConversationTitle};

pub(crate) async fn rename(by: Granted<Chat>, context: State, id: Path<String>, body: Body) -> Reply {
    let id = extract::id("id", &id)?;
    let title = parse(body.fields().await?)?;
    let conversation = own::rename(&context.app, &by.grant, id, title).await?;
    Ok(HttpResponse::Ok().json(ConversationResponse::from(&conversation)))
}

fn parse(mut body: Fields) -> Result<ConversationTitle, Refusal> {
    let text = body.text("title");
    let title = title(&mut body, text);
    body.done(title)
}
