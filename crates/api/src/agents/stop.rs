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
/// For answers requested with `resumable`. The model is stopped and all readers receive the end. Repeated requests have no effect.
#[utoipa::path(
    post, path = "/agents/{name}/streams/{id}/stop", operation_id = "stop_stream", tag = "Chat",
    params(
        ("name" = String, Path, description = "Name of the agent.", example = "chat"),
        ("id" = String, Path, description = "`X-Stream-Id` of the answer.", format = "uuid"),
    ),
    responses(
        (status = 204, description = "Stopped, or already ended."),
        answers::Guarded,
        answers::NoStream,
        answers::BadInput,
        answers::StoreAway,
    ),
)]
pub(crate) async fn stop(by: Granted<Chat>, streams: Data<Streams>, path: Path<(String, String)>) -> Reply {
    let (agent, id) = path.into_inner();
    streams.find(extract::id("id", &id)?, by.actor.user(), &agent)?.stop();
    Ok(HttpResponse::NoContent().finish())
}
