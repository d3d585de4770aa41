//! `/v1/vector_stores`, `/v1/vector_stores/{vector_store_id}`: collections.

use super::chunking::{self, ChunkingStrategy};
use super::object::{DeletedObject, StoreObject};
use crate::openai::ids;
use crate::openai::list::{Paging, StoreList};
use crate::openai::wire;
use actix_web::HttpResponse;
use actix_web::web::Path;
use deserr::{Deserr, IntoValue, ValuePointerRef};
use docent_app::App;
use docent_app::collections::metadata;
use docent_app::collections::{self as use_case, CollectionSettings};
use docent_app::documents::batches::{self, FileToAdd};
use docent_app::error::Error;
use docent_app::scope;
use docent_domain::access::{Actor, AddDocuments, CreateCollections, ReadDocuments};
use docent_domain::collection::{Collection, CollectionDescription, CollectionName};
use docent_domain::error::ValidationError;
use docent_domain::file_batch::{BATCH_FILES_MAX, CollectionMetadata, EXPIRY_DAYS_MAX, Metadata};
use docent_domain::id::CollectionId;
use docent_domain::listing::AccountCollections;
use docent_domain::scope::Readable;
use docent_http::extract::deserialize::{List, Whole};
use docent_http::{ApiError, Bearer, Body, BodyErrors, Query, Reply, Scoped, State};
use serde_json::Value;
use utoipa::ToSchema;

/// Default and maximum number of objects of a list.
pub(super) const LIMIT: u64 = 20;
pub(super) const LIMIT_MAX: u64 = 100;
/// Name of a vector store without one.
const UNNAMED: &str = "Vector store";

/// A field of a change: missing, null or given.
#[derive(Default)]
pub(crate) enum Change<T> {
    /// It stays.
    #[default]
    Keep,
    /// It is removed.
    Clear,
    /// Its new value.
    Set(T),
}

impl<T: Deserr<BodyErrors>> Deserr<BodyErrors> for Change<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: deserr::Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, BodyErrors> {
        let given: Option<T> = Deserr::deserialize_from_value(value, location)?;
        Ok(given.map_or(Self::Clear, Self::Set))
    }
}

impl<T> Change<T> {
    fn apply(self, before: Option<T>) -> Option<T> {
        match self {
            Self::Keep => before,
            Self::Clear => None,
            Self::Set(value) => Some(value),
        }
    }
}

/// When a vector store expires: its search and its changes are then refused until the expiry changes. Documents are never deleted.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
pub(crate) struct ExpiresAfter {
    /// The time that days are counted from.
    #[expect(dead_code, reason = "there is one value")]
    anchor: Anchor,
    /// Number of days.
    #[schema(value_type = u64, minimum = 1, maximum = 365)]
    days: Whole<1, 365>,
}

/// What expiry is counted from.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
pub(crate) enum Anchor {
    /// The last use.
    #[deserr(rename = "last_active_at")]
    #[schema(rename = "last_active_at")]
    LastActiveAt,
}

impl ExpiresAfter {
    fn days(&self) -> u32 {
        u32::try_from(self.days.0).unwrap_or(EXPIRY_DAYS_MAX)
    }
}

/// Texts of a client, checked.
pub(crate) struct MetadataBody(pub(crate) Metadata);

impl Deserr<BodyErrors> for MetadataBody {
    fn deserialize_from_value<V: IntoValue>(
        value: deserr::Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, BodyErrors> {
        let value: Value = Deserr::deserialize_from_value(value, location)?;
        let entries = serde_json::from_value(value)
            .map_err(|_| ValidationError::new("metadata", "must be an object whose values are strings"));
        let metadata = entries.and_then(Metadata::new);
        metadata.map(Self).map_err(|error| BodyErrors::at(location, error.reason))
    }
}

/// IDs of files.
pub(crate) type FileIds = List<String, BATCH_FILES_MAX>;

/// The files with these IDs.
///
/// # Errors
/// 404 for a malformed ID.
pub(super) fn files_of(ids: Option<FileIds>) -> Result<Vec<FileToAdd>, ApiError> {
    let ids = ids.map(|List(ids)| ids).unwrap_or_default();
    ids.iter().map(|id| Ok(FileToAdd { id: ids::require(id)?, attributes: None })).collect()
}

/// A new vector store. Other fields are ignored.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "name": "Contracts", "metadata": { "team": "legal" } }))]
pub(crate) struct StoreCreate {
    /// Name of the collection. Default: `Vector store`.
    #[deserr(default)]
    #[schema(value_type = Option<String>, max_length = 150)]
    name: Option<CollectionName>,
    /// Description of the collection.
    #[deserr(default)]
    #[schema(value_type = Option<String>, max_length = 1000)]
    description: Option<CollectionDescription>,
    /// Files to attach.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<String>>, max_items = 2000)]
    file_ids: Option<FileIds>,
    /// Up to 16 texts of up to 512 characters, with keys of up to 64.
    #[deserr(default)]
    #[schema(value_type = Option<std::collections::BTreeMap<String, String>>)]
    metadata: Option<MetadataBody>,
    /// When it expires. Default: never.
    #[deserr(default)]
    expires_after: Option<ExpiresAfter>,
    /// How to split its files.
    #[deserr(default)]
    chunking_strategy: Option<ChunkingStrategy>,
}

/// Create a vector store (extension)
///
/// Creates a collection that the account owns, as `POST /collections`. An API key needs the scope `admin`.
#[utoipa::path(
    post, path = "/v1/vector_stores", operation_id = "create_vector_store", tag = "OpenAI wire",
    request_body = StoreCreate,
    responses(
        (status = 200, description = "The new vector store.", body = StoreObject),
        wire::InvalidBody, wire::UnknownObject, wire::Conflict, wire::StorageFull,
    ),
)]
pub(crate) async fn create(Bearer(actor): Bearer, context: State, body: Body) -> Reply {
    // Before the body is read.
    actor.authorize::<CreateCollections>().map_err(Error::from)?;
    let request: StoreCreate = body.read_optional().await?;
    let app = &context.app;
    chunking::check(&request.chunking_strategy, app.settings().chunk_size)?;
    let files = files_of(request.file_ids)?;
    let name = match request.name {
        Some(name) => name,
        None => CollectionName::parse(UNNAMED).map_err(Error::from)?,
    };
    let description = request.description.unwrap_or_default();
    let settings = CollectionSettings { name, description, role_of_all: None };
    let metadata = CollectionMetadata {
        entries: request.metadata.map(|MetadataBody(of)| of).unwrap_or_default(),
        expires_after_days: request.expires_after.as_ref().map(ExpiresAfter::days),
        last_active_at: app.now(),
    };
    let collection = batches::create_collection(app, &actor, settings, metadata, &files).await?;
    reply(app, collection).await
}

/// Replies with a collection.
async fn reply(app: &App, collection: Collection) -> Reply {
    let described = metadata::describe(app, vec![collection]).await?;
    let described = described.into_iter().next().ok_or_else(ApiError::internal)?;
    Ok(HttpResponse::Ok().json(StoreObject::new(described, app.now())))
}

/// List vector stores (extension)
///
/// Returns the collections that the account has a role on and has not hidden, by creation time.
#[utoipa::path(
    get, path = "/v1/vector_stores", operation_id = "list_vector_stores", tag = "OpenAI wire",
    params(
        ("limit" = Option<u64>, Query, description = "Maximum number of vector stores. Default: 20.", minimum = 1, maximum = 100, nullable = false),
        ("order" = Option<String>, Query, description = "Order by creation time. Default: `desc`.", nullable = false, pattern = "^(asc|desc)?$", example = "desc"),
        ("after" = Option<String>, Query, description = "`last_id` of the previous page.", nullable = false, pattern = "^(vs_[0-9a-f]{32})?$", example = "vs_01920f3e5b7a7c3d9e214f6a8b0c2d4e"),
        ("before" = Option<String>, Query, description = "`first_id` of the next page.", nullable = false, pattern = "^(vs_[0-9a-f]{32})?$", example = ""),
    ),
    responses((status = 200, description = "The vector stores.", body = StoreList), wire::InvalidParameters),
)]
pub(crate) async fn list(by: Scoped<ReadDocuments>, context: State, mut query: Query) -> Reply {
    let paging: Paging<CollectionId> = Paging::read(&mut query, LIMIT, LIMIT_MAX);
    query.done()?;
    let app = &context.app;
    let shown = by.scope.shown();
    // IDs have the time of creation, so that only the records of the page are read.
    let ids: Vec<CollectionId> = shown.collections().into_iter().flat_map(Readable::iter).collect();
    let key = |id: &CollectionId| (id.created_at().unwrap_or_default(), *id);
    let (page, has_more) = paging.page(ids, key, CollectionId::created_at)?;
    let mut found = match shown.within(&page).filter(|_| !page.is_empty()) {
        Some(scope) => {
            let (user, limit) = (by.actor.user(), page.len() as u64);
            let all = AccountCollections { user, scope, name_contains: None, after: None, limit };
            use_case::list(app, by.grant, &all).await?
        }
        None => Vec::new(),
    };
    found.sort_by_key(|listed| page.iter().position(|id| *id == listed.collection.id));
    let now = app.now();
    let found = found.into_iter().map(|listed| listed.collection).collect();
    let found = metadata::describe(app, found).await?;
    let stores = found.into_iter().map(|described| StoreObject::new(described, now)).collect();
    Ok(HttpResponse::Ok().json(StoreList::new(stores, has_more)))
}

/// Read a vector store (extension)
#[utoipa::path(
    get, path = "/v1/vector_stores/{vector_store_id}", operation_id = "get_vector_store", tag = "OpenAI wire",
    params(("vector_store_id" = String, Path, description = "ID of the vector store.", example = "vs_01920f3e5b7a7c3d9e214f6a8b0c2d4e")),
    responses((status = 200, description = "The vector store.", body = StoreObject), wire::UnknownObject),
)]
pub(crate) async fn get(by: Scoped<ReadDocuments>, context: State, id: Path<String>) -> Reply {
    let collection = use_case::get(&context.app, by.grant, &by.scope, ids::require(&id)?).await?;
    reply(&context.app, collection).await
}

/// Changes to a vector store. Missing fields stay unchanged, and so does a name that is `null`.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "name": "Contracts" }))]
pub(crate) struct StoreChange {
    /// Name of the collection.
    #[deserr(default)]
    #[schema(value_type = Option<String>, max_length = 150)]
    name: Option<CollectionName>,
    /// All texts that it is to have; `null` for none.
    #[deserr(default)]
    #[schema(value_type = Option<std::collections::BTreeMap<String, String>>)]
    metadata: Change<MetadataBody>,
    /// When it expires; `null` for never. A change counts as a use.
    #[deserr(default)]
    #[schema(value_type = Option<ExpiresAfter>)]
    expires_after: Change<ExpiresAfter>,
}

/// Change a vector store (extension)
///
/// Allowed as for `PATCH /collections/{id}`.
#[utoipa::path(
    post, path = "/v1/vector_stores/{vector_store_id}", operation_id = "change_vector_store", tag = "OpenAI wire",
    params(("vector_store_id" = String, Path, description = "ID of the vector store.", example = "vs_01920f3e5b7a7c3d9e214f6a8b0c2d4e")),
    request_body = StoreChange,
    responses(
        (status = 200, description = "The vector store.", body = StoreObject),
        wire::InvalidBody, wire::UnknownObject, wire::StorageFull,
    ),
)]
pub(crate) async fn change(Bearer(actor): Bearer, context: State, id: Path<String>, body: Body) -> Reply {
    let id: CollectionId = ids::require(&id)?;
    let StoreChange { name, metadata, expires_after } = body.read_optional().await?;
    let app = &context.app;
    let settings = |before: &Collection| CollectionSettings {
        name: name.unwrap_or_else(|| before.name.clone()),
        description: before.description.clone(),
        role_of_all: before.role_of_all,
    };
    let collection = use_case::change(app, &actor, id, settings).await?;
    let now = app.now();
    let changed = |before: CollectionMetadata| {
        let (is_changed, days) = match &expires_after {
            Change::Keep => (false, before.expires_after_days),
            Change::Clear => (true, None),
            Change::Set(after) => (true, Some(after.days())),
        };
        let entries = metadata.apply(Some(MetadataBody(before.entries)));
        CollectionMetadata {
            entries: entries.map(|MetadataBody(of)| of).unwrap_or_default(),
            expires_after_days: days,
            last_active_at: if is_changed { now } else { before.last_active_at },
        }
    };
    metadata::change(app, &actor, id, changed).await?;
    reply(app, collection).await
}

/// Delete a vector store (extension)
///
/// Its files stay, and so do their other vector stores. Documents that are in no other collection must be detached or deleted before. Allowed as for
/// `DELETE /collections/{id}`.
#[utoipa::path(
    delete, path = "/v1/vector_stores/{vector_store_id}", operation_id = "delete_vector_store", tag = "OpenAI wire",
    params(("vector_store_id" = String, Path, description = "ID of the vector store.", example = "vs_01920f3e5b7a7c3d9e214f6a8b0c2d4e")),
    responses(
        (status = 200, description = "Deleted.", body = DeletedObject),
        wire::UnknownObject, wire::Conflict, wire::StorageFull,
    ),
)]
pub(crate) async fn delete(Bearer(actor): Bearer, context: State, id: Path<String>) -> Reply {
    let id: CollectionId = ids::require(&id)?;
    use_case::delete(&context.app, &actor, id).await?;
    Ok(HttpResponse::Ok().json(DeletedObject::new(ids::encode(id), "vector_store.deleted")))
}

/// Checks that the actor may add files to some vector stores, before the body is read.
///
/// # Errors
/// 403 without the scope of an API key; otherwise as [`ensure_usable`].
pub(super) async fn ensure_can_add(app: &App, actor: &Actor, id: CollectionId) -> Result<(), ApiError> {
    actor.authorize::<AddDocuments>().map_err(Error::from)?;
    ensure_usable(app, actor, id).await
}

/// Records that a vector store is used.
///
/// # Errors
/// 400 if it has expired; 404 if the actor cannot read it.
pub(in crate::openai) async fn ensure_usable(
    app: &App,
    actor: &Actor,
    id: CollectionId,
) -> Result<(), ApiError> {
    let scope = scope::load(app, actor).await?;
    if metadata::record_use(app, &scope, id).await? {
        return Ok(());
    }
    let detail = "The vector store has expired: change its expires_after to use it again";
    Err(ApiError::new(actix_web::http::StatusCode::BAD_REQUEST, detail).with_code("vector_store_expired"))
}
