//! `GET /documents/{doc_id}/file`

use crate::openapi::answers;
use actix_web::web::Path;
use docent_app::documents::file as use_case;
use docent_domain::access::ReadDocuments;
use docent_http::{
    attachment,
    context::State,
    error::Reply,
    extract::{self, granted::Granted},
};

/// Download the uploaded file (extension)
///
/// Returns the file as an attachment with its original name. A document without a file returns 404 too.
#[utoipa::path(
    get, path = "/documents/{doc_id}/file", operation_id = "get_file", tag = "Documents",
    params(("doc_id" = String, Path, description = "ID of the document.", format = "uuid")),
    responses(
        (
            status = 200, description = "The file.", body = String, content_type = "application/pdf",
            headers(("Content-Disposition" = String, description = "`attachment` with the name of the file.")),
        ),
        answers::Guarded,
        answers::NoDocument,
        answers::BadInput,
        answers::StoreAway,
    ),
)]
pub(crate) async fn file(by: Granted<ReadDocuments>, context: State, id: Path<String>) -> Reply {
    let id = extract::id("doc_id", &id)?;
    let (file, bytes) = use_case::open(&context.app, by.grant, id).await?;
    Ok(attachment::pdf(&file, bytes))
}
