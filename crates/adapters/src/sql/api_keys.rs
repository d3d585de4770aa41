//! API keys in SQL.

use super::{
    entities::api_keys::{Column, Entity, Model},
    fault::corrupt,
    listing::contains,
    session::Session,
    values::{digest, instant, micros},
};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::{
    api_key::{ApiKey, ApiKeyName, ApiKeyPrefix, ApiKeyScopes},
    id::{ApiKeyId, UserId},
};
use docent_ports::{
    api_keys::{ApiKeyFilter, ApiKeyReader, ApiKeyWriter},
    error::Result,
    page::{Page, PageRequest},
};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, Condition, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, Select,
    sea_query::{Expr, OnConflict},
};

#[async_trait]
impl ApiKeyReader for Session {
    async fn get(&mut self, id: ApiKeyId) -> Result<Option<ApiKey>> {
        let query = self.hold(Entity::find_by_id(id.as_uuid()));
        let row = self.run("read an API key", |db| Box::pin(query.one(db))).await?;
        row.map(from_row).transpose()
    }

    async fn by_prefix(&mut self, prefix: &ApiKeyPrefix) -> Result<Option<ApiKey>> {
        let query = self.hold(Entity::find().filter(Column::Prefix.eq(prefix.as_str())));
        let row = self.run("find an API key", |db| Box::pin(query.one(db))).await?;
        row.map(from_row).transpose()
    }

    async fn list(&mut self, filter: &ApiKeyFilter, page: PageRequest) -> Result<Page<ApiKey>> {
        let mut rows = Entity::find();
        if let Some(user) = filter.user {
            rows = rows.filter(Column::UserId.eq(user.as_uuid()));
        }
        if let Some(at) = filter.valid_at {
            let lasts =
                Condition::any().add(Column::ExpiresAt.is_null()).add(Column::ExpiresAt.gt(micros(at)));
            rows = rows.filter(Column::RevokedAt.is_null()).filter(lasts);
        }
        if let Some(text) = &filter.text {
            let holds = |column: Column| contains(Expr::col(column), text, self.backend());
            rows = rows.filter(Condition::any().add(holds(Column::Name)).add(holds(Column::Prefix)));
        }
        let order = |rows: Select<Entity>| rows.order_by_desc(Column::CreatedAt).order_by_desc(Column::Id);
        self.listed("list API keys", rows, order, page, from_row).await
    }
}

#[async_trait]
impl ApiKeyWriter for Session {
    async fn insert(&mut self, key: &ApiKey) -> Result<bool> {
        let row = Model {
            id: key.id.as_uuid(),
            user_id: key.user.as_uuid(),
            name: key.name.as_str().to_owned(),
            prefix: key.prefix.as_str().to_owned(),
            sha256: key.sha256.to_vec(),
            scopes: key.scopes.to_string(),
            created_at: micros(key.created_at),
            expires_at: key.expires_at.map(micros),
            last_used_at: key.last_used_at.map(micros),
            revoked_at: key.revoked_at.map(micros),
        };
        let taken = OnConflict::column(Column::Prefix).do_nothing().to_owned();
        let insert = Entity::insert(row.into_active_model().reset_all()).on_conflict(taken);
        let inserted = self.run("add an API key", |db| Box::pin(insert.exec_without_returning(db))).await?;
        Ok(inserted > 0)
    }

    async fn revoke(&mut self, id: ApiKeyId, at: DateTime<Utc>) -> Result<bool> {
        let update = Entity::update_many()
            .col_expr(Column::RevokedAt, Expr::val(micros(at)))
            .filter(Column::Id.eq(id.as_uuid()))
            .filter(Column::RevokedAt.is_null());
        let result = self.run("revoke an API key", |db| Box::pin(update.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }

    async fn revoke_for_user(&mut self, user: UserId, at: DateTime<Utc>) -> Result<u64> {
        let update = Entity::update_many()
            .col_expr(Column::RevokedAt, Expr::val(micros(at)))
            .filter(Column::UserId.eq(user.as_uuid()))
            .filter(Column::RevokedAt.is_null());
        let result = self.run("revoke an account's API keys", |db| Box::pin(update.exec(db))).await?;
        Ok(result.rows_affected)
    }

    async fn touch(&mut self, id: ApiKeyId, at: DateTime<Utc>) -> Result<()> {
        let earlier =
            Condition::any().add(Column::LastUsedAt.is_null()).add(Column::LastUsedAt.lt(micros(at)));
        let update = Entity::update_many()
            .col_expr(Column::LastUsedAt, Expr::val(micros(at)))
            .filter(Column::Id.eq(id.as_uuid()))
            .filter(earlier);
        self.run("note the use of an API key", |db| Box::pin(update.exec(db))).await?;
        Ok(())
    }
}

pub(super) fn from_row(row: Model) -> Result<ApiKey> {
    let when = |micros| instant(micros, "API key's time");
    Ok(ApiKey {
        id: ApiKeyId::from_uuid(row.id),
        user: UserId::from_uuid(row.user_id),
        name: ApiKeyName::parse(&row.name).map_err(|_| corrupt("API key's name"))?,
        prefix: ApiKeyPrefix::parse(&row.prefix).map_err(|_| corrupt("API key's prefix"))?,
        sha256: digest(&row.sha256, "API key's digest")?,
        scopes: ApiKeyScopes::parse(row.scopes.split(' ')).map_err(|_| corrupt("API key's scopes"))?,
        created_at: when(row.created_at)?,
        expires_at: row.expires_at.map(when).transpose()?,
        last_used_at: row.last_used_at.map(when).transpose()?,
        revoked_at: row.revoked_at.map(when).transpose()?,
    })
}
