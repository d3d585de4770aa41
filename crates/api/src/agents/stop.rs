//! `POST /agents/{name}/streams/{id}/stop`

use crate::openapi::answers;
use crate::streams::Streams;
use actix_web::{
    HttpResponse,
    web::{Data, Path},
};
use docent_domain::access::Chat;
use docent_http::{
    error::Reply,
    extract::{self, granted::Granted},
};

/// Stop an answer (extension)
///
/// One that was asked for with `resumable`: the model is stopped, and all readers see the end. Repeating it changes nothing.
#[utoipa::path(
    post, path = "/agents/{name}/streams/{id}/stop", operation_id = "stop_stream", tag = "Chat",
    params(
        ("name" = String, Path, description = "The agent's name.", example = "chat"),
        ("id" = String, Path, description = "`X-Stream-Id` of the answer.", format = "uuid"),
    ),
    responses(
        (status = 204, description = "It is stopped, or was over."),
        answers::Guarded,
        answers::NoStream,
        answers::BadInput,
        answers::StoreAway,
    ),
)]
pub(crate) async fn stop(by: Granted<Chat>, kept: Data<Streams>, path: Path<(String, String)>) -> Reply {
    let (agent, id) = path.into_inner();
    kept.find(extract::id("id", &id)?, by.actor.user(), &agent)?.stop();
    Ok(HttpResponse::NoContent().finish())
}
