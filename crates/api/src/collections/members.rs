//! `GET` and `PUT /collections/{id}/members`, `DELETE /collections/{id}/members/{member}`

use super::response::RoleName;
use crate::answers;
use actix_web::HttpResponse;
use actix_web::web::Path;
use deserr::Deserr;
use docent_app::collections::members::{self as use_case, MemberName, NamedMember};
use docent_app::error::Error;
use docent_domain::collection::{CollectionRole, Member};
use docent_domain::group::GroupName;
use docent_domain::id::CollectionId;
use docent_domain::text::Email;
use docent_http::{ApiError, Bearer, Body, BodyErrors, PathId, Reply, State};
use serde::Serialize;
use utoipa::ToSchema;

/// An account or a group with a role on a collection.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "id": "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e", "kind": "user", "name": "ada@example.org", "display_name": "Ada Lovelace",
    "role": "viewer",
}))]
pub(crate) struct MemberResponse<'a> {
    /// ID of the account or the group.
    #[schema(format = "uuid")]
    id: String,
    /// Whether it is an account or a group.
    kind: MemberKind,
    /// Email address of the account, or name of the group.
    name: &'a str,
    /// Name that the person chose; `null` without one and for a group.
    #[schema(required)]
    display_name: Option<&'a str>,
    /// Its role.
    role: RoleName,
}

/// Kind of a member.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MemberKind {
    /// An account.
    User,
    /// A group.
    Group,
}

impl<'a> From<&'a NamedMember> for MemberResponse<'a> {
    fn from(member: &'a NamedMember) -> Self {
        let (kind, id) = match member.membership.member {
            Member::User(user) => (MemberKind::User, user.to_string()),
            Member::Group(group) => (MemberKind::Group, group.to_string()),
        };
        Self {
            id,
            kind,
            name: &member.name,
            display_name: member.display_name.as_deref(),
            role: member.membership.role.into(),
        }
    }
}

/// A role for an account or for a group: exactly one of `email` and `group`.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "email": "ada@example.org", "role": "viewer" }))]
pub(crate) struct MemberPut {
    /// Email address of an account.
    #[deserr(default)]
    #[schema(value_type = Option<String>, format = "email", max_length = 320)]
    email: Option<Email>,
    /// Name of a group.
    #[deserr(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 150)]
    group: Option<GroupName>,
    /// The role.
    #[schema(value_type = RoleName)]
    role: CollectionRole,
}

/// List the members of a collection (extension)
///
/// Allowed for managers of the collection and for accounts with `collections.view_collection`.
#[utoipa::path(
    get, path = "/collections/{id}/members", operation_id = "list_collection_members", tag = "Collections",
    params(("id" = String, Path, description = "ID of the collection.", format = "uuid")),
    responses((status = 200, description = "Accounts, then groups.", body = [MemberResponse<'_>]), answers::UnknownCollection),
)]
pub(crate) async fn list(Bearer(actor): Bearer, context: State, id: PathId<CollectionId>) -> Reply {
    let members = use_case::list(&context.app, &actor, id.parse()?).await?;
    Ok(HttpResponse::Ok().json(members.iter().map(MemberResponse::from).collect::<Vec<_>>()))
}

/// Give an account or a group a role (extension)
///
/// Replaces the role that it has. It counts at once, also for answers that begin afterwards. A group can be
/// named by its members, with `accounts.view_group`, and where it is a member already; any other is unknown.
#[utoipa::path(
    put, path = "/collections/{id}/members", operation_id = "put_collection_member", tag = "Collections",
    params(("id" = String, Path, description = "ID of the collection.", format = "uuid")),
    request_body = MemberPut,
    responses(
        (status = 200, description = "The member.", body = MemberResponse<'_>),
        answers::UnknownMember, answers::InvalidBody, answers::FixedCollection, answers::StorageFull,
    ),
)]
pub(crate) async fn put(
    Bearer(actor): Bearer,
    context: State,
    id: PathId<CollectionId>,
    body: Body,
) -> Reply {
    let id = id.parse()?;
    let MemberPut { email, group, role } = body.read().await?;
    let member = match (email, group) {
        (Some(email), None) => MemberName::User(email),
        (None, Some(group)) => MemberName::Group(group),
        _ => return Err(ApiError::invalid_field(&["body"], "must have either email or group")),
    };
    let member = use_case::set(&context.app, &actor, id, &member, role).await?;
    Ok(HttpResponse::Ok().json(MemberResponse::from(&member)))
}

/// Remove a member (extension)
///
/// Members can also remove themselves.
#[utoipa::path(
    delete, path = "/collections/{id}/members/{member}", operation_id = "remove_collection_member", tag = "Collections",
    params(
        ("id" = String, Path, description = "ID of the collection.", format = "uuid"),
        ("member" = String, Path, description = "ID of the account or the group.", format = "uuid"),
    ),
    responses((status = 204, description = "Removed."), answers::UnknownMember, answers::StorageFull),
)]
pub(crate) async fn remove(
    Bearer(actor): Bearer,
    context: State,
    id: PathId<CollectionId>,
    path: Path<(String, String)>,
) -> Reply {
    let id = id.parse()?;
    let not_a_uuid = || ApiError::invalid_field(&["path", "member"], "must be a UUID");
    let user = Member::User(path.1.parse().map_err(|_| not_a_uuid())?);
    let group = Member::Group(path.1.parse().map_err(|_| not_a_uuid())?);
    match use_case::remove(&context.app, &actor, id, user).await {
        Err(Error::MemberNotFound | Error::Forbidden) => {
            use_case::remove(&context.app, &actor, id, group).await?;
        }
        removed => removed?,
    }
    Ok(HttpResponse::NoContent().finish())
}
