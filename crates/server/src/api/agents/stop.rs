//! `POST /agents/{name}/streams/{id}/stop`

use crate::{
    api::Reply,
    context::State,
    extract::{self, granted::Granted},
};
use actix_web::{HttpResponse, web::Path};
use docent_domain::access::Chat;

pub(crate) async fn stop(by: Granted<Chat>, context: State, path: Path<(String, String)>) -> Reply {
    let (agent, id) = path.into_inner();
    context.streams.find(extract::id("id", &id)?, by.actor.user(), &agent)?.stop();
    Ok(HttpResponse::NoContent().finish())
}
