//! API keys in SQL.

use super::entities::api_keys::{Column, Entity};
use super::listing::contains;
use super::transaction::Transaction;
use super::values::micros;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::api_key::{ApiKey, ApiKeyPrefix};
use docent_domain::connection::Connection;
use docent_domain::fault::Result;
use docent_domain::id::{ApiKeyId, TokenId, UserId};
use docent_domain::listing::{ApiKeyFilter, Page, PageRequest};
use docent_ports::api_keys::{ApiKeyReader, ApiKeyWriter};
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryTrait};

#[async_trait]
impl ApiKeyReader for Transaction {
    async fn get(&mut self, id: ApiKeyId) -> Result<Option<ApiKey>> {
        self.fetch_one("read an API key", Entity::find_by_id(id.as_uuid())).await
    }

    async fn by_prefix(&mut self, prefix: &ApiKeyPrefix) -> Result<Option<ApiKey>> {
        self.fetch_one("find an API key", Entity::find().filter(Column::Prefix.eq(prefix.as_str()))).await
    }

    async fn list(&mut self, filter: &ApiKeyFilter, page: PageRequest) -> Result<Page<ApiKey>> {
        let rows = Entity::find()
            .apply_if(filter.user, |rows, user| rows.filter(Column::UserId.eq(user.as_uuid())))
            .apply_if(filter.valid_at, |rows, at| {
                let lasts =
                    Condition::any().add(Column::ExpiresAt.is_null()).add(Column::ExpiresAt.gt(micros(at)));
                rows.filter(Column::RevokedAt.is_null()).filter(lasts)
            })
            .apply_if(filter.is_connected, |rows, is_connected| match is_connected {
                true => rows.filter(Column::Client.is_not_null()),
                false => rows.filter(Column::Client.is_null()),
            })
            .apply_if(filter.text.as_deref(), |rows, text| {
                let holds = |column: Column| contains(Expr::col(column), text, self.backend());
                rows.filter(Condition::any().add(holds(Column::Name)).add(holds(Column::Prefix)))
            });
        self.list_newest("list API keys", rows, [Column::CreatedAt, Column::Id], page).await
    }
}

#[async_trait]
impl ApiKeyWriter for Transaction {
    async fn insert(&mut self, key: &ApiKey) -> Result<bool> {
        self.insert_new("add an API key", key, OnConflict::column(Column::Prefix)).await
    }

    async fn revoke(&mut self, id: ApiKeyId, at: DateTime<Utc>) -> Result<bool> {
        let update = Entity::update_many()
            .col_expr(Column::RevokedAt, Expr::val(micros(at)))
            .filter(Column::Id.eq(id.as_uuid()))
            .filter(Column::RevokedAt.is_null());
        Ok(self.update_rows("revoke an API key", update).await? > 0)
    }

    async fn disconnect_for_user(&mut self, user: UserId, at: DateTime<Utc>) -> Result<u64> {
        let update = Entity::update_many()
            .col_expr(Column::RevokedAt, Expr::val(micros(at)))
            .filter(Column::UserId.eq(user.as_uuid()))
            .filter(Column::Client.is_not_null())
            .filter(Column::RevokedAt.is_null());
        self.update_rows("disconnect an account's applications", update).await
    }

    async fn renew(
        &mut self,
        id: ApiKeyId,
        connection: &Connection,
        expires_at: DateTime<Utc>,
    ) -> Result<bool> {
        let update = Entity::update_many()
            .col_expr(Column::Client, Expr::val(connection.client.as_str()))
            .col_expr(Column::Resource, Expr::val(connection.resource.name()))
            .col_expr(Column::RefreshToken, Expr::val(connection.refresh_token.as_uuid()))
            .col_expr(Column::ReplacedToken, Expr::val(connection.replaced_token.map(TokenId::as_uuid)))
            .col_expr(Column::RefreshedAt, Expr::val(micros(connection.refreshed_at)))
            .col_expr(Column::ExpiresAt, Expr::val(micros(expires_at)))
            .filter(Column::Id.eq(id.as_uuid()));
        Ok(self.update_rows("renew a connected application", update).await? > 0)
    }

    async fn touch(&mut self, id: ApiKeyId, at: DateTime<Utc>) -> Result<()> {
        let earlier =
            Condition::any().add(Column::LastUsedAt.is_null()).add(Column::LastUsedAt.lt(micros(at)));
        let update = Entity::update_many()
            .col_expr(Column::LastUsedAt, Expr::val(micros(at)))
            .filter(Column::Id.eq(id.as_uuid()))
            .filter(earlier);
        self.update_rows("note the use of an API key", update).await?;
        Ok(())
    }
}
