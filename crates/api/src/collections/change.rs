//! `PATCH /collections/{id}`

use super::response::CollectionResponse;
use crate::answers;
use actix_web::HttpResponse;
use deserr::Deserr;
use docent_app::collections::{self as use_case, CollectionSettings};
use docent_domain::collection::{Collection, CollectionDescription, CollectionName, CollectionRole};
use docent_domain::error::ValidationError;
use docent_domain::id::CollectionId;
use docent_http::{Bearer, Body, BodyErrors, PathId, Reply, State};
use utoipa::ToSchema;

/// Changes to a collection. Fields that are missing or `null` stay unchanged.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "name": "Contracts" }))]
pub(crate) struct CollectionChange {
    /// Name.
    #[deserr(default)]
    #[schema(
        value_type = Option<String>, min_length = 1, max_length = 150,
        pattern = r"^[^\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*[^\s\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069][^\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*$"
    )]
    name: Option<CollectionName>,
    /// Description.
    #[deserr(default)]
    #[schema(value_type = Option<String>, max_length = 1000, pattern = r"^[^\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*$")]
    description: Option<CollectionDescription>,
    /// Role of every account: `viewer`, `contributor`, `manager`, or `none` to close the collection.
    #[deserr(default, try_from(Option<String>) = parse_role -> ValidationError)]
    #[schema(value_type = Option<RoleOfAll>)]
    role_of_all: Option<Option<CollectionRole>>,
}

/// A role, or none.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "documents what `parse_role` reads")]
pub(crate) enum RoleOfAll {
    Viewer,
    Contributor,
    Manager,
    None,
}

fn parse_role(name: Option<String>) -> Result<Option<Option<CollectionRole>>, ValidationError> {
    match name.as_deref() {
        None => Ok(None),
        Some("none") => Ok(Some(None)),
        Some(name) => match CollectionRole::parse(name) {
            Some(role) => Ok(Some(Some(role))),
            None => Err(ValidationError::new("role_of_all", "must be viewer, contributor, manager or none")),
        },
    }
}

/// Change a collection (extension)
///
/// Allowed for managers of the collection, accounts with `collections.change_collection` and superusers. A higher `role_of_all` also needs
/// `collections.open_collection`, unless the setting `open_collections` is `managers`.
#[utoipa::path(
    patch, path = "/collections/{id}", operation_id = "change_collection", tag = "Collections",
    params(("id" = String, Path, description = "ID of the collection.", format = "uuid")),
    request_body = CollectionChange,
    responses(
        (status = 200, description = "The collection.", body = CollectionResponse<'_>),
        answers::UnknownCollection, answers::InvalidBody, answers::SettingRefused, answers::StorageFull,
    ),
)]
pub(crate) async fn change(
    Bearer(actor): Bearer,
    context: State,
    id: PathId<CollectionId>,
    body: Body,
) -> Reply {
    let id = id.parse()?;
    let CollectionChange { name, description, role_of_all } = body.read().await?;
    let settings = |before: &Collection| CollectionSettings {
        name: name.unwrap_or_else(|| before.name.clone()),
        description: description.unwrap_or_else(|| before.description.clone()),
        role_of_all: role_of_all.unwrap_or(before.role_of_all),
    };
    let collection = use_case::change(&context.app, &actor, id, settings).await?;
    Ok(HttpResponse::Ok().json(CollectionResponse::of(&collection, CollectionRole::Manager)))
}
