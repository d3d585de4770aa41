//! `DELETE /documents/{doc_id}`

use crate::openapi::answers;
use actix_web::{HttpResponse, web::Path};
use docent_app::documents::delete as use_case;
use docent_http::{
    context::State,
    error::Reply,
    extract::{self, granted::Bearer},
};

/// Delete a document (extension)
///
/// From then on it is in no list, no answer and no search. Its chunks, file and record are removed in the background. For who uploaded
/// it, holders of `documents.delete_document` and superusers.
#[utoipa::path(
    delete, path = "/documents/{doc_id}", operation_id = "delete_document", tag = "Documents",
    params(("doc_id" = String, Path, description = "The document's id.", format = "uuid")),
    responses(
        (status = 204, description = "It is gone."),
        answers::Guarded,
        answers::NoDocument,
        answers::BadInput,
        answers::StoreAway,
        answers::StoreFull,
    ),
)]
pub(crate) async fn delete(Bearer(actor): Bearer, context: State, id: Path<String>) -> Reply {
    let id = extract::id("doc_id", &id)?;
    use_case::delete(&context.app, &actor, id).await?;
    Ok(HttpResponse::NoContent().finish())
}
