//! `/v1/vector_stores/{vector_store_id}/file_batches…`: many files at a time.

use super::chunking::{self, ChunkingStrategy};
use super::files::{FileAttach, StatusFilter, reply_with_status};
use super::object::{BatchObject, StoreFileObject};
use super::stores::{self, FileIds, LIMIT, LIMIT_MAX, files_of};
use crate::openai::ids;
use crate::openai::list::{self, Paging, StoreFileList};
use crate::openai::wire;
use crate::selection::parse_attributes;
use actix_web::HttpResponse;
use actix_web::web::Path;
use deserr::{Deserr, ValuePointerRef};
use docent_app::documents::batches::{self as use_case, BatchProgress, FileToAdd};
use docent_app::error::Error;
use docent_domain::access::{AddDocuments, ReadDocuments};
use docent_domain::attributes::Attributes;
use docent_domain::error::ValidationError;
use docent_domain::file_batch::BATCH_FILES_MAX;
use docent_domain::id::{CollectionId, DocumentId};
use docent_domain::listing::{DocumentFilter, FileFilter};
use docent_domain::permission::RecordKind;
use docent_http::extract::deserialize::List;
use docent_http::{ApiError, Bearer, Body, BodyErrors, Query, Reply, Scoped, State};
use serde_json::Value;
use utoipa::ToSchema;

/// Files to attach: `file_ids` or `files`. Other fields are ignored.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, validate = BatchCreate::require_files -> BodyErrors)]
#[schema(example = json!({ "file_ids": ["file-01920f3e5b7a7c3d9e214f6a8b0c2d4e"] }))]
pub(crate) struct BatchCreate {
    /// IDs of 1 to 2000 files.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<String>>, max_items = 2000)]
    file_ids: Option<FileIds>,
    /// 1 to 2000 files with attributes of their own.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<FileAttach>>, max_items = 2000)]
    files: Option<List<FileAttach, BATCH_FILES_MAX>>,
    /// Attributes for all files of `file_ids`.
    #[deserr(default, try_from(Option<Value>) = parse_attributes -> ValidationError)]
    #[schema(value_type = Option<std::collections::BTreeMap<String, Value>>)]
    attributes: Option<Attributes>,
    /// How to split the files.
    #[deserr(default)]
    chunking_strategy: Option<ChunkingStrategy>,
}

impl BatchCreate {
    fn require_files(self, location: ValuePointerRef<'_>) -> Result<Self, BodyErrors> {
        let invalid = |msg: &str| Err(BodyErrors::at(location.push_key("file_ids"), msg));
        match (&self.file_ids, &self.files) {
            (Some(_), Some(_)) => invalid("must not be given together with files"),
            (None, None) => invalid("or files is required"),
            (Some(List(ids)), None) if ids.is_empty() => invalid("must have at least one file"),
            (None, Some(List(files))) if files.is_empty() => {
                Err(BodyErrors::at(location.push_key("files"), "must have at least one file"))
            }
            (Some(_), None) | (None, Some(_)) => Ok(self),
        }
    }

    /// The files, if the service keeps to their strategies.
    fn into_files(self, context: &State) -> Result<Vec<FileToAdd>, ApiError> {
        let size = context.app.settings().chunk_size;
        chunking::check(&self.chunking_strategy, size)?;
        let Some(List(files)) = self.files else {
            let mut files = files_of(self.file_ids)?;
            files.iter_mut().for_each(|file| file.attributes.clone_from(&self.attributes));
            return Ok(files);
        };
        chunking::check(files.iter().filter_map(|file| file.chunking_strategy.as_ref()), size)?;
        let file = |file: FileAttach| {
            Ok(FileToAdd { id: ids::require(&file.file_id)?, attributes: file.attributes })
        };
        files.into_iter().map(file).collect()
    }
}

fn reply(progress: &BatchProgress) -> Reply {
    let batch = BatchObject::from(progress);
    reply_with_status(batch.status, &batch)
}

/// Attach many files to a vector store (extension)
///
/// Attaches all files or none. A file that is named twice counts once.
#[utoipa::path(
    post, path = "/v1/vector_stores/{vector_store_id}/file_batches", operation_id = "create_file_batch", tag = "OpenAI wire",
    params(("vector_store_id" = String, Path, description = "ID of the vector store.", example = "vs_01920f3e5b7a7c3d9e214f6a8b0c2d4e")),
    request_body = BatchCreate,
    responses(
        (status = 200, description = "The batch.", body = BatchObject),
        wire::InvalidBody, wire::UnknownObject, wire::StorageFull,
    ),
)]
pub(crate) async fn create(Bearer(actor): Bearer, context: State, id: Path<String>, body: Body) -> Reply {
    let collection: CollectionId = ids::require(&id)?;
    stores::ensure_can_add(&context.app, &actor, collection).await?;
    let request: BatchCreate = body.read().await?;
    let files = request.into_files(&context)?;
    reply(&use_case::add_batch(&context.app, &actor, collection, &files).await?)
}

/// Read a batch of files (extension)
///
/// Files that were deleted or taken out of the vector store count as `cancelled`.
#[utoipa::path(
    get, path = "/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}", operation_id = "get_file_batch", tag = "OpenAI wire",
    params(
        ("vector_store_id" = String, Path, description = "ID of the vector store.", example = "vs_01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
        ("batch_id" = String, Path, description = "ID of the batch.", example = "vsfb_01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
    ),
    responses((status = 200, description = "The batch.", body = BatchObject), wire::UnknownObject),
)]
pub(crate) async fn get(by: Scoped<ReadDocuments>, context: State, ids: Path<(String, String)>) -> Reply {
    let (collection, id) = (ids::require(&ids.0)?, ids::require(&ids.1)?);
    reply(&use_case::batch(&context.app, by.grant, &by.scope, collection, id).await?)
}

/// Cancel a batch of files (extension)
///
/// Detaches the files that wait for ingestion. Files stay files of the account, and are ingested nevertheless.
#[utoipa::path(
    post, path = "/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/cancel", operation_id = "cancel_file_batch", tag = "OpenAI wire",
    params(
        ("vector_store_id" = String, Path, description = "ID of the vector store.", example = "vs_01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
        ("batch_id" = String, Path, description = "ID of the batch.", example = "vsfb_01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
    ),
    responses(
        (status = 200, description = "The batch.", body = BatchObject),
        wire::UnknownObject, wire::StorageFull,
    ),
)]
pub(crate) async fn cancel(Bearer(actor): Bearer, context: State, ids: Path<(String, String)>) -> Reply {
    let (collection, id) = (ids::require(&ids.0)?, ids::require(&ids.1)?);
    actor.authorize::<AddDocuments>().map_err(Error::from)?;
    reply(&use_case::cancel(&context.app, &actor, collection, id).await?)
}

/// List the files of a batch (extension)
#[utoipa::path(
    get, path = "/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/files", operation_id = "list_batch_files", tag = "OpenAI wire",
    params(
        ("vector_store_id" = String, Path, description = "ID of the vector store.", example = "vs_01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
        ("batch_id" = String, Path, description = "ID of the batch.", example = "vsfb_01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
        ("filter" = Option<String>, Query, description = "Only files with this status. Without it, cancelled files are not listed.", nullable = false, pattern = "^(in_progress|completed|failed|cancelled)?$", example = "completed"),
        ("limit" = Option<u64>, Query, description = "Maximum number of files. Default: 20.", minimum = 1, maximum = 100, nullable = false),
        ("order" = Option<String>, Query, description = "Order by creation time. Default: `desc`.", nullable = false, pattern = "^(asc|desc)?$", example = "desc"),
        ("after" = Option<String>, Query, description = "`last_id` of the previous page.", nullable = false, pattern = "^(file-[0-9a-f]{32})?$", example = "file-01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
        ("before" = Option<String>, Query, description = "`first_id` of the next page.", nullable = false, pattern = "^(file-[0-9a-f]{32})?$", example = ""),
    ),
    responses((status = 200, description = "The files.", body = StoreFileList), wire::InvalidParameters, wire::UnknownObject),
)]
pub(crate) async fn list_files(
    by: Scoped<ReadDocuments>,
    context: State,
    ids: Path<(String, String)>,
    mut query: Query,
) -> Reply {
    let (collection, id): (CollectionId, _) = (ids::require(&ids.0)?, ids::require(&ids.1)?);
    let status = StatusFilter::read(&mut query);
    let paging: Paging<DocumentId> = Paging::read(&mut query, LIMIT, LIMIT_MAX);
    query.done()?;
    let app = &context.app;
    let BatchProgress { batch, .. } = use_case::batch(app, by.grant, &by.scope, collection, id).await?;
    let is_cancelled = matches!(status, Some(StatusFilter::Cancelled));
    // Cancelled files are no longer in the collection.
    let (scope, selected) = match is_cancelled {
        true => (by.scope.clone(), batch.cancelled.into_iter().collect()),
        false => {
            let within = by.scope.within(&[collection]);
            (within.ok_or(Error::NotFound(RecordKind::Collection))?, batch.files)
        }
    };
    let filter = DocumentFilter {
        ids: Some(selected),
        status: status.and_then(StatusFilter::of_documents),
        files: Some(FileFilter::default()),
        ..DocumentFilter::of(scope)
    };
    let (found, has_more) = list::documents(app, by.grant, &by.scope, &paging, filter).await?;
    let files = StoreFileObject::all(app, &found, collection).await?.into_iter();
    let files = files.map(|file| if is_cancelled { file.cancelled() } else { file });
    Ok(HttpResponse::Ok().json(StoreFileList::new(files.collect(), has_more)))
}
