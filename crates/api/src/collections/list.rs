//! `GET /collections`

use super::response::{CollectionResponse, KindName, RoleName};
use crate::answers;
use crate::documents::list::TITLE_PART_MAX;
use crate::paging;
use docent_app::collections as use_case;
use docent_domain::access::{AddDocuments, ReadDocuments};
use docent_domain::collection::{COLLECTION_NAME_MAX, CollectionRole};
use docent_domain::id::CollectionId;
use docent_domain::listing::{AccountCollections, CollectionGroup, CollectionPosition};
use docent_http::{Query, Reply, Scoped, State};
use serde::Serialize;
use utoipa::ToSchema;

/// Maximum number of collections of a response without `limit`.
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
    /// Whether the account itself is a member, and can leave. `false` if it has its role only as the owner, through a group or as
    /// every account.
    is_member: bool,
    /// Whether the account has hidden it.
    is_hidden: bool,
}

/// List collections (extension)
///
/// Returns the collections that the account has a role on and has not hidden, at most 1,000: that of everyone, its personal one, those that it owns,
/// those that it is a member of or a group of it is, and then those that are open to all; each of these by name. The headers `Link` and
/// `X-Next-Cursor` name the next page, if there is one.
#[utoipa::path(
    get, path = "/collections", operation_id = "list_collections", tag = "Collections",
    params(
        ("limit" = Option<u64>, Query, description = "Maximum number of collections. Default: 1,000.", minimum = 1, maximum = 1000, nullable = false),
        (
            "cursor" = Option<String>, Query, description = "`X-Next-Cursor` of the previous page.", nullable = false,
            pattern = r"^([0-4]\.[0-9a-f]{32}\.([0-9a-f]{2}){1,600})?$", example = "2.01920f3e5b7a7c3d9e214f6a8b0c2d4e.636f6e747261637473",
        ),
        ("q" = Option<String>, Query, description = "Only collections whose name contains this text.", max_length = 200, nullable = false),
        (
            "include" = Option<String>, Query, nullable = false, pattern = "^(hidden)?$", example = "hidden",
            description = "`hidden`: also the collections that the account has hidden.",
        ),
    ),
    responses((status = 200, description = "The collections.", body = [CollectionEntry<'_>]), answers::InvalidParameters),
)]
pub(crate) async fn list(by: Scoped<ReadDocuments>, context: State, mut query: Query) -> Reply {
    let name_contains = query.parse("q", "must have at most 200 characters", |text| {
        (text.chars().count() <= TITLE_PART_MAX).then(|| text.to_owned())
    });
    let include = query.parse("include", "must be hidden", |text| (text == "hidden").then_some("hidden"));
    let limit = paging::limit(&mut query).unwrap_or(LIMIT);
    let after = paging::after(&mut query, position);
    query.done()?;
    let scope = if include.is_some() { by.scope.clone() } else { by.scope.shown() };
    // One more than requested shows whether there is another page.
    let (user, limit_and_one) = (by.actor.user(), limit + 1);
    let listed = AccountCollections { user, scope, name_contains, after, limit: limit_and_one };
    let mut found = use_case::list(&context.app, by.grant, &listed).await?;
    let next = paging::truncate(&mut found, limit, |last| cursor(&listed.position(&last.collection)));
    let role = |id| by.scope.role_in(id).unwrap_or(CollectionRole::Viewer);
    let default = by.actor.authorize::<AddDocuments>().ok();
    let default = default.and_then(|grant| use_case::destination(&context.app, &grant, &by.scope, None).ok());
    let entries = found.iter().map(|listed| {
        let (of, size) = (&listed.collection, listed.size);
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
            is_own: of.owner == Some(user),
            is_member: listed.is_member,
            is_hidden: by.scope.is_hidden(of.id),
        }
    });
    let body: Vec<_> = entries.collect();
    let parameters = [("q", listed.name_contains.as_deref()), ("include", include)];
    Ok(paging::response(body, "/collections", &parameters, limit, next))
}

/// Encodes a position: the group, the ID, and the name in hexadecimal digits.
fn cursor(position: &CollectionPosition) -> String {
    let group = CollectionGroup::ALL.iter().position(|group| *group == position.group).unwrap_or_default();
    let name = position.name.bytes().map(|byte| format!("{byte:02x}"));
    format!("{group}.{}.{}", position.id.to_string().replace('-', ""), name.collect::<String>())
}

/// Decodes a position encoded by [`cursor`].
fn position(cursor: &str) -> Option<CollectionPosition> {
    let (group, rest) = cursor.split_once('.')?;
    let (id, name) = rest.split_once('.')?;
    let group = *CollectionGroup::ALL.get(group.parse::<usize>().ok()?)?;
    let id = id.parse::<CollectionId>().ok()?;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if name.is_empty() || name.len() > COLLECTION_NAME_MAX * 8 || !name.bytes().all(is_digit) {
        return None;
    }
    let byte = |start: usize| u8::from_str_radix(name.get(start..start + 2)?, 16).ok();
    let name: Option<Vec<u8>> = (0..name.len()).step_by(2).map(byte).collect();
    // PostgreSQL rejects a parameter with a zero. No name has one.
    let name = String::from_utf8_lossy(&name?).replace('\0', "");
    Some(CollectionPosition { group, name, id })
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::DateTime;

    #[test]
    fn cursor_encodes_its_position() {
        let id = CollectionId::generate(DateTime::UNIX_EPOCH, [7; 10]);
        for group in CollectionGroup::ALL {
            for name in ["contracts", "ünïcode 合同.%"] {
                let before = CollectionPosition { group: *group, name: name.to_owned(), id };
                let cursor = cursor(&before);
                assert!(cursor.is_ascii());
                assert_eq!(position(&cursor), Some(before));
            }
        }
        let id = id.to_string();
        for wrong in ["61", "5.{id}.61", "0.{id}.6", "0.{id}.", "0.{id}.AA", "0.{id}.+6", "0.x.61"] {
            assert_eq!(position(&wrong.replace("{id}", &id)), None, "{wrong:?}");
        }
        for foreign in ["0.{id}.ff", "0.{id}.00"] {
            assert!(position(&foreign.replace("{id}", &id)).is_some_and(|of| !of.name.contains('\0')));
        }
    }
}
