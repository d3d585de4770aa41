//! `POST /agents/{name}/streams/{id}/stop`

use crate::answers;
use crate::streams::Streams;
use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use docent_domain::access::Chat;
use docent_domain::id::StreamId;
use docent_http::{Granted, PathId, Reply};

/// Stop an answer (extension)
///
/// For answers requested with `resumable`. The model is stopped and all readers receive the end. Repeated requests have no effect.
#[utoipa::path(
    post, path = "/agents/{name}/streams/{id}/stop", operation_id = "stop_stream", tag = "Chat",
    params(
        ("name" = String, Path, description = "Name of the agent.", example = "chat"),
        ("id" = String, Path, description = "`X-Stream-Id` of the answer.", format = "uuid"),
    ),
    responses((status = 204, description = "Stopped, or already ended."), answers::UnknownStream),
)]
pub(crate) async fn stop(
    by: Granted<Chat>,
    streams: Data<Streams>,
    id: PathId<StreamId>,
    path: Path<(String, String)>,
) -> Reply {
    streams.find(id.parse()?, by.actor.user(), &path.0)?.stop();
    Ok(HttpResponse::NoContent().finish())
}
