//! The roles of accounts on collections, in one statement for many accounts.

use super::entities::collections::{Column, Entity, role};
use super::entities::{
    collection_groups, collection_users, hidden_collections, open_collections, user_groups,
};
use super::lookup::Lookup;
use super::points::{self, Records};
use super::source::Source;
use docent_domain::collection::CollectionRole;
use docent_domain::fault::Result;
use docent_domain::id::{CollectionId, UserId};
use sea_orm::sea_query::{Expr, Query, SelectStatement, UnionType};
use sea_orm::{
    ColumnTrait, EntityTrait, ExprTrait, FromQueryResult, QueryFilter, QuerySelect, QueryTrait, Select,
};
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;
use uuid::Uuid;

/// What faults of the statement are named after.
pub(super) const READ: &str = "read the roles of an account";

/// The roles of an account itself, and what its other roles depend on.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnRoles {
    /// Roles as owner, as member and through groups. A collection can occur several times.
    pub(super) roles: Vec<(CollectionId, CollectionRole)>,
    pub(super) hidden: BTreeSet<CollectionId>,
    /// Version of the collections that are open to all.
    pub(super) version: Option<Uuid>,
}

/// Batches the reads of concurrent callers. Every account has an answer, also an unknown one.
pub(super) fn lookup(source: &Source, statement_timeout: Duration) -> Lookup<UserId, OwnRoles> {
    let records = Records { select, id: UserId::as_uuid, from_rows: by_user };
    points::lookup(READ, source, statement_timeout, records)
}

/// A role of an account, a collection that it has hidden, or the version of the open collections.
#[derive(FromQueryResult)]
pub(super) struct RoleRow {
    /// `None` for the version.
    user_id: Option<Uuid>,
    /// The version in that row.
    collection_id: Uuid,
    /// [`HIDDEN`] for a hidden collection.
    role: String,
}

/// What rows of hidden collections have for a role.
const HIDDEN: &str = "hidden";

/// Selects the [`RoleRow`]s of these accounts: roles of owners, of members, and through groups.
pub(super) fn select(users: Vec<Uuid>) -> Select<Entity> {
    let mut roles = Entity::find()
        .select_only()
        .column_as(Column::OwnerId, "user_id")
        .column_as(Column::Id, "collection_id")
        // Not a parameter: the accounts are the only ones.
        .expr_as(Expr::Constant(CollectionRole::Manager.name().into()), "role")
        .filter(Column::OwnerId.is_in(users.clone()));
    for part in [of_members(users.clone()), through_groups(users.clone()), hidden_by(users), version()] {
        QueryTrait::query(&mut roles).union(UnionType::All, part);
    }
    roles
}

fn hidden_by(users: Vec<Uuid>) -> SelectStatement {
    use hidden_collections::Column as Hidden;
    Query::select()
        .columns([Hidden::UserId, Hidden::CollectionId])
        .expr(Expr::Constant(HIDDEN.into()))
        .from(hidden_collections::Entity)
        .and_where(Hidden::UserId.is_in(users))
        .take()
}

fn version() -> SelectStatement {
    Query::select()
        .expr(Expr::cust("NULL"))
        .column(open_collections::Column::Version)
        .expr(Expr::Constant("".into()))
        .from(open_collections::Entity)
        .take()
}

fn of_members(users: Vec<Uuid>) -> SelectStatement {
    use collection_users::Column as Member;
    collection_users::Entity::find()
        .select_only()
        .columns([Member::UserId, Member::CollectionId, Member::Role])
        .filter(Member::UserId.is_in(users))
        .into_query()
}

fn through_groups(users: Vec<Uuid>) -> SelectStatement {
    use collection_groups::Column as Member;
    use user_groups::Column as InGroup;
    Query::select()
        .column((user_groups::Entity, InGroup::UserId))
        .columns([Member::CollectionId, Member::Role].map(|column| (collection_groups::Entity, column)))
        .from(user_groups::Entity)
        .inner_join(
            collection_groups::Entity,
            Expr::col((collection_groups::Entity, Member::GroupId))
                .equals((user_groups::Entity, InGroup::GroupId)),
        )
        .and_where(InGroup::UserId.is_in(users))
        .take()
}

/// The roles of each of these accounts.
pub(super) fn by_user(users: &[UserId], rows: Vec<RoleRow>) -> Vec<(UserId, Result<OwnRoles>)> {
    let mut version = None;
    let mut by_user: HashMap<Uuid, Vec<RoleRow>> = HashMap::new();
    for row in rows {
        match row.user_id {
            Some(user) => by_user.entry(user).or_default().push(row),
            None => version = Some(row.collection_id),
        }
    }
    let mut roles = |user: UserId| {
        let mut own = OwnRoles { version, ..OwnRoles::default() };
        for row in by_user.remove(&user.as_uuid()).unwrap_or_default() {
            let id = CollectionId::from_uuid(row.collection_id);
            if row.role == HIDDEN {
                own.hidden.insert(id);
            } else {
                own.roles.push((id, role(&row.role)?));
            }
        }
        Ok(own)
    };
    users.iter().map(|user| (*user, roles(*user))).collect()
}
