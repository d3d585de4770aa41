//! `POST /v1/chat/completions`

use super::{Completion, chunks, errors, request, whole};
use crate::{
    api::Reply,
    context::State,
    error::Refusal,
    extract::{granted::Granted, json::Body},
};
use docent_app::agent::answer;
use docent_domain::{access::Chat, id::StreamId};
use std::sync::Arc;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;

pub(crate) async fn complete(by: Granted<Chat>, context: State, body: Body) -> Reply {
    let wanted = request::parse(body.fields().await?, by.actor)?;
    if context.app.agents.get(&wanted.model).is_none() {
        return Err(errors::no_such_model(&wanted.model));
    }
    let id = context.app.new_id(StreamId::generate);
    let completion = Completion::new(id, context.app.clock.now(), wanted.model.clone());
    let app = Arc::clone(&context.app);
    let (model, question) = (wanted.model, wanted.question);
    // As at `POST /agents/{name}`, the answer outlives this request's thread.
    let asking = async move { answer::ask(&app, by.grant, &model, question).await };
    let asking = context.runtime.spawn(asking.in_current_span());
    let answer = AbortOnDropHandle::new(asking).await.map_err(|_| Refusal::internal())??;
    if wanted.is_stream {
        return Ok(chunks::reply(context, completion, answer, wanted.includes_usage));
    }
    whole::reply(&context, &completion, answer).await
}
