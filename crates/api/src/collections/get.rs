//! `GET /collections/{id}`

use super::response::CollectionResponse;
use crate::answers;
use actix_web::HttpResponse;
use docent_app::collections as use_case;
use docent_domain::access::ReadDocuments;
use docent_domain::collection::CollectionRole;
use docent_domain::id::CollectionId;
use docent_http::{PathId, Reply, Scoped, State};

/// Read a collection (extension)
#[utoipa::path(
    get, path = "/collections/{id}", operation_id = "get_collection", tag = "Collections",
    params(("id" = String, Path, description = "ID of the collection.", format = "uuid")),
    responses((status = 200, description = "The collection.", body = CollectionResponse<'_>), answers::UnknownCollection),
)]
pub(crate) async fn get(by: Scoped<ReadDocuments>, context: State, id: PathId<CollectionId>) -> Reply {
    let collection = use_case::get(&context.app, by.grant, &by.scope, id.parse()?).await?;
    let role = by.scope.role_in(collection.id).unwrap_or(CollectionRole::Viewer);
    Ok(HttpResponse::Ok().json(CollectionResponse::of(&collection, role)))
}
