//! `POST /documents`

use super::response::DocumentResponse;
use crate::openapi::answers;
use actix_web::HttpResponse;
use docent_app::documents::create as use_case;
use docent_domain::{access::AddDocuments, text::Title};
use docent_http::{
    context::State,
    error::Reply,
    extract::{granted::Granted, json::Body},
};
use utoipa::ToSchema;

/// A document without a file.
#[derive(ToSchema)]
#[expect(dead_code, reason = "says what the handler reads field by field")]
#[schema(example = json!({ "title": "Terms of delivery" }))]
pub(crate) struct DocumentCreate {
    /// Trimmed; not empty, and without control characters.
    #[schema(
        min_length = 1,
        max_length = 500,
        pattern = r"^[^\x00-\x1F\x7F-\x9F]*[^\s\x00-\x1F\x7F-\x9F][^\x00-\x1F\x7F-\x9F]*$"
    )]
    title: String,
}

/// Add a document without a file
///
/// It stays `pending`: there is nothing to ingest. To have a file read, upload it.
#[utoipa::path(
    post, path = "/documents", operation_id = "create_document", tag = "Documents",
    request_body = DocumentCreate,
    responses(
        (status = 201, description = "The new document.", body = DocumentResponse<'_>),
        answers::Guarded,
        answers::BodyRead,
        answers::StoreAway,
        answers::StoreFull,
    ),
)]
pub(crate) async fn create(by: Granted<AddDocuments>, context: State, body: Body) -> Reply {
    let mut body = body.fields().await?;
    let title = body.text("title");
    let title = body.parse("title", title, Title::parse);
    let title = body.done(title)?;
    let document = use_case::create(&context.app, by.grant, title).await?;
    Ok(HttpResponse::Created().json(DocumentResponse::from(&document)))
}
