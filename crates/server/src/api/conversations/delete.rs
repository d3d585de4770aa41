//! `DELETE /conversations/{id}`

use crate::{
    api::Reply,
    context::State,
    extract::{self, granted::Granted},
};
use actix_web::{HttpResponse, web::Path};
use docent_app::conversations::own;
use docent_domain::access::Chat;

pub(crate) async fn delete(by: Granted<Chat>, context: State, id: Path<String>) -> Reply {
    own::delete(&context.app, &by.grant, extract::id("id", &id)?).await?;
    Ok(HttpResponse::NoContent().finish())
}
