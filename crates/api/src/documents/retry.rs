//! `POST /documents/{doc_id}/retry`

use super::response::DocumentResponse;
use crate::openapi::answers;
use actix_web::{HttpResponse, web::Path};
use docent_app::documents::retry as use_case;
use docent_http::{
    context::State,
    error::Reply,
    extract::{self, granted::Bearer},
};

/// Try a failed ingestion anew (extension)
///
/// From the stored file, with all attempts. For who uploaded it, holders of `documents.change_document` and superusers.
#[utoipa::path(
    post, path = "/documents/{doc_id}/retry", operation_id = "retry_document", tag = "Documents",
    params(("doc_id" = String, Path, description = "The document's id.", format = "uuid")),
    responses(
        (status = 202, description = "It is `pending` again.", body = DocumentResponse<'_>),
        answers::Guarded,
        answers::NoDocument,
        answers::NotFailed,
        answers::BadInput,
        answers::StoreAway,
        answers::StoreFull,
    ),
)]
pub(crate) async fn retry(Bearer(actor): Bearer, context: State, id: Path<String>) -> Reply {
    let id = extract::id("doc_id", &id)?;
    let document = use_case::retry(&context.app, &actor, id).await?;
    Ok(HttpResponse::Accepted().json(DocumentResponse::from(&document)))
}
