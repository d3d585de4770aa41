//! An answer in one piece.

use super::{Completion, Usage, annotations, finish_reason};
use crate::{api::Reply, context::Context, error::Refusal, sse};
use actix_web::{HttpResponse, http::StatusCode};
use docent_app::{
    agent::{Answer, AnswerEvent, Outcome},
    error::Error,
};
use futures::StreamExt;
use serde_json::json;

/// Waits for the answer. When the client goes away this is dropped, and the answer with it.
pub(super) async fn reply(context: &Context, completion: &Completion, mut answer: Answer) -> Reply {
    let (mut content, mut sources) = (String::new(), Vec::new());
    loop {
        let event = tokio::select! {
            biased;
            event = answer.next() => event,
            () = context.cut.cancelled() => {
                return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, sse::STOPPING));
            }
        };
        match event {
            Some(Ok(AnswerEvent::Text(text))) => content.push_str(&text),
            Some(Ok(AnswerEvent::Sources(found))) => sources = found,
            Some(Err(fault)) => return Err(Error::from(fault).into()),
            None => break,
        }
    }
    let outcome = answer.outcome().await.unwrap_or_else(Outcome::unknown);
    Ok(HttpResponse::Ok().json(json!({
        "id": completion.id,
        "object": "chat.completion",
        "created": completion.created,
        "model": completion.model,
        "choices": [{
            "index": 0,
            "message": {
                "role": "assistant",
                "content": content,
                "refusal": null,
                "annotations": annotations(&sources),
            },
            "logprobs": null,
            "finish_reason": finish_reason(&outcome),
        }],
        "usage": Usage::of(&outcome),
    })))
}
