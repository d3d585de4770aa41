//! `POST /documents/{doc_id}/retry`

use super::response::DocumentResponse;
use crate::answers;
use actix_web::HttpResponse;
use docent_app::documents::retry as use_case;
use docent_domain::id::DocumentId;
use docent_http::{Bearer, PathId, Reply, State};

/// Retry a failed ingestion (extension)
///
/// Ingests the stored file, or that of a failed replacement, again, with the full number of attempts. Allowed for the uploader, accounts with
/// `documents.change_document` and superusers.
#[utoipa::path(
    post, path = "/documents/{doc_id}/retry", operation_id = "retry_document", tag = "Documents",
    params(("doc_id" = String, Path, description = "ID of the document.", format = "uuid")),
    responses(
        (status = 202, description = "The document, waiting for ingestion again.", body = DocumentResponse<'_>),
        answers::UnknownDocument, answers::NotFailed, answers::StorageFull,
    ),
)]
pub(crate) async fn retry(Bearer(actor): Bearer, context: State, id: PathId<DocumentId>) -> Reply {
    let document = use_case::retry(&context.app, &actor, id.parse()?).await?;
    Ok(HttpResponse::Accepted().json(DocumentResponse::from(&document)))
}
