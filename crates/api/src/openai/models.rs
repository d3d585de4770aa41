//! `GET /v1/models`, `GET /v1/models/{id}`
//!
//! Agents are listed as models.

use super::errors;
use crate::openapi::wire;
use actix_web::HttpResponse;
use actix_web::web::Path;
use docent_domain::access::Chat;
use docent_http::{Granted, Reply, State};
use serde::Serialize;
use utoipa::ToSchema;

/// An agent.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({ "id": "chat", "object": "model", "created": 1767225600, "owned_by": "docent" }))]
pub(crate) struct Model<'a> {
    /// Name of the agent.
    id: &'a str,
    /// Always `model`.
    object: &'static str,
    /// Start time of the service in seconds since 1970.
    created: i64,
    /// Always `docent`.
    owned_by: &'static str,
}

impl<'a> Model<'a> {
    fn of(context: &State, id: &'a str) -> Self {
        Self { id, object: "model", created: context.started_at.timestamp(), owned_by: "docent" }
    }
}

/// List of agents.
#[derive(Serialize, ToSchema)]
pub(crate) struct ModelList<'a> {
    /// Always `list`.
    object: &'static str,
    /// The agents.
    data: Vec<Model<'a>>,
}

/// List the agents (extension)
///
/// Agents are listed as models.
#[utoipa::path(
    get, path = "/v1/models", operation_id = "list_models", tag = "OpenAI wire",
    responses((status = 200, description = "The agents.", body = ModelList<'_>)),
)]
pub(crate) async fn list(_: Granted<Chat>, context: State) -> Reply {
    let data = context.app.agents().map(|agent| Model::of(&context, agent.name.as_str())).collect();
    Ok(HttpResponse::Ok().json(ModelList { object: "list", data }))
}

/// Read an agent (extension)
///
/// The agent is returned as a model.
#[utoipa::path(
    get, path = "/v1/models/{id}", operation_id = "get_model", tag = "OpenAI wire",
    params(("id" = String, Path, description = "Name of the agent.", example = "chat")),
    responses((status = 200, description = "The agent.", body = Model<'_>), wire::UnknownModel),
)]
pub(crate) async fn get(_: Granted<Chat>, context: State, id: Path<String>) -> Reply {
    let agent = context.app.agent(&id).ok_or_else(|| errors::no_such_model(&id))?;
    Ok(HttpResponse::Ok().json(Model::of(&context, agent.name.as_str())))
}
