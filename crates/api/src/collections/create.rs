//! `POST /collections`

use super::response::{CollectionResponse, RoleName};
use crate::answers;
use actix_web::HttpResponse;
use deserr::Deserr;
use docent_app::collections::{self as use_case, CollectionSettings};
use docent_app::error::Error;
use docent_domain::access::CreateCollections;
use docent_domain::collection::{CollectionDescription, CollectionName, CollectionRole};
use docent_http::{Bearer, Body, BodyErrors, Reply, State};
use utoipa::ToSchema;

/// A new collection.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "name": "Contracts" }))]
pub(crate) struct CollectionCreate {
    /// Name, trimmed. Not empty, without control and direction characters.
    #[schema(
        value_type = String, min_length = 1, max_length = 150,
        pattern = r"^[^\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*[^\s\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069][^\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*$"
    )]
    name: CollectionName,
    /// Description. Without control and direction characters.
    #[deserr(default)]
    #[schema(value_type = Option<String>, max_length = 1000, pattern = r"^[^\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*$")]
    description: Option<CollectionDescription>,
    /// Role of every account. Default: none, so that only members use the collection.
    #[deserr(default)]
    #[schema(value_type = Option<RoleName>)]
    role_of_all: Option<CollectionRole>,
}

/// Create a collection (extension)
///
/// The account owns the collection, and remains its manager. It can own 200 of them. `role_of_all` needs `collections.open_collection`, unless
/// the setting `open_collections` is `managers`.
#[utoipa::path(
    post, path = "/collections", operation_id = "create_collection", tag = "Collections",
    request_body = CollectionCreate,
    responses(
        (status = 201, description = "The new collection.", body = CollectionResponse<'_>),
        answers::TooManyCollections, answers::InvalidBody, answers::StorageFull,
    ),
)]
pub(crate) async fn create(Bearer(actor): Bearer, context: State, body: Body) -> Reply {
    // Before the body is read.
    actor.authorize::<CreateCollections>().map_err(Error::from)?;
    let CollectionCreate { name, description, role_of_all } = body.read().await?;
    let settings = CollectionSettings { name, description: description.unwrap_or_default(), role_of_all };
    let collection = use_case::create(&context.app, &actor, settings).await?;
    Ok(HttpResponse::Created().json(CollectionResponse::of(&collection, CollectionRole::Manager)))
}
