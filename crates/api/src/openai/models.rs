//! `GET /v1/models`, `GET /v1/models/{id}`
//!
//! Agents are listed as models, and so is the embedding model.

use super::errors;
use crate::openai::wire;
use actix_web::HttpResponse;
use actix_web::web::Path;
use docent_app::embeddings;
use docent_domain::access::Chat;
use docent_http::{ApiError, Granted, Reply, State};
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// An agent, or the embedding model.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({ "id": "chat", "object": "model", "created": 1767225600, "owned_by": "docent" }))]
pub(crate) struct Model<'a> {
    /// Name of the agent or of the embedding model.
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

/// List of models.
#[derive(Serialize, ToSchema)]
pub(crate) struct ModelList<'a> {
    /// Always `list`.
    object: &'static str,
    /// The agents, and the embedding model if it makes vectors.
    data: Vec<Model<'a>>,
}

/// List the models (extension)
///
/// Agents are listed as models. The embedding model for `POST /v1/embeddings` is the last one, if it makes vectors.
#[utoipa::path(
    get, path = "/v1/models", operation_id = "list_models", tag = "OpenAI wire",
    responses((status = 200, description = "The models.", body = ModelList<'_>)),
)]
pub(crate) async fn list(_: Granted<Chat>, context: State) -> Reply {
    let embedding = embedding_model(&context).await?;
    let agents = context.app.agents().map(|agent| agent.name.as_str());
    let data = agents.chain(embedding.as_deref()).map(|name| Model::of(&context, name)).collect();
    Ok(HttpResponse::Ok().json(ModelList { object: "list", data }))
}

/// Read a model (extension)
///
/// An agent or the embedding model. A slash in its name is written as `%2F`.
#[utoipa::path(
    get, path = "/v1/models/{id}", operation_id = "get_model", tag = "OpenAI wire",
    params(("id" = String, Path, description = "Name of the model.", example = "chat")),
    responses((status = 200, description = "The model.", body = Model<'_>), wire::UnknownModel),
)]
pub(crate) async fn get(_: Granted<Chat>, context: State, id: Path<String>) -> Reply {
    if context.app.agent(&id).is_none() && embedding_model(&context).await?.as_ref() != Some(&*id) {
        return Err(errors::no_such_model(&id));
    }
    Ok(HttpResponse::Ok().json(Model::of(&context, &id)))
}

async fn embedding_model(context: &State) -> Result<Option<String>, ApiError> {
    let app = Arc::clone(&context.app);
    Ok(context.run(async move { embeddings::model(&app).await }).await??)
}
