//! Stored responses: `GET` and `DELETE /v1/responses/{response_id}`, `POST …/cancel` and `GET …/input_items`

use super::items::ListedInputItem;
use super::object::ResponseObject;
use super::request::Include;
use super::shown;
use crate::openai::ids;
use crate::openai::list::size_and_order;
use crate::openai::wire;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use docent_app::{responses, scope};
use docent_domain::access::{Actor, Chat};
use docent_domain::id::{DocumentId, ResponseId};
use docent_domain::listing::TimeOrder;
use docent_domain::stored_response::StoredResponse;
use docent_http::{ApiError, Granted, Query, Reply, State};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;
use utoipa::ToSchema;

const LIMIT: u64 = 20;
const LIMIT_MAX: u64 = 100;

/// The content of a stored response.
#[derive(Deserialize)]
pub(super) struct Content {
    /// The response, with the results of its searches.
    pub(super) response: Value,
    /// The items of its request.
    pub(super) input: Vec<Value>,
}

impl Content {
    /// Reads the content.
    ///
    /// # Errors
    /// 500 if it is not valid.
    pub(super) fn of(response: &StoredResponse) -> Result<Self, ApiError> {
        serde_json::from_str(&response.content).map_err(|error| {
            tracing::error!(response = %response.id, %error, "a stored response is not valid");
            ApiError::internal()
        })
    }

    /// The item with this ID.
    pub(super) fn item(&self, id: &str) -> Option<&Value> {
        let output = self.response.get("output").and_then(Value::as_array);
        let mut items = output.into_iter().flatten().chain(&self.input);
        items.find(|item| item.get("id").and_then(Value::as_str) == Some(id))
    }

    /// Removes the results of documents that the actor can no longer read.
    async fn withhold(&mut self, context: &State, actor: &Actor) -> Result<(), ApiError> {
        let document = |result: &Value| ids::decode::<DocumentId>(result.get("file_id")?.as_str()?);
        let output = self.response.get_mut("output").and_then(Value::as_array_mut);
        let results = output.into_iter().flatten().filter_map(|item| item.get_mut("results")?.as_array_mut());
        let mut results: Vec<&mut Vec<Value>> = results.collect();
        let documents: HashSet<DocumentId> =
            results.iter().flat_map(|of| of.iter().filter_map(document)).collect();
        if documents.is_empty() {
            return Ok(());
        }
        let (app, actor) = (Arc::clone(&context.app), actor.clone());
        let read = async move {
            let scope = scope::load(&app, &actor).await?;
            let documents: Vec<_> = documents.into_iter().collect();
            docent_app::quotes::readable(&app, &scope, &documents).await
        };
        let readable = context.run(read).await??;
        for of in &mut results {
            of.retain(|result| document(result).is_some_and(|id| readable.contains(&id)));
        }
        Ok(())
    }
}

/// Reads the parameters `include` or `include[]`.
fn include(query: &Query) -> Result<Include, ApiError> {
    let names = query.all("include").chain(query.all("include[]"));
    Include::parse(names).map_err(|error| ApiError::invalid_field(&["query", "include"], error.reason))
}

/// Get a response (extension)
#[utoipa::path(
    get, path = "/v1/responses/{response_id}", operation_id = "get_response", tag = "OpenAI wire",
    params(
        ("response_id" = String, Path, description = "ID of the response.", example = "resp_01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
        ("include" = Option<Vec<String>>, Query, description = "`file_search_call.results`: the passages that searches found, of documents that the account can still read."),
        ("stream" = Option<bool>, Query, description = "Not supported: must be `false`."),
        ("starting_after" = Option<u64>, Query, description = "Not supported."),
        ("include_obfuscation" = Option<bool>, Query, description = "Accepted: it is about streams only."),
    ),
    responses(
        (status = 200, description = "The response.", body = ResponseObject),
        wire::InvalidParameters, wire::UnknownObject,
    ),
)]
pub(crate) async fn get(by: Granted<Chat>, context: State, id: Path<String>, mut query: Query) -> Reply {
    let include = include(&query)?;
    query.parse("stream", "must be false: stored responses are not streamed", |text| {
        (text == "false").then_some(())
    });
    query.parse("starting_after", "is not supported: stored responses are not streamed", |_| None::<()>);
    query.done()?;
    let found = responses::get(&context.app, &by.grant, ids::require(&id)?).await?;
    let mut content = Content::of(&found)?;
    if include.results {
        content.withhold(&context, &by.actor.via_agent(&by.grant)).await?;
    }
    Ok(HttpResponse::Ok().json(shown(content.response, include)))
}

/// The answer to the deletion of a response.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeletedResponse {
    /// ID of the response.
    id: String,
    /// Always `response`.
    object: &'static str,
    /// Always true.
    deleted: bool,
}

/// Delete a response (extension)
///
/// Responses that continue it stay; what it and those before it said is no longer part of their history.
#[utoipa::path(
    delete, path = "/v1/responses/{response_id}", operation_id = "delete_response", tag = "OpenAI wire",
    params(("response_id" = String, Path, description = "ID of the response.", example = "resp_01920f3e5b7a7c3d9e214f6a8b0c2d4e")),
    responses((status = 200, description = "The response is deleted.", body = DeletedResponse), wire::UnknownObject),
)]
pub(crate) async fn delete(by: Granted<Chat>, context: State, id: Path<String>) -> Reply {
    let id: ResponseId = ids::require(&id)?;
    responses::delete(&context.app, &by.grant, id).await?;
    Ok(HttpResponse::Ok().json(DeletedResponse { id: ids::encode(id), object: "response", deleted: true }))
}

/// Cancel a response (extension)
///
/// Only responses in the background could be cancelled, and these are not supported. To stop a response in progress, close its connection.
#[utoipa::path(
    post, path = "/v1/responses/{response_id}/cancel", operation_id = "cancel_response", tag = "OpenAI wire",
    params(("response_id" = String, Path, description = "ID of the response.", example = "resp_01920f3e5b7a7c3d9e214f6a8b0c2d4e")),
    responses(wire::InvalidParameters, wire::UnknownObject),
)]
pub(crate) async fn cancel(by: Granted<Chat>, context: State, id: Path<String>) -> Reply {
    responses::get(&context.app, &by.grant, ids::require(&id)?).await?;
    let detail = "Only responses in the background can be cancelled; this one has ended. \
        To stop a response in progress, close its connection";
    Err(ApiError::new(StatusCode::BAD_REQUEST, detail))
}

/// A page of the items of a request.
#[derive(Serialize, ToSchema)]
pub(crate) struct InputItemList {
    /// Always `list`.
    object: &'static str,
    /// The items: messages, calls of functions and their outputs.
    #[schema(value_type = Vec<ListedInputItem>)]
    data: Vec<Value>,
    /// ID of the first item.
    #[schema(required)]
    first_id: Option<String>,
    /// ID of the last item, for `after`.
    #[schema(required)]
    last_id: Option<String>,
    /// Whether there are more items.
    has_more: bool,
}

/// List the input items of a response (extension)
///
/// Without those of the responses that it continues.
#[utoipa::path(
    get, path = "/v1/responses/{response_id}/input_items", operation_id = "list_input_items", tag = "OpenAI wire",
    params(
        ("response_id" = String, Path, description = "ID of the response.", example = "resp_01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
        ("limit" = Option<u64>, Query, description = "Maximum number of items. Default: 20.", minimum = 1, maximum = 100),
        ("order" = Option<String>, Query, description = "`asc` or `desc`. Default: `desc`."),
        ("after" = Option<String>, Query, description = "ID of the item before the page."),
        ("include" = Option<Vec<String>>, Query, description = "Accepted as in `GET`; items of the input have nothing to include."),
    ),
    responses(
        (status = 200, description = "A page of the items.", body = InputItemList),
        wire::InvalidParameters, wire::UnknownObject,
    ),
)]
pub(crate) async fn input_items(
    by: Granted<Chat>,
    context: State,
    id: Path<String>,
    mut query: Query,
) -> Reply {
    include(&query)?;
    let after = query.text("after").map(str::to_owned);
    let (limit, order) = size_and_order(&mut query, LIMIT, LIMIT_MAX);
    query.done()?;
    let found = responses::get(&context.app, &by.grant, ids::require(&id)?).await?;
    let mut items = Content::of(&found)?.input;
    if order == TimeOrder::Newest {
        items.reverse();
    }
    let item_id = |item: &Value| item.get("id").and_then(Value::as_str).map(str::to_owned);
    if let Some(after) = after {
        let at = items.iter().position(|item| item_id(item).as_ref() == Some(&after));
        let at =
            at.ok_or_else(|| ApiError::invalid_field(&["query", "after"], "is not an ID of this list"))?;
        items.drain(..=at);
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = items.len() > limit;
    items.truncate(limit);
    let (first_id, last_id) = (items.first().and_then(item_id), items.last().and_then(item_id));
    Ok(HttpResponse::Ok().json(InputItemList { object: "list", data: items, first_id, last_id, has_more }))
}
