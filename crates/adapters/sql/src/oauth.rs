//! OAuth clients and authorization codes in SQL.

use super::entities::{oauth_clients as clients, oauth_codes as codes};
use super::transaction::Transaction;
use super::values::micros;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::{AuthorizationCodeId, OAuthClientId};
use docent_domain::oauth::{AuthorizationCode, RegisteredClient};
use docent_ports::oauth::{OAuthReader, OAuthWriter};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter};

#[async_trait]
impl OAuthReader for Transaction {
    async fn client(&mut self, id: OAuthClientId) -> Result<Option<RegisteredClient>> {
        self.fetch_one("read an OAuth client", clients::Entity::find_by_id(id.as_uuid())).await
    }

    async fn code(&mut self, sha256: &[u8; 32]) -> Result<Option<AuthorizationCode>> {
        let code = codes::Entity::find().filter(codes::Column::Sha256.eq(sha256.to_vec()));
        self.fetch_one("find an authorization code", code).await
    }
}

#[async_trait]
impl OAuthWriter for Transaction {
    async fn insert_client(&mut self, client: &RegisteredClient) -> Result<()> {
        self.insert_record("add an OAuth client", client).await
    }

    async fn touch_client(&mut self, id: OAuthClientId, at: DateTime<Utc>) -> Result<()> {
        use clients::Column;
        let earlier =
            Condition::any().add(Column::LastUsedAt.is_null()).add(Column::LastUsedAt.lt(micros(at)));
        let update = clients::Entity::update_many()
            .col_expr(Column::LastUsedAt, Expr::val(micros(at)))
            .filter(Column::Id.eq(id.as_uuid()))
            .filter(earlier);
        self.update_rows("note the use of an OAuth client", update).await?;
        Ok(())
    }

    async fn purge_clients(
        &mut self,
        unused_before: DateTime<Utc>,
        used_before: DateTime<Utc>,
        limit: u64,
    ) -> Result<u64> {
        use clients::Column;
        let is_unused = Condition::all()
            .add(Column::LastUsedAt.is_null())
            .add(Column::CreatedAt.lt(micros(unused_before)));
        let is_old = Condition::any().add(is_unused).add(Column::LastUsedAt.lt(micros(used_before)));
        self.purge::<clients::Entity>("purge OAuth clients", Column::Id, is_old, limit).await
    }

    async fn insert_code(&mut self, code: &AuthorizationCode) -> Result<()> {
        self.insert_record("add an authorization code", code).await
    }

    async fn use_code(&mut self, id: AuthorizationCodeId, at: DateTime<Utc>) -> Result<bool> {
        use codes::Column;
        let update = codes::Entity::update_many()
            .col_expr(Column::UsedAt, Expr::val(micros(at)))
            .filter(Column::Id.eq(id.as_uuid()))
            .filter(Column::UsedAt.is_null());
        Ok(self.update_rows("use an authorization code", update).await? > 0)
    }

    async fn purge_codes(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64> {
        let expired = codes::Column::ExpiresAt.lt(micros(before));
        self.purge::<codes::Entity>("purge authorization codes", codes::Column::Id, expired, limit).await
    }
}
