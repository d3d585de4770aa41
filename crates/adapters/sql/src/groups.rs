//! Groups and permissions in SQL.

use super::entities::groups::{Column, Entity};
use super::entities::{group_permissions, groups, user_groups, user_permissions};
use super::listing::contains;
use super::record::all_columns;
use super::transaction::Transaction;
use super::values::{counted, instant, micros, stored};
use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_domain::group::{AssignedPermissions, Group, GroupName};
use docent_domain::id::{GroupId, UserId};
use docent_domain::listing::{Page, PageRequest};
use docent_domain::permission::{Permission, PermissionSet};
use docent_ports::groups::{GroupReader, GroupWriter};
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Set};
use std::collections::{BTreeSet, HashMap, HashSet};
use uuid::Uuid;

#[async_trait]
impl GroupReader for Transaction {
    async fn get(&mut self, id: GroupId) -> Result<Option<Group>> {
        let query = self.for_update(Entity::find_by_id(id.as_uuid()));
        let row = self.run("read a group", |db| Box::pin(query.one(db))).await?;
        self.with_permissions(row).await
    }

    async fn by_name(&mut self, name: &GroupName) -> Result<Option<Group>> {
        let query = self.for_update(Entity::find().filter(Column::NameKey.eq(name.key())));
        let row = self.run("find a group", |db| Box::pin(query.one(db))).await?;
        self.with_permissions(row).await
    }

    async fn list(&mut self, text: Option<&str>, page: PageRequest) -> Result<Page<(Group, u64)>> {
        let rows = Entity::find().apply_if(text, |rows, text| {
            rows.filter(contains(Expr::col(Column::Name), text, self.backend()))
        });
        let order =
            |rows: sea_orm::Select<Entity>| rows.order_by_asc(Column::NameKey).order_by_asc(Column::Id);
        let listed = self.listed("list groups", rows, order, page, Ok).await?;
        let ids: Vec<Uuid> = listed.records.iter().map(|row| row.id).collect();
        let mut permissions = self.permissions_of(&ids).await?;
        let members = user_groups::Entity::find()
            .select_only()
            .column(user_groups::Column::GroupId)
            .column_as(user_groups::Column::UserId.count(), "members")
            .filter(user_groups::Column::GroupId.is_in(ids))
            .group_by(user_groups::Column::GroupId)
            .into_tuple::<(Uuid, i64)>();
        let members = self.run("count members of groups", |db| Box::pin(members.all(db))).await?;
        let members: HashMap<Uuid, i64> = members.into_iter().collect();
        let group = |row: groups::Model| {
            let members = counted(members.get(&row.id).copied().unwrap_or(0), "count of members")?;
            let permissions = permissions.remove(&row.id).unwrap_or_default();
            Ok((from_row(row, permissions)?, members))
        };
        let records = listed.records.into_iter().map(group).collect::<Result<_>>()?;
        Ok(Page { records, total: listed.total })
    }

    async fn names(&mut self, ids: &[GroupId]) -> Result<HashMap<GroupId, String>> {
        let (columns, ids) = ([Column::Id, Column::Name], ids.iter().map(|id| id.as_uuid()));
        let rows = self.texts("read names of groups", Entity::find(), columns, ids).await?;
        Ok(rows.into_iter().map(|(id, name)| (GroupId::from_uuid(id), name)).collect())
    }

    async fn managers(&mut self, id: GroupId) -> Result<HashSet<UserId>> {
        let query = user_groups::Entity::find()
            .select_only()
            .column(user_groups::Column::UserId)
            .filter(user_groups::Column::GroupId.eq(id.as_uuid()))
            .filter(user_groups::Column::IsManager.eq(true))
            .into_tuple::<Uuid>();
        let ids = self.run("read managers of a group", |db| Box::pin(query.all(db))).await?;
        Ok(ids.into_iter().map(UserId::from_uuid).collect())
    }

    async fn assigned_permissions(&mut self, user: UserId) -> Result<AssignedPermissions> {
        let permissions = user_permissions::Entity::find()
            .select_only()
            .column(user_permissions::Column::Permission)
            .filter(user_permissions::Column::UserId.eq(user.as_uuid()))
            .into_tuple::<String>();
        let permissions =
            self.run("read an account's permissions", |db| Box::pin(permissions.all(db))).await?;
        let groups = user_groups::Entity::find()
            .select_only()
            .column(user_groups::Column::GroupId)
            .column(user_groups::Column::IsManager)
            .filter(user_groups::Column::UserId.eq(user.as_uuid()))
            .into_tuple::<(Uuid, bool)>();
        let groups = self.run("read an account's groups", |db| Box::pin(groups.all(db))).await?;
        let managed = groups.iter().filter(|(_, is_manager)| *is_manager);
        let managed = managed.map(|(id, _)| GroupId::from_uuid(*id)).collect();
        let groups: BTreeSet<GroupId> = groups.into_iter().map(|(id, _)| GroupId::from_uuid(id)).collect();
        Ok(AssignedPermissions { permissions: set_of(permissions), groups, managed })
    }

    async fn permissions(&mut self, user: UserId) -> Result<PermissionSet> {
        let memberships = user_groups::Entity::find()
            .select_only()
            .column(user_groups::Column::GroupId)
            .filter(user_groups::Column::UserId.eq(user.as_uuid()))
            .into_query();
        let by_group = group_permissions::Entity::find()
            .select_only()
            .column(group_permissions::Column::Permission)
            .filter(group_permissions::Column::GroupId.in_subquery(memberships))
            .into_query();
        let mut all = user_permissions::Entity::find()
            .select_only()
            .column(user_permissions::Column::Permission)
            .filter(user_permissions::Column::UserId.eq(user.as_uuid()));
        QueryTrait::query(&mut all).union(sea_orm::sea_query::UnionType::Distinct, by_group);
        let names = all.into_tuple::<String>();
        let names = self.run("read effective permissions", |db| Box::pin(names.all(db))).await?;
        Ok(set_of(names))
    }
}

#[async_trait]
impl GroupWriter for Transaction {
    async fn insert(&mut self, group: &Group) -> Result<bool> {
        let taken = OnConflict::column(Column::NameKey).do_nothing().to_owned();
        let insert = Entity::insert(to_row(group)).on_conflict(taken);
        let is_new = self.insert_rows("add a group", insert).await? > 0;
        if is_new {
            self.insert_group_permissions(group).await?;
        }
        Ok(is_new)
    }

    async fn update(&mut self, group: &Group) -> Result<bool> {
        let update = Entity::update_many()
            .set(groups::ActiveModel { id: sea_orm::NotSet, ..to_row(group) })
            .filter(Column::Id.eq(group.id.as_uuid()));
        if self.update_rows("change a group", update).await? == 0 {
            return Ok(false);
        }
        let old = group_permissions::Entity::delete_many()
            .filter(group_permissions::Column::GroupId.eq(group.id.as_uuid()));
        self.delete_rows("change a group's permissions", old).await?;
        self.insert_group_permissions(group).await?;
        Ok(true)
    }

    async fn delete(&mut self, id: GroupId) -> Result<bool> {
        self.delete_by_id::<Entity>("remove a group", id.as_uuid()).await
    }

    async fn set_assigned_permissions(&mut self, user: UserId, rights: &AssignedPermissions) -> Result<()> {
        let old = user_permissions::Entity::delete_many()
            .filter(user_permissions::Column::UserId.eq(user.as_uuid()));
        self.delete_rows("change an account's permissions", old).await?;
        let old = user_groups::Entity::delete_many().filter(user_groups::Column::UserId.eq(user.as_uuid()));
        self.delete_rows("change an account's groups", old).await?;
        let permissions = rights.permissions.iter().map(|permission| user_permissions::ActiveModel {
            user_id: Set(user.as_uuid()),
            permission: Set(permission.to_string()),
        });
        let insert = user_permissions::Entity::insert_many(permissions);
        self.insert_many_rows("change an account's permissions", insert).await?;
        let groups = rights.groups.iter().map(|group| user_groups::ActiveModel {
            user_id: Set(user.as_uuid()),
            group_id: Set(group.as_uuid()),
            is_manager: Set(rights.managed.contains(group)),
        });
        let insert = user_groups::Entity::insert_many(groups);
        self.insert_many_rows("change an account's groups", insert).await
    }
}

impl Transaction {
    async fn with_permissions(&mut self, row: Option<groups::Model>) -> Result<Option<Group>> {
        let Some(row) = row else { return Ok(None) };
        let permissions = self.permissions_of(&[row.id]).await?.remove(&row.id).unwrap_or_default();
        from_row(row, permissions).map(Some)
    }

    /// Adds the groups' permissions.
    pub(super) async fn groups_with_permissions(&mut self, rows: Vec<groups::Model>) -> Result<Vec<Group>> {
        let ids: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
        let mut permissions = self.permissions_of(&ids).await?;
        let whole = |row: groups::Model| {
            let permissions = permissions.remove(&row.id).unwrap_or_default();
            from_row(row, permissions)
        };
        rows.into_iter().map(whole).collect()
    }

    /// Permissions of groups.
    async fn permissions_of(&mut self, groups: &[Uuid]) -> Result<HashMap<Uuid, PermissionSet>> {
        let query = group_permissions::Entity::find()
            .filter(group_permissions::Column::GroupId.is_in(groups.iter().copied()));
        let rows = self.run("read permissions of groups", |db| Box::pin(query.all(db))).await?;
        let mut names: HashMap<Uuid, Vec<String>> = HashMap::new();
        for row in rows {
            names.entry(row.group_id).or_default().push(row.permission);
        }
        Ok(names.into_iter().map(|(group, names)| (group, set_of(names))).collect())
    }

    async fn insert_group_permissions(&mut self, group: &Group) -> Result<()> {
        let rows = group.permissions.iter().map(|permission| group_permissions::ActiveModel {
            group_id: Set(group.id.as_uuid()),
            permission: Set(permission.to_string()),
        });
        let insert = group_permissions::Entity::insert_many(rows);
        self.insert_many_rows("write a group's permissions", insert).await
    }
}

/// The permissions that this program knows.
fn set_of(names: Vec<String>) -> PermissionSet {
    names.iter().filter_map(|name| Permission::parse(name)).collect()
}

fn to_row(group: &Group) -> groups::ActiveModel {
    let row = groups::Model {
        id: group.id.as_uuid(),
        name: group.name.as_str().to_owned(),
        name_key: group.name.key(),
        created_at: micros(group.created_at),
    };
    all_columns(row)
}

fn from_row(row: groups::Model, permissions: PermissionSet) -> Result<Group> {
    Ok(Group {
        id: GroupId::from_uuid(row.id),
        name: stored(row.name, "group's name")?,
        permissions,
        created_at: instant(row.created_at, "group's time")?,
    })
}
