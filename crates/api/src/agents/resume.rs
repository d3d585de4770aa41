//! `GET /agents/{name}/streams/{id}`
//!
//! An answer that was asked for with `resumable`, from behind the event that `Last-Event-ID` names.

use crate::{
    answer_events,
    openapi::answers,
    streams::{self, Next, Streams},
};
use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path},
};
use docent_domain::access::Chat;
use docent_http::{
    context::State,
    error::{ApiError, Reply},
    extract::{self, granted::Granted},
};

/// Resume an answer (extension)
///
/// One that was asked for with `resumable`: the events behind the one that `Last-Event-ID` names, those that are there at once and all
/// others as they come; all of them without the header. Only the process that answers has them, until a minute after the answer's end, and
/// of a long answer the last 512 KiB.
#[utoipa::path(
    get, path = "/agents/{name}/streams/{id}", operation_id = "resume_stream", tag = "Chat",
    params(
        ("name" = String, Path, description = "The agent's name.", example = "chat"),
        ("id" = String, Path, description = "`X-Stream-Id` of the answer.", format = "uuid"),
        (
            "Last-Event-ID" = Option<u64>, Header, description = "The number of the last event that came.", nullable = false, minimum = 0,
        ),
    ),
    responses(
        (
            status = 200, description = "The answer as it goes on.", body = answer_events::AnswerStreamEvent, content_type = "text/event-stream",
            headers(("X-Stream-Id" = String, description = "The stream's id.")),
            examples(
                ("rest" = (
                    summary = "The rest of an answer",
                    value = json!(
                        "id: 2\ndata: \" lasts five years.\"\n\nid: 3\nevent: end\ndata: {\"reason\":\"complete\"}\n\n"
                    ),
                )),
            ),
        ),
        (status = 204, description = "There is nothing behind that event, and nothing will come."),
        answers::Guarded,
        answers::NoStream,
        answers::BadInput,
        answers::StoreAway,
    ),
)]
pub(crate) async fn resume(
    by: Granted<Chat>,
    context: State,
    kept: Data<Streams>,
    path: Path<(String, String)>,
    request: HttpRequest,
) -> Reply {
    let (agent, id) = path.into_inner();
    let stream = kept.find(extract::id("id", &id)?, by.actor.user(), &agent)?;
    let seen = match request.headers().get("Last-Event-ID") {
        None => 0,
        Some(value) => value.to_str().ok().and_then(|text| text.parse().ok()).ok_or_else(no_such_event)?,
    };
    match stream.after(seen) {
        Next::Unknown => Err(no_such_event()),
        Next::Gone => Err(streams::gone()),
        // Readers that follow the standard do not ask again.
        Next::Over => Ok(HttpResponse::NoContent().finish()),
        Next::Event(_) | Next::Later => Ok(streams::read(context, stream, seen)),
    }
}

fn no_such_event() -> ApiError {
    ApiError::invalid_field(&["header", "Last-Event-ID"], "must be the id of an event of this stream")
}
