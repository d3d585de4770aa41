//! `PUT` and `DELETE /collections/{id}/hidden`

use crate::answers;
use actix_web::HttpResponse;
use docent_app::collections as use_case;
use docent_domain::access::HideCollections;
use docent_domain::id::CollectionId;
use docent_http::{Granted, PathId, Reply, State};

/// Hide a collection (extension)
///
/// Hides it from the lists of collections and documents, the searches and the answers of this account. Requests that name the collection or its
/// documents by ID still use it.
#[utoipa::path(
    put, path = "/collections/{id}/hidden", operation_id = "hide_collection", tag = "Collections",
    params(("id" = String, Path, description = "ID of the collection.", format = "uuid")),
    responses(
        (status = 204, description = "Hidden."),
        answers::UnknownCollection, answers::TooManyCollections, answers::StorageFull,
    ),
)]
pub(crate) async fn hide(by: Granted<HideCollections>, context: State, id: PathId<CollectionId>) -> Reply {
    use_case::set_hidden(&context.app, by.grant, &by.actor, id.parse()?, true).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Show a hidden collection again (extension)
#[utoipa::path(
    delete, path = "/collections/{id}/hidden", operation_id = "show_collection", tag = "Collections",
    params(("id" = String, Path, description = "ID of the collection.", format = "uuid")),
    responses((status = 204, description = "Shown."), answers::UnknownCollection, answers::StorageFull),
)]
pub(crate) async fn show(by: Granted<HideCollections>, context: State, id: PathId<CollectionId>) -> Reply {
    use_case::set_hidden(&context.app, by.grant, &by.actor, id.parse()?, false).await?;
    Ok(HttpResponse::NoContent().finish())
}
