//! `/v1/files…`: documents with a file.

use super::file_object::{DeletedFile, FileObject};
use super::ids;
use super::list::{self, FileList, Paging};
use crate::openai::wire;
use actix_web::http::header;
use actix_web::web::{Path, Payload};
use actix_web::{HttpMessage, HttpRequest, HttpResponse};
use docent_app::App;
use docent_app::documents::upload::{NewDocument, Uploaded};
use docent_app::documents::{delete as deletion, file, get as reading, list as listing};
use docent_app::error::Error;
use docent_domain::access::{AddDocuments, Grant, ReadDocuments};
use docent_domain::collection::CollectionRole;
use docent_domain::document::Document;
use docent_domain::file_batch::FilePurpose;
use docent_domain::id::{CollectionId, DocumentId};
use docent_domain::listing::{DocumentFilter, FileFilter};
use docent_domain::permission::RecordKind;
use docent_domain::scope::{Readable, Scope};
use docent_domain::trace::TraceParent;
use docent_http::extract::upload::{REST_MAX, parts_of, receive_with_fields};
use docent_http::{ApiError, Bearer, Query, Reply, Scoped, State, attachment};
use utoipa::ToSchema;

/// Default and maximum of `limit`.
const LIMIT: u64 = 10_000;
/// Maximum number of files of a page, whatever the limit: records are read as a whole. Clients read on while `has_more` is true.
const PAGE_MAX: u64 = 1000;
const PURPOSE: &str = "purpose";
const WRONG_PURPOSE: &str = "must be assistants or user_data";
/// A field that would delete the file later.
const EXPIRES_AFTER: &str = "expires_after[anchor]";

/// A form with a file and its purpose.
#[derive(ToSchema)]
#[schema(example = json!({ "file": "%PDF-1.4", "purpose": "assistants" }))]
#[expect(dead_code, reason = "documents the form that the handler reads as a stream")]
pub(crate) struct FileForm {
    /// The file: a PDF, or a file of another type that `DOCENT_UPLOAD_TYPES` accepts. Its type is found by its content.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// `assistants` or `user_data`. Both mean the same.
    #[schema(pattern = "^(assistants|user_data)$")]
    purpose: String,
}

/// Upload a file (extension)
///
/// Creates a document in the personal collection of the account. An API key that is limited to one other collection adds it there.
/// Ingestion begins at once; the file can be attached to vector stores before it ends.
#[utoipa::path(
    post, path = "/v1/files", operation_id = "create_openai_file", tag = "OpenAI wire",
    request_body(content = FileForm, content_type = "multipart/form-data"),
    responses((status = 200, description = "The new file.", body = FileObject), wire::InvalidBody, wire::StorageFull),
)]
pub(crate) async fn create(
    by: Scoped<AddDocuments>,
    context: State,
    request: HttpRequest,
    payload: Payload,
) -> Reply {
    let collection = own_collection(&by)?;
    let document = NewDocument { ignores_content_type: true, ..NewDocument::new(by.grant, collection) };
    let limit = context.app.settings().max_upload_bytes;
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|bytes| bytes > limit + REST_MAX) {
        return Err(Error::FileTooLarge { limit }.into());
    }
    let parts = parts_of(request.headers(), payload);
    let (upload, fields) =
        receive_with_fields(&context, document, parts, length, &[PURPOSE, EXPIRES_AFTER]).await?;
    let purpose = match purpose(&fields) {
        Ok(purpose) => purpose,
        Err(error) => {
            upload.abort().await;
            return Err(error);
        }
    };
    let trace = request.extensions().get::<TraceParent>().cloned();
    let Uploaded { document, .. } = upload.for_purpose(purpose).traced(trace).finish().await?;
    reply(&document, purpose)
}

/// The personal collection, or the only one that the caller may add to. The default collection of the service may be that of
/// everyone, where clients of this API do not expect their files.
fn own_collection(by: &Scoped<AddDocuments>) -> Result<CollectionId, ApiError> {
    let can_add = |id: &CollectionId| by.scope.role_in(*id) >= Some(CollectionRole::Contributor);
    let personal = CollectionId::personal(by.actor.user());
    if can_add(&personal) {
        return Ok(personal);
    }
    let mut others = by.scope.collections().into_iter().flat_map(Readable::iter).filter(can_add);
    match (others.next(), others.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(Error::Forbidden.into()),
        (Some(_), Some(_)) => {
            let detail = "This API key is limited to several collections and not to the personal one, where new files go";
            Err(ApiError::new(actix_web::http::StatusCode::BAD_REQUEST, detail))
        }
    }
}

fn purpose(fields: &[(&str, String)]) -> Result<FilePurpose, ApiError> {
    let field = |name: &str| fields.iter().rev().find(|(of, _)| *of == name).map(|(_, text)| text.as_str());
    if field(EXPIRES_AFTER).is_some() {
        let msg = "is not supported: files stay until they are deleted";
        return Err(ApiError::invalid_field(&["body", "expires_after"], msg));
    }
    let invalid = |msg: &str| ApiError::invalid_field(&["body", PURPOSE], msg);
    let name = field(PURPOSE).ok_or_else(|| invalid("is required"))?;
    FilePurpose::parse(name).ok_or_else(|| invalid(WRONG_PURPOSE))
}

fn reply(document: &Document, purpose: FilePurpose) -> Reply {
    let file = FileObject::of(document, purpose).ok_or(Error::NotFound(RecordKind::Document))?;
    Ok(HttpResponse::Ok().json(file))
}

/// List files (extension)
///
/// Returns the documents with a file that the account may read, without those that are only in collections that it has hidden.
#[utoipa::path(
    get, path = "/v1/files", operation_id = "list_openai_files", tag = "OpenAI wire",
    params(
        ("purpose" = Option<String>, Query, description = "Only files of this purpose.", nullable = false, pattern = "^(assistants|user_data)?$", example = "assistants"),
        ("limit" = Option<u64>, Query, description = "Maximum number of files. A page has at most 1,000, and `has_more` says whether there are others. Default: 10,000.", minimum = 1, maximum = 10000, nullable = false),
        ("order" = Option<String>, Query, description = "Order by creation time. Default: `desc`.", nullable = false, pattern = "^(asc|desc)?$", example = "desc"),
        ("after" = Option<String>, Query, description = "`last_id` of the previous page.", nullable = false, pattern = "^(file-[0-9a-f]{32})?$", example = "file-01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
    ),
    responses((status = 200, description = "The files.", body = FileList), wire::InvalidParameters),
)]
pub(crate) async fn list(by: Scoped<ReadDocuments>, context: State, mut query: Query) -> Reply {
    let purpose = query.parse(PURPOSE, WRONG_PURPOSE, FilePurpose::parse);
    let paging = Paging::read(&mut query, LIMIT, LIMIT);
    query.done()?;
    let paging = Paging { limit: paging.limit.min(PAGE_MAX), ..paging };
    let filter =
        DocumentFilter { files: Some(FileFilter { purpose }), ..DocumentFilter::of(by.scope.shown()) };
    let (found, has_more) = list::documents(&context.app, by.grant, &by.scope, &paging, filter).await?;
    let purposes = listing::purposes(&context.app, by.grant, &found).await?;
    let file = |document: &Document| {
        FileObject::of(document, purposes.get(&document.id).copied().unwrap_or_default())
    };
    Ok(HttpResponse::Ok().json(FileList::new(found.iter().filter_map(file).collect(), has_more)))
}

/// Read a file (extension)
#[utoipa::path(
    get, path = "/v1/files/{file_id}", operation_id = "get_openai_file", tag = "OpenAI wire",
    params(("file_id" = String, Path, description = "ID of the file.", example = "file-01920f3e5b7a7c3d9e214f6a8b0c2d4e")),
    responses((status = 200, description = "The file.", body = FileObject), wire::UnknownObject),
)]
pub(crate) async fn get(by: Scoped<ReadDocuments>, context: State, id: Path<String>) -> Reply {
    let document = document(&context.app, by.grant, &by.scope, ids::require(&id)?).await?;
    let mut purposes = listing::purposes(&context.app, by.grant, std::slice::from_ref(&document)).await?;
    reply(&document, purposes.remove(&document.id).unwrap_or_default())
}

/// The readable document with a file that has this ID.
async fn document(
    app: &App,
    grant: Grant<ReadDocuments>,
    scope: &Scope,
    id: DocumentId,
) -> Result<Document, Error> {
    let document = reading::get(app, grant, scope, id).await?;
    Some(document).filter(|document| document.file.is_some()).ok_or(Error::NotFound(RecordKind::Document))
}

/// Delete a file (extension)
///
/// The document is deleted, and so taken out of all vector stores. Allowed as for `DELETE /documents/{doc_id}`.
#[utoipa::path(
    delete, path = "/v1/files/{file_id}", operation_id = "delete_openai_file", tag = "OpenAI wire",
    params(("file_id" = String, Path, description = "ID of the file.", example = "file-01920f3e5b7a7c3d9e214f6a8b0c2d4e")),
    responses(
        (status = 200, description = "Deleted.", body = DeletedFile),
        wire::UnknownObject, wire::StorageFull,
    ),
)]
pub(crate) async fn delete(Bearer(actor): Bearer, context: State, id: Path<String>) -> Reply {
    let id: DocumentId = ids::require(&id)?;
    deletion::delete(&context.app, &actor, id).await?;
    Ok(HttpResponse::Ok().json(DeletedFile::new(ids::encode(id))))
}

/// Download a file (extension)
#[utoipa::path(
    get, path = "/v1/files/{file_id}/content", operation_id = "get_openai_file_content", tag = "OpenAI wire",
    params(("file_id" = String, Path, description = "ID of the file.", example = "file-01920f3e5b7a7c3d9e214f6a8b0c2d4e")),
    responses(
        (
            status = 200, description = "The file, with the media type of its content, as for `GET /documents/{doc_id}/file`.",
            content((String = "application/pdf"), (String = "text/plain"), (String = "text/markdown"), (String = "text/html"), (String = "text/csv")),
            headers(("Content-Disposition" = String, description = "`attachment` with the name of the file.")),
        ),
        wire::UnknownObject,
    ),
)]
pub(crate) async fn content(by: Scoped<ReadDocuments>, context: State, id: Path<String>) -> Reply {
    let (file, bytes) = file::open(&context.app, by.grant, &by.scope, ids::require(&id)?).await?;
    Ok(attachment::file(&file, bytes))
}
