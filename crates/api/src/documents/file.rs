//! `GET /documents/{doc_id}/file`

use crate::answers;
use docent_app::documents::file as use_case;
use docent_domain::access::ReadDocuments;
use docent_domain::id::DocumentId;
use docent_http::{PathId, Reply, Scoped, State, attachment};

/// Download the uploaded file (extension)
///
/// Returns the file as an attachment with its original name and the media type of its content, which is `application/pdf`
/// unless `DOCENT_UPLOAD_TYPES` accepts other types. A document without a file returns 404 too.
#[utoipa::path(
    get, path = "/documents/{doc_id}/file", operation_id = "get_file", tag = "Documents",
    params(("doc_id" = String, Path, description = "ID of the document.", format = "uuid")),
    responses(
        (
            status = 200, description = "The file.",
            content(
                (String = "application/pdf"),
                (String = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
                (String = "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
                (String = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
                (String = "application/vnd.oasis.opendocument.text"),
                (String = "application/epub+zip"),
                (String = "text/html"),
                (String = "text/markdown"),
                (String = "text/plain"),
                (String = "text/csv"),
                (String = "message/rfc822"),
            ),
            headers(("Content-Disposition" = String, description = "`attachment` with the name of the file.")),
        ),
        answers::UnknownDocument,
    ),
)]
pub(crate) async fn file(by: Scoped<ReadDocuments>, context: State, id: PathId<DocumentId>) -> Reply {
    let (file, bytes) = use_case::open(&context.app, by.grant, &by.scope, id.parse()?).await?;
    Ok(attachment::file(&file, bytes))
}
