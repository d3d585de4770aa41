//! `/v1/vector_stores/{vector_store_id}/files…`: the files of a collection.

use super::chunking::{self, ChunkingStrategy};
use super::object::{CANCELLED, DeletedObject, IN_PROGRESS, StoreFileObject};
use super::stores::{self, LIMIT, LIMIT_MAX};
use crate::openai::ids;
use crate::openai::list::{self, Paging, StoreFileList};
use crate::openai::wire;
use crate::selection::parse_attributes;
use actix_web::HttpResponse;
use actix_web::web::Path;
use deserr::Deserr;
use docent_app::documents::batches::{self as use_case, FileToAdd};
use docent_app::documents::pages_text;
use docent_app::error::Error;
use docent_domain::access::{AddDocuments, ReadDocuments};
use docent_domain::attributes::Attributes;
use docent_domain::document::Document;
use docent_domain::error::ValidationError;
use docent_domain::id::{CollectionId, DocumentId};
use docent_domain::listing::{DocumentFilter, FileFilter};
use docent_domain::permission::RecordKind;
use docent_http::{ApiError, Bearer, Body, BodyErrors, Query, Reply, Scoped, State};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Header that says after how many milliseconds a client reads an object again.
const POLL_AFTER: (&str, &str) = ("openai-poll-after-ms", "500");

/// A file to attach. Other fields are ignored.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "file_id": "file-01920f3e5b7a7c3d9e214f6a8b0c2d4e", "attributes": { "year": 2025 } }))]
pub(crate) struct FileAttach {
    /// ID of the file.
    pub(super) file_id: String,
    /// Attributes that the document is to have, in all of its vector stores. Default: those that it has.
    #[deserr(default, try_from(Option<Value>) = parse_attributes -> ValidationError)]
    #[schema(value_type = Option<std::collections::BTreeMap<String, Value>>)]
    pub(super) attributes: Option<Attributes>,
    /// How to split it.
    #[deserr(default)]
    pub(super) chunking_strategy: Option<ChunkingStrategy>,
}

/// Replies with an object that clients ask for again while it is in progress.
pub(super) fn reply_with_status(status: &str, object: &impl Serialize) -> Reply {
    let mut response = HttpResponse::Ok();
    if status == IN_PROGRESS {
        response.insert_header(POLL_AFTER);
    }
    Ok(response.json(object))
}

/// Replies with a file of a vector store.
async fn reply(context: &State, document: Document, collection: CollectionId) -> Reply {
    let files = StoreFileObject::all(&context.app, &[document], collection).await?;
    let file = files.into_iter().next().ok_or_else(ApiError::internal)?;
    reply_with_status(file.status, &file)
}

/// Attach a file to a vector store (extension)
///
/// Adds the document to the collection. It stays in its other collections. Needs the right to change the document, and to add to the
/// collection. A file that the vector store has already only gets the attributes.
#[utoipa::path(
    post, path = "/v1/vector_stores/{vector_store_id}/files", operation_id = "attach_file", tag = "OpenAI wire",
    params(("vector_store_id" = String, Path, description = "ID of the vector store.", example = "vs_01920f3e5b7a7c3d9e214f6a8b0c2d4e")),
    request_body = FileAttach,
    responses(
        (status = 200, description = "The file of the vector store.", body = StoreFileObject),
        wire::InvalidBody, wire::UnknownObject, wire::StorageFull,
    ),
)]
pub(crate) async fn attach(Bearer(actor): Bearer, context: State, id: Path<String>, body: Body) -> Reply {
    let collection: CollectionId = ids::require(&id)?;
    stores::ensure_can_add(&context.app, &actor, collection).await?;
    let FileAttach { file_id, attributes, chunking_strategy } = body.read().await?;
    chunking::check(&chunking_strategy, context.app.settings().chunk_size)?;
    let file = FileToAdd { id: ids::require(&file_id)?, attributes };
    let document = use_case::add(&context.app, &actor, collection, file).await?;
    reply(&context, document, collection).await
}

/// Status of files that a list is limited to.
#[derive(Clone, Copy)]
pub(super) enum StatusFilter {
    /// Files of documents with this status.
    Document(&'static str),
    /// Files that a cancelled batch did not add.
    Cancelled,
}

impl StatusFilter {
    /// Reads the parameter `filter`.
    pub(super) fn read(query: &mut Query) -> Option<Self> {
        let msg = "must be in_progress, completed, failed or cancelled";
        query.parse("filter", msg, |text| match text {
            IN_PROGRESS => Some(Self::Document("pending")),
            "completed" => Some(Self::Document("ingested")),
            "failed" => Some(Self::Document("failed")),
            CANCELLED => Some(Self::Cancelled),
            _ => None,
        })
    }

    /// The status of documents, if it is one.
    pub(super) const fn of_documents(self) -> Option<&'static str> {
        match self {
            Self::Document(status) => Some(status),
            Self::Cancelled => None,
        }
    }
}

/// List the files of a vector store (extension)
#[utoipa::path(
    get, path = "/v1/vector_stores/{vector_store_id}/files", operation_id = "list_attached_files", tag = "OpenAI wire",
    params(
        ("vector_store_id" = String, Path, description = "ID of the vector store.", example = "vs_01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
        ("filter" = Option<String>, Query, description = "Only files with this status.", nullable = false, pattern = "^(in_progress|completed|failed|cancelled)?$", example = "completed"),
        ("limit" = Option<u64>, Query, description = "Maximum number of files. Default: 20.", minimum = 1, maximum = 100, nullable = false),
        ("order" = Option<String>, Query, description = "Order by creation time. Default: `desc`.", nullable = false, pattern = "^(asc|desc)?$", example = "desc"),
        ("after" = Option<String>, Query, description = "`last_id` of the previous page.", nullable = false, pattern = "^(file-[0-9a-f]{32})?$", example = "file-01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
        ("before" = Option<String>, Query, description = "`first_id` of the next page.", nullable = false, pattern = "^(file-[0-9a-f]{32})?$", example = ""),
    ),
    responses((status = 200, description = "The files.", body = StoreFileList), wire::InvalidParameters, wire::UnknownObject),
)]
pub(crate) async fn list(
    by: Scoped<ReadDocuments>,
    context: State,
    id: Path<String>,
    mut query: Query,
) -> Reply {
    let collection: CollectionId = ids::require(&id)?;
    let status = StatusFilter::read(&mut query);
    let paging: Paging<DocumentId> = Paging::read(&mut query, LIMIT, LIMIT_MAX);
    query.done()?;
    let within = by.scope.within(&[collection]).ok_or(Error::NotFound(RecordKind::Collection))?;
    if matches!(status, Some(StatusFilter::Cancelled)) {
        // Only batches have cancelled files.
        return Ok(HttpResponse::Ok().json(StoreFileList::new(Vec::new(), false)));
    }
    let filter = DocumentFilter {
        status: status.and_then(StatusFilter::of_documents),
        files: Some(FileFilter::default()),
        ..DocumentFilter::of(within)
    };
    let (found, has_more) = list::documents(&context.app, by.grant, &by.scope, &paging, filter).await?;
    let files = StoreFileObject::all(&context.app, &found, collection).await?;
    Ok(HttpResponse::Ok().json(StoreFileList::new(files, has_more)))
}

/// Read a file of a vector store (extension)
#[utoipa::path(
    get, path = "/v1/vector_stores/{vector_store_id}/files/{file_id}", operation_id = "get_attached_file", tag = "OpenAI wire",
    params(
        ("vector_store_id" = String, Path, description = "ID of the vector store.", example = "vs_01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
        ("file_id" = String, Path, description = "ID of the file.", example = "file-01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
    ),
    responses((status = 200, description = "The file of the vector store.", body = StoreFileObject), wire::UnknownObject),
)]
pub(crate) async fn get(by: Scoped<ReadDocuments>, context: State, ids: Path<(String, String)>) -> Reply {
    let (collection, id) = (ids::require(&ids.0)?, ids::require(&ids.1)?);
    let document = use_case::get(&context.app, by.grant, &by.scope, collection, id).await?;
    reply(&context, document, collection).await
}

/// New attributes of a file.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "attributes": { "year": 2025 } }))]
pub(crate) struct FileChange {
    /// All attributes that the document is to have, in all of its vector stores; `null` for none.
    #[deserr(try_from(Value) = parse_new_attributes -> ValidationError)]
    #[schema(value_type = Option<std::collections::BTreeMap<String, Value>>, required)]
    attributes: Attributes,
}

fn parse_new_attributes(value: Value) -> Result<Attributes, ValidationError> {
    let given = Some(value).filter(|value| !value.is_null());
    Ok(parse_attributes(given)?.unwrap_or_default())
}

/// Change the attributes of a file (extension)
///
/// Allowed as for `PATCH /documents/{doc_id}`.
#[utoipa::path(
    post, path = "/v1/vector_stores/{vector_store_id}/files/{file_id}", operation_id = "change_attached_file", tag = "OpenAI wire",
    params(
        ("vector_store_id" = String, Path, description = "ID of the vector store.", example = "vs_01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
        ("file_id" = String, Path, description = "ID of the file.", example = "file-01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
    ),
    request_body = FileChange,
    responses(
        (status = 200, description = "The file of the vector store.", body = StoreFileObject),
        wire::InvalidBody, wire::UnknownObject, wire::StorageFull,
    ),
)]
pub(crate) async fn change(
    Bearer(actor): Bearer,
    context: State,
    ids: Path<(String, String)>,
    body: Body,
) -> Reply {
    let (collection, id) = (ids::require(&ids.0)?, ids::require(&ids.1)?);
    stores::ensure_can_add(&context.app, &actor, collection).await?;
    let FileChange { attributes } = body.read().await?;
    let document = use_case::change(&context.app, &actor, (collection, id), attributes).await?;
    reply(&context, document, collection).await
}

/// Detach a file from a vector store (extension)
///
/// Takes the document out of the collection. The file stays: a document of the account that is in no other collection goes to its personal one;
/// one without any other place is refused with 409.
/// Allowed as for `PATCH /documents/{doc_id}`, and for managers of the collection.
#[utoipa::path(
    delete, path = "/v1/vector_stores/{vector_store_id}/files/{file_id}", operation_id = "detach_file", tag = "OpenAI wire",
    params(
        ("vector_store_id" = String, Path, description = "ID of the vector store.", example = "vs_01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
        ("file_id" = String, Path, description = "ID of the file.", example = "file-01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
    ),
    responses(
        (status = 200, description = "Detached.", body = DeletedObject),
        wire::UnknownObject, wire::Conflict, wire::StorageFull,
    ),
)]
pub(crate) async fn detach(Bearer(actor): Bearer, context: State, ids: Path<(String, String)>) -> Reply {
    let (collection, id): (CollectionId, DocumentId) = (ids::require(&ids.0)?, ids::require(&ids.1)?);
    actor.authorize::<AddDocuments>().map_err(Error::from)?;
    use_case::remove(&context.app, &actor, collection, id).await?;
    Ok(HttpResponse::Ok().json(DeletedObject::new(ids::encode(id), "vector_store.file.deleted")))
}

/// The text of a file.
#[derive(Serialize, ToSchema)]
pub(crate) struct FileContentPage {
    /// Always `vector_store.file_content.page`.
    object: &'static str,
    /// The text, one item per page; empty until the file is ingested.
    data: Vec<FileContent>,
    /// Always false.
    has_more: bool,
    /// Always null.
    #[schema(required)]
    next_page: Option<String>,
}

/// The text of a page.
#[derive(Serialize, ToSchema)]
pub(crate) struct FileContent {
    /// Always `text`.
    r#type: &'static str,
    /// The text.
    text: String,
    /// Extension: number of the page, counted from 1.
    page: u32,
    /// Extension: what the page is in a file that is not a PDF. Otherwise missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    label: Option<String>,
}

/// Read the text of a file (extension)
#[utoipa::path(
    get, path = "/v1/vector_stores/{vector_store_id}/files/{file_id}/content", operation_id = "get_attached_file_content", tag = "OpenAI wire",
    params(
        ("vector_store_id" = String, Path, description = "ID of the vector store.", example = "vs_01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
        ("file_id" = String, Path, description = "ID of the file.", example = "file-01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
    ),
    responses((status = 200, description = "The text.", body = FileContentPage), wire::UnknownObject),
)]
pub(crate) async fn content(by: Scoped<ReadDocuments>, context: State, ids: Path<(String, String)>) -> Reply {
    let (collection, id) = (ids::require(&ids.0)?, ids::require(&ids.1)?);
    let document = use_case::get(&context.app, by.grant, &by.scope, collection, id).await?;
    let pages = pages_text::all(&context.app, by.grant, &document).await?.into_iter();
    let data = pages.map(|page| FileContent {
        r#type: "text",
        text: page.text,
        page: page.number,
        label: page.label,
    });
    let (object, data) = ("vector_store.file_content.page", data.collect());
    Ok(HttpResponse::Ok().json(FileContentPage { object, data, has_more: false, next_page: None }))
}
