//! `DELETE /librechat/documents`

use super::query_multiple::FILES_MAX;
use super::{User, not_found};
use crate::answers;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use docent_app::documents::{delete as deletion, external};
use docent_app::error::Error;
use docent_domain::access::ReadDocuments;
use docent_domain::external_file::ExternalId;
use docent_http::error::Problem;
use docent_http::extract::deserialize::List;
use docent_http::{ApiError, Body, Reply, State};
use serde::Serialize;
use utoipa::ToSchema;

/// Files were deleted.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({ "message": "Documents for 1 file deleted successfully" }))]
pub(crate) struct FilesDeleted {
    /// A sentence.
    message: String,
}

/// Delete files of LibreChat (extension)
///
/// Deletes the documents that the user's account has added under these IDs. Unknown IDs return 404, which LibreChat takes for a deleted
/// file; the other files are deleted then too. A file that another account has added for an agent returns 403, and nothing is deleted:
/// LibreChat keeps the file.
#[utoipa::path(
    delete, path = "/librechat/documents", operation_id = "librechat_delete", tag = "LibreChat",
    security(("librechat_token" = [])),
    request_body(content = Vec<String>, example = json!(["0b1f4c52-3c0f-4a61-9f0e-5b6b2f1c9a10"])),
    responses(
        (status = 200, description = "All files were deleted.", body = FilesDeleted),
        (status = 404, description = "An ID is unknown.", body = Problem<'_>, example = json!({ "detail": "One or more IDs not found" })),
        answers::InvalidBody, answers::StorageFull,
    ),
)]
pub(crate) async fn delete(user: User, context: State, body: Body) -> Reply {
    let grant = user.authorize::<ReadDocuments>()?;
    let List(ids): List<ExternalId, FILES_MAX> = body.read().await?;
    let (own, is_shared) = external::to_delete(&context.app, grant, &ids).await?;
    if is_shared && !ids.iter().all(|id| own.contains_key(id)) {
        let detail = "Only the account that has added this file for an agent can delete it";
        return Err(ApiError::new(StatusCode::FORBIDDEN, detail));
    }
    let mut are_known = ids.iter().all(|id| own.contains_key(id));
    for document in own.into_values() {
        match deletion::delete(&context.app, &user.actor, document).await {
            Ok(()) => {}
            // Another request has deleted it.
            Err(Error::NotFound(_)) => are_known = false,
            Err(error) => return Err(error.into()),
        }
    }
    if !are_known {
        return Err(not_found("One or more IDs not found"));
    }
    let files = if ids.len() == 1 { "1 file".to_owned() } else { format!("{} files", ids.len()) };
    Ok(HttpResponse::Ok()
        .json(FilesDeleted { message: format!("Documents for {files} deleted successfully") }))
}
