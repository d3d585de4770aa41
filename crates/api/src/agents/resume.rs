//! `GET /agents/{name}/streams/{id}`
//!
//! Resumes an answer after the event named by `Last-Event-ID`.

use crate::answers;
use crate::streams::{self, Next, Streams};
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use docent_domain::access::Chat;
use docent_domain::id::StreamId;
use docent_http::{ApiError, Granted, PathId, Reply, State};

/// Resume an answer (extension)
///
/// For answers requested with `resumable`. Returns the events after the one named by `Last-Event-ID`, or all events without the header,
/// and continues with new events. Only the process that generates the answer has them, until one minute after its end. Of a long
/// answer it has the last 512 KiB. Sources of documents that the account can no longer read have no text.
#[utoipa::path(
    get, path = "/agents/{name}/streams/{id}", operation_id = "resume_stream", tag = "Chat",
    params(
        ("name" = String, Path, description = "Name of the agent.", example = "chat"),
        ("id" = String, Path, description = "`X-Stream-Id` of the answer.", format = "uuid"),
        (
            "Last-Event-ID" = Option<u64>, Header, description = "Number of the last received event.", nullable = false, minimum = 0,
        ),
    ),
    responses(
        (
            status = 200, description = "The rest of the answer, as a stream of `AnswerStreamEvent`.", body = String, content_type = "text/event-stream",
            headers(("X-Stream-Id" = String, description = "ID of the stream.")),
            examples(
                ("rest" = (
                    summary = "The rest of an answer",
                    value = json!(
                        "id: 2\ndata: \" lasts five years.\"\n\nid: 3\nevent: end\ndata: {\"reason\":\"complete\"}\n\n"
                    ),
                )),
            ),
        ),
        (status = 204, description = "The stream ended with that event."),
        answers::UnknownStream,
    ),
)]
pub(crate) async fn resume(
    by: Granted<Chat>,
    context: State,
    streams: Data<Streams>,
    id: PathId<StreamId>,
    path: Path<(String, String)>,
    request: HttpRequest,
) -> Reply {
    let stream = streams.find(id.parse()?, by.actor.user(), &path.0)?;
    let seen = match request.headers().get("Last-Event-ID") {
        None => 0,
        Some(value) => value.to_str().ok().and_then(|text| text.parse().ok()).ok_or_else(no_such_event)?,
    };
    match stream.after(seen) {
        Next::Unknown => Err(no_such_event()),
        Next::Gone => Err(streams::gone()),
        // Standard clients do not reconnect after a 204.
        Next::Over => Ok(HttpResponse::NoContent().finish()),
        Next::Event(_) | Next::Later => Ok(streams::read(context, by.actor, stream, seen)),
    }
}

fn no_such_event() -> ApiError {
    ApiError::invalid_field(&["header", "Last-Event-ID"], "must be the id of an event of this stream")
}
