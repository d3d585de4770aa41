//! `GET /collections`

use super::response::CollectionResponse;
use crate::documents::list::TITLE_PART_MAX;
use crate::openapi::answers;
use actix_web::HttpResponse;
use docent_app::collections as use_case;
use docent_domain::access::ReadDocuments;
use docent_domain::collection::CollectionRole;
use docent_domain::listing::PageRequest;
use docent_http::{Query, Reply, Scoped, State};

/// Maximum number of collections of a response.
const LIMIT: u64 = 1000;

/// List collections (extension)
///
/// Returns the collections that the account has a role on, at most 1,000: that of everyone, its own, and then the shared ones by name.
#[utoipa::path(
    get, path = "/collections", operation_id = "list_collections", tag = "Collections",
    params(("q" = Option<String>, Query, description = "Only collections whose name contains this text.", max_length = 200, nullable = false)),
    responses((status = 200, description = "The collections.", body = [CollectionResponse<'_>]), answers::InvalidParameters),
)]
pub(crate) async fn list(by: Scoped<ReadDocuments>, context: State, mut query: Query) -> Reply {
    let part = query.parse("q", "must have at most 200 characters", |text| {
        (text.chars().count() <= TITLE_PART_MAX).then(|| text.to_owned())
    });
    query.done()?;
    let page = PageRequest { offset: 0, limit: LIMIT };
    let found = use_case::list(&context.app, by.grant, &by.scope, part, page).await?;
    let role = |id| by.scope.role_in(id).unwrap_or(CollectionRole::Viewer);
    let body: Vec<_> = found.records.iter().map(|(of, _)| CollectionResponse::of(of, role(of.id))).collect();
    Ok(HttpResponse::Ok().json(body))
}
