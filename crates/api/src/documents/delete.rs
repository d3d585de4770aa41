//! `DELETE /documents/{doc_id}`

use crate::answers;
use actix_web::HttpResponse;
use docent_app::documents::delete as use_case;
use docent_domain::id::DocumentId;
use docent_http::{Bearer, PathId, Reply, State};

/// Delete a document (extension)
///
/// The document disappears from lists, answers and searches immediately. Its chunks, file and record are removed in the background.
/// Allowed for the uploader, accounts with `documents.delete_document` and superusers.
#[utoipa::path(
    delete, path = "/documents/{doc_id}", operation_id = "delete_document", tag = "Documents",
    params(("doc_id" = String, Path, description = "ID of the document.", format = "uuid")),
    responses((status = 204, description = "Deleted."), answers::UnknownDocument, answers::StorageFull),
)]
pub(crate) async fn delete(Bearer(actor): Bearer, context: State, id: PathId<DocumentId>) -> Reply {
    use_case::delete(&context.app, &actor, id.parse()?).await?;
    Ok(HttpResponse::NoContent().finish())
}
