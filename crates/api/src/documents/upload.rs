//! `POST /documents/upload`

use super::response::DocumentResponse;
use crate::answers;
use crate::selection::attributes_of_text;
use actix_web::http::{StatusCode, header};
use actix_web::web::Payload;
use actix_web::{HttpMessage, HttpRequest, HttpResponse};
use docent_app::collections::destination;
use docent_app::documents::upload::{NewDocument, UploadTarget, Uploaded};
use docent_app::error::Error;
use docent_domain::access::AddDocuments;
use docent_domain::id::CollectionId;
use docent_domain::trace::TraceParent;
use docent_http::extract::upload::{REST_MAX, parts_of, receive};
use docent_http::{Query, Reply, Scoped, State};
use utoipa::ToSchema;

/// What happens when the collection has a document with an equal file already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OnDuplicate {
    /// Another document is created; its report names the oldest one.
    Create,
    /// The oldest document is returned.
    Return,
}

impl OnDuplicate {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "create" => Some(Self::Create),
            "return" => Some(Self::Return),
            _ => None,
        }
    }
}

/// A form with a file.
#[derive(ToSchema)]
#[schema(example = json!({
    "file": "%PDF-1.4\n1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj\n2 0 obj <</Type /Pages /Count 1 /Kids [3 0 R]>> endobj\n\
             3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 300 300]>> endobj\ntrailer <</Root 1 0 R>>\n%%EOF\n",
}))]
#[expect(dead_code, reason = "documents the form that the handler reads as a stream")]
pub(crate) struct UploadForm {
    /// The file: a PDF, sent as `application/pdf`, or a file of another type that `DOCENT_UPLOAD_TYPES` accepts. Its name becomes the title; without a name the title is `Untitled`.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
}

/// Upload a file
///
/// The response is sent when the file is stored; ingestion runs in the background. Poll the document until `status` is no longer
/// `pending`. If the upload fails, nothing is stored. Other parts of the form are ignored, up to 1 MiB in total.
#[utoipa::path(
    post, path = "/documents/upload", operation_id = "upload_document", tag = "Documents",
    params(
        (
            "collection_id" = Option<String>, Query, format = "uuid", nullable = false,
            description = "Extension: ID of the collection for the document. Default: see `default_collection`.",
        ),
        (
            "attributes" = Option<String>, Query, nullable = false, example = "{\"year\":2025}",
            description = "Extension: attributes of the document, as a JSON object.",
        ),
        (
            "on_duplicate" = Option<String>, Query, nullable = false, pattern = "^(create|return)?$", example = "return",
            description = "Extension: `return` returns the oldest document of the collection with an equal file, if there is one, \
                           instead of a new one.",
        ),
    ),
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses(
        (status = 202, description = "The new document, `pending`.", body = DocumentResponse<'_>),
        (status = 200, description = "With `on_duplicate=return`: an existing document.", body = DocumentResponse<'_>),
        answers::UnknownCollection, answers::InvalidBody, answers::UnsupportedFile, answers::StorageFull,
    ),
)]
pub(crate) async fn upload(
    by: Scoped<AddDocuments>,
    context: State,
    request: HttpRequest,
    mut query: Query,
    payload: Payload,
) -> Reply {
    let collection =
        query.parse_given("collection_id", "must be a UUID", |text| text.parse::<CollectionId>().ok());
    let attributes = query.check("attributes", attributes_of_text);
    let on_duplicate = query.parse("on_duplicate", "must be create or return", OnDuplicate::parse);
    query.done()?;
    let collection = destination(&context.app, &by.grant, &by.scope, collection)?;
    let document = NewDocument {
        attributes: attributes.unwrap_or_default(),
        returns_duplicate: on_duplicate == Some(OnDuplicate::Return),
        ..NewDocument::new(by.grant, collection)
    };
    store(&context, &request, payload, document).await
}

/// Stores the file of a form and returns its document.
pub(super) async fn store(
    context: &State,
    request: &HttpRequest,
    payload: Payload,
    target: impl Into<UploadTarget>,
) -> Reply {
    let limit = context.app.settings().max_upload_bytes;
    let length = content_length(request);
    if length.is_some_and(|bytes| bytes > limit + REST_MAX) {
        return Err(Error::FileTooLarge { limit }.into());
    }
    let upload = receive(context, target, parts_of(request.headers(), payload), length).await?;
    let trace = request.extensions().get::<TraceParent>().cloned();
    let Uploaded { document, is_duplicate } = upload.traced(trace).finish().await?;
    let status = if is_duplicate { StatusCode::OK } else { StatusCode::ACCEPTED };
    Ok(HttpResponse::build(status).json(DocumentResponse::from(&document)))
}

fn content_length(request: &HttpRequest) -> Option<u64> {
    request.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
