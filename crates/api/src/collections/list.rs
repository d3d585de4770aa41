//! `GET /collections`

use super::response::{CollectionResponse, KindName, RoleName};
use crate::documents::list::TITLE_PART_MAX;
use crate::openapi::answers;
use actix_web::HttpResponse;
use docent_app::collections as use_case;
use docent_domain::access::{AddDocuments, ReadDocuments};
use docent_domain::collection::CollectionRole;
use docent_domain::listing::PageRequest;
use docent_http::{Query, Reply, Scoped, State};
use serde::Serialize;
use utoipa::ToSchema;

/// Maximum number of collections of a response.
const LIMIT: u64 = 1000;

/// A collection of the list.
#[derive(Serialize, ToSchema)]
pub(crate) struct CollectionEntry<'a> {
    /// ID of the collection.
    #[schema(format = "uuid")]
    id: String,
    /// `everyone` for the one that each installation has, `personal` for that of an account, otherwise `shared`.
    kind: KindName,
    /// Name.
    #[schema(min_length = 1, max_length = 150)]
    name: &'a str,
    /// Description; can be empty.
    #[schema(max_length = 1000)]
    description: &'a str,
    /// Role of the account that asks.
    role: RoleName,
    /// Role of every account; `null` if the collection is not open to all.
    #[schema(required)]
    role_of_all: Option<RoleName>,
    /// Creation time.
    #[schema(format = "date-time")]
    created_at: String,
    /// Time of the last change.
    #[schema(format = "date-time")]
    updated_at: String,
    /// Number of accounts and groups with a role, besides the owner.
    members: u64,
    /// Number of documents.
    documents: u64,
    /// Whether documents that name no collection are added to this one.
    is_default: bool,
    /// Whether the account owns it.
    is_own: bool,
}

/// List collections (extension)
///
/// Returns the collections that the account has a role on, at most 1,000: that of everyone, its own, and then the shared ones by name.
#[utoipa::path(
    get, path = "/collections", operation_id = "list_collections", tag = "Collections",
    params(("q" = Option<String>, Query, description = "Only collections whose name contains this text.", max_length = 200, nullable = false)),
    responses((status = 200, description = "The collections.", body = [CollectionEntry<'_>]), answers::InvalidParameters),
)]
pub(crate) async fn list(by: Scoped<ReadDocuments>, context: State, mut query: Query) -> Reply {
    let part = query.parse("q", "must have at most 200 characters", |text| {
        (text.chars().count() <= TITLE_PART_MAX).then(|| text.to_owned())
    });
    query.done()?;
    let page = PageRequest { offset: 0, limit: LIMIT };
    let found = use_case::list(&context.app, by.grant, &by.scope, part, page).await?;
    let role = |id| by.scope.role_in(id).unwrap_or(CollectionRole::Viewer);
    let default = by.actor.authorize::<AddDocuments>().ok();
    let default = default.and_then(|grant| use_case::destination(&context.app, &grant, &by.scope, None).ok());
    let entries = found.records.iter().map(|(of, size)| {
        let CollectionResponse { id, kind, name, description, role, role_of_all, created_at, updated_at } =
            CollectionResponse::of(of, role(of.id));
        let (members, documents, is_default) = (size.members, size.documents, default == Some(of.id));
        CollectionEntry {
            id,
            kind,
            name,
            description,
            role,
            role_of_all,
            created_at,
            updated_at,
            members,
            documents,
            is_default,
            is_own: of.owner == Some(by.actor.user()),
        }
    });
    let body: Vec<_> = entries.collect();
    Ok(HttpResponse::Ok().json(body))
}
