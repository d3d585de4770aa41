//! Accounts in SQL.

use super::{
    entities::{
        user_groups,
        users::{ActiveModel, Column, Entity, Model},
    },
    fault::corrupt,
    listing::contains,
    lookup::Lookup,
    points::{Points, Statements},
    session::{Session, Source},
    values::{instant, micros},
};
use async_trait::async_trait;
use docent_domain::{
    id::UserId,
    text::Email,
    user::{PasswordHash, User},
};
use docent_ports::{
    error::Result,
    page::{Page, PageRequest},
    users::{UserFilter, UserOrder, UserReader, UserWriter},
};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, Condition, EntityTrait, IntoActiveModel, NotSet, Order, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select,
    sea_query::{Expr, NullOrdering, OnConflict},
};
use std::{collections::HashMap, time::Duration};

/// Reads those that concurrent callers ask for together.
pub(super) fn lookup(source: &Source, patience: Duration) -> Lookup<UserId, User> {
    let doing = "read an account";
    let statements = Statements::new(Entity::find(), source.connections.get_database_backend());
    let source = source.clone();
    Lookup::new(doing, patience, move || {
        Box::new(Points {
            doing,
            source: source.clone(),
            patience,
            statements: statements.clone(),
            id: UserId::as_uuid,
            from_row: |row: Model| (UserId::from_uuid(row.id), from_row(row)),
            kept: None,
        })
    })
}

#[async_trait]
impl UserReader for Session {
    async fn get(&mut self, id: UserId) -> Result<Option<User>> {
        if let Some(lookups) = self.lookups() {
            return lookups.users.get(id).await;
        }
        let query = self.hold(Entity::find_by_id(id.as_uuid()));
        let row = self.run("read an account", |db| Box::pin(query.one(db))).await?;
        row.map(from_row).transpose()
    }

    async fn by_email(&mut self, email: &Email) -> Result<Option<User>> {
        let query = self.hold(Entity::find().filter(Column::Email.eq(email.as_str())));
        let row = self.run("find an account", |db| Box::pin(query.one(db))).await?;
        row.map(from_row).transpose()
    }

    async fn count(&mut self) -> Result<u64> {
        self.run("count accounts", |db| Box::pin(Entity::find().count(db))).await
    }

    async fn list(&mut self, filter: &UserFilter, page: PageRequest) -> Result<Page<User>> {
        let mut rows = Entity::find();
        if let Some(text) = &filter.text {
            rows = rows.filter(contains(Expr::col(Column::Email), text, self.backend()));
        }
        if let Some(is_active) = filter.is_active {
            rows = rows.filter(Column::IsActive.eq(is_active));
        }
        if let Some(may_enter) = filter.can_use_panel {
            let may = Condition::any().add(Column::IsStaff.eq(true)).add(Column::IsSuperuser.eq(true));
            rows = rows.filter(if may_enter { may } else { may.not() });
        }
        if let Some(is_superuser) = filter.is_superuser {
            rows = rows.filter(Column::IsSuperuser.eq(is_superuser));
        }
        if let Some(group) = filter.group {
            let members = user_groups::Entity::find()
                .select_only()
                .column(user_groups::Column::UserId)
                .filter(user_groups::Column::GroupId.eq(group.as_uuid()))
                .into_query();
            rows = rows.filter(Column::Id.in_subquery(members));
        }
        let order = |rows: Select<Entity>| match filter.order {
            UserOrder::Email => rows.order_by_asc(Column::Email),
            UserOrder::Newest => rows.order_by_desc(Column::CreatedAt).order_by_desc(Column::Id),
            UserOrder::LastLogin => rows
                .order_by_with_nulls(Column::LastLoginAt, Order::Desc, NullOrdering::Last)
                .order_by_desc(Column::Id),
        };
        self.listed("list accounts", rows, order, page, from_row).await
    }

    async fn emails(&mut self, ids: &[UserId]) -> Result<HashMap<UserId, Email>> {
        let query = Entity::find()
            .select_only()
            .column(Column::Id)
            .column(Column::Email)
            .filter(Column::Id.is_in(ids.iter().map(|id| id.as_uuid())))
            .into_tuple::<(uuid::Uuid, String)>();
        let rows = self.run("read addresses", |db| Box::pin(query.all(db))).await?;
        let email = |(id, email): (uuid::Uuid, String)| {
            Ok((UserId::from_uuid(id), Email::parse(&email).map_err(|_| corrupt("account's address"))?))
        };
        rows.into_iter().map(email).collect()
    }
}

#[async_trait]
impl UserWriter for Session {
    async fn insert(&mut self, user: &User) -> Result<bool> {
        // Not by catching the violation, after which PostgreSQL would refuse the rest of the transaction.
        let taken = OnConflict::column(Column::Email).do_nothing().to_owned();
        let insert = Entity::insert(to_row(user)).on_conflict(taken);
        let inserted = self.run("add an account", |db| Box::pin(insert.exec_without_returning(db))).await?;
        Ok(inserted > 0)
    }

    async fn update(&mut self, user: &User) -> Result<bool> {
        let values = ActiveModel { id: NotSet, ..to_row(user) };
        let update = Entity::update_many().set(values).filter(Column::Id.eq(user.id.as_uuid()));
        let result = self.run("change an account", |db| Box::pin(update.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }

    async fn delete(&mut self, id: UserId) -> Result<bool> {
        // What belongs to it goes with it, by the schema.
        let delete = Entity::delete_by_id(id.as_uuid());
        let result = self.run("remove an account", |db| Box::pin(delete.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }
}

fn to_row(user: &User) -> ActiveModel {
    let row = Model {
        id: user.id.as_uuid(),
        email: user.email.as_str().to_owned(),
        password_hash: user.password.as_phc().to_owned(),
        is_active: user.is_active,
        is_staff: user.is_staff,
        is_superuser: user.is_superuser,
        created_at: micros(user.created_at),
        last_login_at: user.last_login_at.map(micros),
        email_verified_at: user.email_verified_at.map(micros),
        sessions_from: micros(user.sessions_from),
    };
    row.into_active_model().reset_all()
}

pub(super) fn from_row(row: Model) -> Result<User> {
    let when = |micros| instant(micros, "account's time");
    Ok(User {
        id: UserId::from_uuid(row.id),
        email: Email::parse(&row.email).map_err(|_| corrupt("account's address"))?,
        password: PasswordHash::from_phc(row.password_hash),
        is_active: row.is_active,
        is_staff: row.is_staff,
        is_superuser: row.is_superuser,
        created_at: when(row.created_at)?,
        last_login_at: row.last_login_at.map(when).transpose()?,
        email_verified_at: row.email_verified_at.map(when).transpose()?,
        sessions_from: when(row.sessions_from)?,
    })
}
