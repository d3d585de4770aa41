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
/// The document disappears from lists, answers and searches immediately. Its chunks, file and record are removed in the background.
/// Allowed for the uploader, accounts with `documents.delete_document` and superusers.
#[utoipa::path(
    delete, path = "/documents/{doc_id}", operation_id = "delete_document", tag = "Documents",
    params(("doc_id" = String, Path, description = "ID of the document.", format = "uuid")),
    responses(
        (status = 204, description = "Deleted."),
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
