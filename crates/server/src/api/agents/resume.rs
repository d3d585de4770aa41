//! `GET /agents/{name}/streams/{id}`
//!
//! An answer that was asked for with `resumable`, from behind the event that `Last-Event-ID` names.

use crate::{
    api::Reply,
    context::State,
    error::{FieldError, Loc, Refusal},
    extract::{self, granted::Granted},
    streams::{self, Next},
};
use actix_web::{HttpRequest, HttpResponse, web::Path};
use docent_domain::access::Chat;

pub(crate) async fn resume(
    by: Granted<Chat>,
    context: State,
    path: Path<(String, String)>,
    request: HttpRequest,
) -> Reply {
    let (agent, id) = path.into_inner();
    let stream = context.streams.find(extract::id("id", &id)?, by.actor.user(), &agent)?;
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

fn no_such_event() -> Refusal {
    let loc = vec![Loc::Name("header"), Loc::Name("Last-Event-ID")];
    Refusal::invalid(vec![FieldError { loc, msg: "must be the id of an event of this stream".to_owned() }])
}
