//! `GET /documents/{doc_id}`

use super::response::DocumentResponse;
use crate::answers;
use actix_web::HttpResponse;
use docent_app::documents::get as use_case;
use docent_domain::access::ReadDocuments;
use docent_domain::id::DocumentId;
use docent_http::{PathId, Reply, Scoped, State};

/// Read a document
///
/// After an upload, poll until `status` is no longer `pending`.
#[utoipa::path(
    get, path = "/documents/{doc_id}", operation_id = "get_document", tag = "Documents",
    params(("doc_id" = String, Path, description = "ID of the document.", format = "uuid")),
    responses((status = 200, description = "The document.", body = DocumentResponse<'_>), answers::UnknownDocument),
)]
pub(crate) async fn get(by: Scoped<ReadDocuments>, context: State, id: PathId<DocumentId>) -> Reply {
    let document = use_case::get(&context.app, by.grant, &by.scope, id.parse()?).await?;
    Ok(HttpResponse::Ok().json(DocumentResponse::from(&document)))
}
