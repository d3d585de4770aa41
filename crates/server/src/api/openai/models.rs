//! `GET /v1/models`, `GET /v1/models/{id}`
//!
//! A model is an agent.

use super::errors;
use crate::{api::Reply, context::State, extract::granted::Granted};
use actix_web::{HttpResponse, web::Path};
use docent_domain::access::Chat;
use serde_json::{Value, json};

pub(crate) async fn list(_: Granted<Chat>, context: State) -> Reply {
    let models: Vec<_> =
        context.app.agents.iter().map(|agent| model(&context, agent.name.as_str())).collect();
    Ok(HttpResponse::Ok().json(json!({ "object": "list", "data": models })))
}

pub(crate) async fn get(_: Granted<Chat>, context: State, id: Path<String>) -> Reply {
    let agent = context.app.agents.get(&id).ok_or_else(|| errors::no_such_model(&id))?;
    Ok(HttpResponse::Ok().json(model(&context, agent.name.as_str())))
}

/// Agents are there from the start on.
fn model(context: &State, name: &str) -> Value {
    json!({ "id": name, "object": "model", "created": context.started_at.timestamp(), "owned_by": "docent" })
}
