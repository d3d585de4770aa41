//! `POST /documents`

use super::response::DocumentResponse;
use crate::answers;
use actix_web::HttpResponse;
use deserr::Deserr;
use docent_app::collections::destination;
use docent_app::documents::create as use_case;
use docent_domain::access::AddDocuments;
use docent_domain::id::CollectionId;
use docent_domain::text::Title;
use docent_http::{Body, BodyErrors, Reply, Scoped, State};
use utoipa::ToSchema;

/// A document without a file.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "title": "Terms of delivery" }))]
pub(crate) struct DocumentCreate {
    /// Title, trimmed. Characters that are not seen are removed; not empty without them, and without NUL.
    #[schema(
        value_type = String,
        min_length = 1,
        max_length = 500,
        pattern = r"^[^\x00]*[^\s\x00-\x1F\x7F-\x9F\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF][^\x00]*$"
    )]
    title: Title,
    /// Extension: ID of the collection for the document. Default: see `default_collection`.
    #[deserr(default)]
    #[schema(value_type = Option<String>, format = "uuid")]
    collection_id: Option<CollectionId>,
}

/// Add a document without a file
///
/// The document stays `pending`, since there is nothing to ingest. To ingest a file, upload it.
#[utoipa::path(
    post, path = "/documents", operation_id = "create_document", tag = "Documents",
    request_body = DocumentCreate,
    responses(
        (status = 201, description = "The new document.", body = DocumentResponse<'_>),
        answers::UnknownCollection, answers::InvalidBody, answers::StorageFull,
    ),
)]
pub(crate) async fn create(by: Scoped<AddDocuments>, context: State, body: Body) -> Reply {
    let DocumentCreate { title, collection_id } = body.read().await?;
    let collection = destination(&context.app, &by.grant, &by.scope, collection_id)?;
    let document = use_case::create(&context.app, by.grant, collection, title).await?;
    Ok(HttpResponse::Created().json(DocumentResponse::from(&document)))
}
