//! `POST /librechat/embed`

use super::User;
use super::form::{LibreChatFileForm, Received, receive, shown_name};
use crate::answers;
use actix_web::web::Payload;
use actix_web::{HttpMessage, HttpRequest, HttpResponse};
use docent_app::documents::wait::{self, IngestionEnd, until_ingested};
use docent_domain::access::AddDocuments;
use docent_domain::external_file::ExternalId;
use docent_domain::trace::TraceParent;
use docent_http::{Reply, State};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

/// How long an upload waits for its ingestion. LibreChat's token lives for 5 minutes, and its requests for text as long.
const INGESTION_TIMEOUT: Duration = Duration::from_secs(280);
const TOO_SLOW: &str = "the file was not searchable in time and was discarded";

/// A file is searchable, or its type is not supported.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "status": true, "message": "File processed successfully.", "file_id": "0b1f4c52-3c0f-4a61-9f0e-5b6b2f1c9a10",
    "filename": "Terms.pdf", "known_type": true,
}))]
pub(crate) struct Embedded {
    /// Whether the file is searchable.
    status: bool,
    /// A sentence.
    message: String,
    /// ID of the file.
    file_id: String,
    /// Name of the file; `null` if its type is not supported.
    #[schema(required)]
    filename: Option<String>,
    /// Whether the type of the file is supported. LibreChat tells its user so.
    known_type: bool,
}

/// A file could not be ingested.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "detail": "no extractable text (a scanned document?)", "status": false,
    "message": "no extractable text (a scanned document?)", "file_id": "0b1f4c52-3c0f-4a61-9f0e-5b6b2f1c9a10",
    "filename": "Terms.pdf", "known_type": true,
}))]
pub(crate) struct EmbeddingFailure {
    /// The reason, or a sentence about an incomplete body, which has no further fields.
    detail: String,
    /// Always false.
    #[schema(required = false)]
    status: bool,
    /// The reason.
    #[schema(required = false)]
    message: String,
    /// ID of the file.
    #[schema(required = false)]
    file_id: String,
    /// Name of the file.
    #[schema(required = false)]
    filename: String,
    /// Always true.
    #[schema(required = false)]
    known_type: bool,
}

/// Add a file of LibreChat (extension)
///
/// Adds a document to the personal collection of the user's account, and responds when it is searchable. A file with the same ID replaces the
/// one that the account has. If a new file cannot be ingested within 280 s, or the client disconnects before, its document is deleted again,
/// since LibreChat does not know it.
#[utoipa::path(
    post, path = "/librechat/embed", operation_id = "librechat_embed", tag = "LibreChat",
    security(("librechat_token" = [])),
    request_body(content = LibreChatFileForm, content_type = "multipart/form-data"),
    responses(
        (status = 200, description = "The file is searchable, or its type is not supported.", body = Embedded),
        (status = 400, description = "The file could not be ingested, or the body is incomplete.", body = EmbeddingFailure),
        answers::UnknownPath, answers::InvalidForm, answers::StorageFull,
    ),
)]
pub(crate) async fn embed(user: User, context: State, request: HttpRequest, payload: Payload) -> Reply {
    let grant = user.authorize::<AddDocuments>()?;
    let Received { external, upload } = receive(&user, grant, &context, &request, payload).await?;
    let id = external.id.clone();
    let upload = match upload {
        Ok(upload) => upload,
        Err(error) => return Ok(unsupported(&id, error.detail())),
    };
    let trace = request.extensions().get::<TraceParent>().cloned();
    // Until LibreChat has the answer, it does not know a new file.
    let upload = upload.with_external(external).traced(trace);
    let (document, provisional) = match wait::finish(upload, &context.app, &user.actor).await {
        Ok((uploaded, provisional)) => (uploaded.document, provisional),
        Err(error @ docent_app::error::Error::UnsupportedFileType { .. }) => {
            return Ok(unsupported(&id, &error.to_string()));
        }
        Err(error) => return Err(error.into()),
    };
    let name = document.upcoming().and_then(|upcoming| upcoming.file).or(document.file);
    let filename = shown_name(name.as_ref().map_or("", |file| file.name.as_str()));
    let reason = match until_ingested(&context.app, document.id, INGESTION_TIMEOUT).await? {
        IngestionEnd::Ingested(_) => {
            if let Some(provisional) = provisional {
                provisional.keep();
            }
            let message = "File processed successfully.".to_owned();
            let (file_id, filename) = (id.to_string(), Some(filename));
            return Ok(HttpResponse::Ok().json(Embedded {
                status: true,
                message,
                file_id,
                filename,
                known_type: true,
            }));
        }
        IngestionEnd::Failed(reason) => reason,
        IngestionEnd::Deleted => "the file was deleted before it was searchable".to_owned(),
        IngestionEnd::TimedOut(Some(reason)) => format!("{TOO_SLOW}: {reason}"),
        IngestionEnd::TimedOut(None) => TOO_SLOW.to_owned(),
    };
    tracing::info!(document = %document.id, reason, "a file of LibreChat was not ingested");
    Ok(HttpResponse::BadRequest().json(EmbeddingFailure {
        detail: reason.clone(),
        status: false,
        message: reason,
        file_id: id.to_string(),
        filename,
        known_type: true,
    }))
}

/// The answer to a file whose type is not supported, which LibreChat names to its user.
fn unsupported(id: &ExternalId, reason: &str) -> HttpResponse {
    let message = reason.to_owned();
    HttpResponse::Ok().json(Embedded {
        status: false,
        message,
        file_id: id.to_string(),
        filename: None,
        known_type: false,
    })
}
