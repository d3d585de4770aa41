//! `DELETE /collections/{id}`

use crate::answers;
use actix_web::HttpResponse;
use docent_app::collections as use_case;
use docent_domain::id::CollectionId;
use docent_http::{Bearer, PathId, Reply, State};

/// Delete a collection (extension)
///
/// Its documents must be in other collections too. Allowed for managers of the collection, accounts with
/// `collections.delete_collection` and superusers.
#[utoipa::path(
    delete, path = "/collections/{id}", operation_id = "delete_collection", tag = "Collections",
    params(("id" = String, Path, description = "ID of the collection.", format = "uuid")),
    responses(
        (status = 204, description = "Deleted."),
        answers::UnknownCollection, answers::CollectionInUse, answers::StorageFull,
    ),
)]
pub(crate) async fn delete(Bearer(actor): Bearer, context: State, id: PathId<CollectionId>) -> Reply {
    use_case::delete(&context.app, &actor, id.parse()?).await?;
    Ok(HttpResponse::NoContent().finish())
}
