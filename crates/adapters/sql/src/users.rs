//! Accounts in SQL.

use super::entities::users::{ActiveModel, Column, Entity, Model};
use super::entities::{group_permissions, user_groups, user_permissions, users};
use super::fault::corrupt;
use super::listing::contains;
use super::lookup::Lookup;
use super::points::{self, Records};
use super::record::Record;
use super::source::Source;
use super::transaction::Transaction;
use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_domain::id::UserId;
use docent_domain::listing::{Page, PageRequest, UserFilter, UserOrder};
use docent_domain::permission::Permission;
use docent_domain::text::Email;
use docent_domain::user::{Person, User};
use docent_ports::users::{UserReader, UserWriter};
use sea_orm::sea_query::{Expr, NullOrdering, OnConflict};
use sea_orm::{
    ColumnTrait, Condition, EntityTrait, ExprTrait, NotSet, Order, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect, QueryTrait, Select,
};
use std::collections::HashMap;
use std::time::Duration;

/// Batches the reads of concurrent callers.
pub(super) fn lookup(source: &Source, statement_timeout: Duration) -> Lookup<UserId, User> {
    let records = Records {
        select: |ids| Entity::find().filter(Column::Id.is_in(ids)),
        id: UserId::as_uuid,
        from_rows: |_, rows: Vec<Model>| {
            rows.into_iter().map(|row| (UserId::from_uuid(row.id), User::from_row(row))).collect()
        },
    };
    points::lookup("read an account", source, statement_timeout, records)
}

#[async_trait]
impl UserReader for Transaction {
    async fn get(&mut self, id: UserId) -> Result<Option<User>> {
        if let Some(lookups) = self.lookups() {
            return lookups.users.get(id).await;
        }
        self.fetch_one("read an account", Entity::find_by_id(id.as_uuid())).await
    }

    async fn by_email(&mut self, email: &Email) -> Result<Option<User>> {
        self.fetch_one("find an account", Entity::find().filter(Column::Email.eq(email.as_str()))).await
    }

    async fn count(&mut self) -> Result<u64> {
        self.run("count accounts", |db| Box::pin(Entity::find().count(db))).await
    }

    async fn list(&mut self, filter: &UserFilter, page: PageRequest) -> Result<Page<User>> {
        let rows = Entity::find()
            .apply_if(filter.text.as_deref(), |rows, text| {
                let is_in = |column| contains(Expr::col(column), text, self.backend());
                rows.filter(is_in(Column::Email).or(is_in(Column::Name)))
            })
            .apply_if(filter.is_active, |rows, is_active| rows.filter(Column::IsActive.eq(is_active)))
            .apply_if(filter.can_use_panel, |rows, may_enter| {
                let may = Condition::any().add(Column::IsStaff.eq(true)).add(Column::IsSuperuser.eq(true));
                rows.filter(if may_enter { may } else { may.not() })
            })
            .apply_if(filter.is_superuser, |rows, is_superuser| {
                rows.filter(Column::IsSuperuser.eq(is_superuser))
            })
            .apply_if(filter.group, |rows, group| {
                let members = user_groups::Entity::find()
                    .select_only()
                    .column(user_groups::Column::UserId)
                    .filter(user_groups::Column::GroupId.eq(group.as_uuid()))
                    .into_query();
                rows.filter(Column::Id.in_subquery(members))
            })
            .apply_if(filter.permission, with_permission);
        let order = |rows: Select<Entity>| match filter.order {
            UserOrder::Email => rows.order_by_asc(Column::Email),
            UserOrder::Newest => rows.order_by_desc(Column::CreatedAt).order_by_desc(Column::Id),
            UserOrder::LastLogin => rows
                .order_by_with_nulls(Column::LastLoginAt, Order::Desc, NullOrdering::Last)
                .order_by_desc(Column::Id),
        };
        self.listed("list accounts", rows, order, page, Record::from_row).await
    }

    async fn people(&mut self, ids: &[UserId]) -> Result<HashMap<UserId, Person>> {
        let query = Entity::find()
            .select_only()
            .column(Column::Id)
            .column(Column::Email)
            .column(Column::Name)
            .filter(Column::Id.is_in(ids.iter().map(|id| id.as_uuid())))
            .into_tuple::<(uuid::Uuid, String, Option<String>)>();
        let rows = self.run("read addresses", |db| Box::pin(query.all(db))).await?;
        let person = |(id, email, name): (uuid::Uuid, String, Option<String>)| {
            let email = Email::parse(&email).map_err(|_| corrupt("account's address"))?;
            let name = name.as_deref().map(users::name).transpose()?;
            Ok((UserId::from_uuid(id), Person { email, name }))
        };
        rows.into_iter().map(person).collect()
    }
}

#[async_trait]
impl UserWriter for Transaction {
    async fn insert(&mut self, user: &User) -> Result<bool> {
        self.insert_new("add an account", user, OnConflict::column(Column::Email)).await
    }

    async fn update(&mut self, user: &User) -> Result<bool> {
        let values = ActiveModel { id: NotSet, ..user.to_row()? };
        let update = Entity::update_many().set(values).filter(Column::Id.eq(user.id.as_uuid()));
        Ok(self.update_rows("change an account", update).await? > 0)
    }

    async fn delete(&mut self, id: UserId) -> Result<bool> {
        // The schema deletes what belongs to it.
        self.delete_by_id::<Entity>("remove an account", id.as_uuid()).await
    }
}

/// Accounts that have a permission themselves or through a group.
fn with_permission(rows: Select<Entity>, permission: Permission) -> Select<Entity> {
    let own = user_permissions::Entity::find()
        .select_only()
        .column(user_permissions::Column::UserId)
        .filter(user_permissions::Column::Permission.eq(permission.to_string()))
        .into_query();
    let groups = group_permissions::Entity::find()
        .select_only()
        .column(group_permissions::Column::GroupId)
        .filter(group_permissions::Column::Permission.eq(permission.to_string()))
        .into_query();
    let members = user_groups::Entity::find()
        .select_only()
        .column(user_groups::Column::UserId)
        .filter(user_groups::Column::GroupId.in_subquery(groups))
        .into_query();
    rows.filter(Condition::any().add(Column::Id.in_subquery(own)).add(Column::Id.in_subquery(members)))
}
