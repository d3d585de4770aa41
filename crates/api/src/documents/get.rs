//! `GET /documents/{doc_id}`

use super::response::DocumentResponse;
use crate::openapi::answers;
use actix_web::{HttpResponse, web::Path};
use docent_app::documents::get as use_case;
use docent_domain::access::ReadDocuments;
use docent_http::{
    context::State,
    error::Reply,
    extract::{self, granted::Granted},
};

/// Read a document
///
/// After an upload, poll until `status` is no longer `pending`.
#[utoipa::path(
    get, path = "/documents/{doc_id}", operation_id = "get_document", tag = "Documents",
    params(("doc_id" = String, Path, description = "ID of the document.", format = "uuid")),
    responses(
        (status = 200, description = "The document.", body = DocumentResponse<'_>),
        answers::Guarded,
        answers::NoDocument,
        answers::BadInput,
        answers::StoreAway,
    ),
)]
pub(crate) async fn get(by: Granted<ReadDocuments>, context: State, id: Path<String>) -> Reply {
    let id = extract::id("doc_id", &id)?;
    let document = use_case::get(&context.app, by.grant, id).await?;
    Ok(HttpResponse::Ok().json(DocumentResponse::from(&document)))
}
