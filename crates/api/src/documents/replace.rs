//! `PUT /documents/{doc_id}/file`

use super::response::DocumentResponse;
use super::upload::{UploadForm, store};
use crate::answers;
use actix_web::HttpRequest;
use actix_web::web::Payload;
use docent_app::documents::replace as use_case;
use docent_domain::id::DocumentId;
use docent_http::{Bearer, PathId, Reply, State};

/// Replace the file of a document (extension)
///
/// The new file becomes the next version of the document. An `ingested` document keeps its status, and its previous version is
/// searched until the new one is ingested; if that fails, it stays, and the report names the reason. Any other document is `pending`
/// with the new file. Allowed as for changes of its attributes.
#[utoipa::path(
    put, path = "/documents/{doc_id}/file", operation_id = "replace_file", tag = "Documents",
    params(("doc_id" = String, Path, description = "ID of the document.", format = "uuid")),
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses(
        (status = 202, description = "The document.", body = DocumentResponse<'_>),
        answers::UnknownDocument, answers::InvalidBody, answers::UnsupportedFile, answers::StorageFull,
    ),
)]
pub(crate) async fn replace(
    Bearer(actor): Bearer,
    context: State,
    id: PathId<DocumentId>,
    request: HttpRequest,
    payload: Payload,
) -> Reply {
    let target = use_case::begin(&context.app, &actor, id.parse()?).await?;
    store(&context, &request, payload, target).await
}
