//! `POST /documents/upload`

use super::response::DocumentResponse;
use crate::openapi::answers;
use actix_multipart::Multipart;
use actix_web::http::header;
use actix_web::web::Payload;
use actix_web::{HttpMessage, HttpRequest, HttpResponse};
use docent_app::error::Error;
use docent_domain::access::AddDocuments;
use docent_domain::trace::TraceParent;
use docent_http::extract::upload::{REST_MAX, receive};
use docent_http::{Granted, Reply, State};
use utoipa::ToSchema;

/// A form with a file.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents the form that the handler reads as a stream")]
pub(crate) struct UploadForm {
    /// The PDF, sent as `application/pdf`. Its name becomes the title; without a name the title is `Untitled`.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
}

/// Upload a file
///
/// The response is sent when the file is stored; ingestion runs in the background. Poll the document until `status` is no longer
/// `pending`. If the upload fails, nothing is stored. Other parts of the form are ignored, up to 1 MiB in total.
#[utoipa::path(
    post, path = "/documents/upload", operation_id = "upload_document", tag = "Documents",
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses(
        (status = 202, description = "The new document, `pending`.", body = DocumentResponse<'_>),
        answers::InvalidBody, answers::NotPdf, answers::StorageFull,
    ),
)]
pub(crate) async fn upload(
    by: Granted<AddDocuments>,
    context: State,
    request: HttpRequest,
    payload: Payload,
) -> Reply {
    let limit = context.app.settings().max_upload_bytes;
    let length = content_length(&request);
    if length.is_some_and(|bytes| bytes > limit + REST_MAX) {
        return Err(Error::FileTooLarge { limit }.into());
    }
    let upload = receive(&context, by.grant, Multipart::new(request.headers(), payload), length).await?;
    let trace = request.extensions().get::<TraceParent>().cloned();
    let document = upload.traced(trace).finish().await?;
    Ok(HttpResponse::Accepted().json(DocumentResponse::from(&document)))
}

fn content_length(request: &HttpRequest) -> Option<u64> {
    request.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
