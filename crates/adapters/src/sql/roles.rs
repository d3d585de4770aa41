//! The roles of accounts on collections, in one statement for many accounts.

use super::entities::collections::{Column, Entity, role};
use super::entities::{collection_groups, collection_users, user_groups};
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
use std::collections::HashMap;
use std::time::Duration;
use uuid::Uuid;

/// What faults of the statement are named after.
pub(super) const READ: &str = "read the roles of an account";

/// The roles of an account. A collection can occur several times.
pub(super) type Roles = Vec<(CollectionId, CollectionRole)>;

/// Batches the reads of concurrent callers. Every account has an answer, also an unknown one.
pub(super) fn lookup(source: &Source, statement_timeout: Duration) -> Lookup<UserId, Roles> {
    let records = Records { select: of, id: UserId::as_uuid, from_rows: by_user };
    points::lookup(READ, source, statement_timeout, records)
}

/// A role of an account.
#[derive(FromQueryResult)]
pub(super) struct RoleRow {
    /// `None` for every account.
    user_id: Option<Uuid>,
    collection_id: Uuid,
    role: String,
}

impl RoleRow {
    pub(super) fn role(&self) -> Result<(CollectionId, CollectionRole)> {
        Ok((CollectionId::from_uuid(self.collection_id), role(&self.role)?))
    }
}

/// Selects the roles of these accounts as [`RoleRow`]s: those of owners, of every account, of members, and through
/// groups.
pub(super) fn of(users: Vec<Uuid>) -> Select<Entity> {
    let of_all = Query::select()
        .expr(Expr::cust("NULL"))
        .columns([Column::Id, Column::RoleOfAll])
        .from(Entity)
        .and_where(Column::RoleOfAll.is_not_null())
        .take();
    let mut roles = Entity::find()
        .select_only()
        .column_as(Column::OwnerId, "user_id")
        .column_as(Column::Id, "collection_id")
        // Not a parameter: the accounts are the only ones.
        .expr_as(Expr::Constant(CollectionRole::Manager.name().into()), "role")
        .filter(Column::OwnerId.is_in(users.clone()));
    for part in [of_members(users.clone()), through_groups(users), of_all] {
        QueryTrait::query(&mut roles).union(UnionType::All, part);
    }
    roles
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
fn by_user(users: &[UserId], rows: Vec<RoleRow>) -> Vec<(UserId, Result<Roles>)> {
    let mut by_user: HashMap<Option<Uuid>, Vec<RoleRow>> = HashMap::new();
    for row in rows {
        by_user.entry(row.user_id).or_default().push(row);
    }
    let rows_of = |user: Option<UserId>| by_user.get(&user.map(UserId::as_uuid)).into_iter().flatten();
    let roles = |user: UserId| rows_of(Some(user)).chain(rows_of(None)).map(RoleRow::role).collect();
    users.iter().map(|user| (*user, roles(*user))).collect()
}
