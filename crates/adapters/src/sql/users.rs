//! Accounts in SQL.

use super::{
    entities::users::{ActiveModel, Column, Entity, Model},
    fault::corrupt,
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
    users::{UserReader, UserWriter},
};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, NotSet, PaginatorTrait, QueryFilter,
    sea_query::OnConflict,
};
use std::time::Duration;

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
    })
}
