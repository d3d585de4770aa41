//! Refresh-token families in SQL.

use super::SqlStore;
use super::entities::refresh_families::{self as families, Column as Family};
use super::entities::refresh_tokens::{self as tokens, Column as Token};
use super::record::all_columns;
use super::transaction::Transaction;
use super::values::{instant, latest, micros};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::{FamilyId, TokenId, UserId};
use docent_domain::token::RefreshClaims;
use docent_ports::token_store::{Rotation, RotationOutcome, TokenStore};
use sea_orm::sea_query::{Expr, LockBehavior, LockType};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};
use uuid::Uuid;

/// Expired families that a login removes at most. Since each login adds one family, they do not accumulate.
const PURGED_PER_LOGIN: u64 = 8;

/// Stores refresh-token families in a relational database.
///
/// Calls that change a family lock its row first, so that concurrent rotations and revocations of one
/// family run one after the other.
#[derive(Clone, Debug)]
pub struct SqlTokenStore(SqlStore);

impl SqlTokenStore {
    /// Stores families in this database, which must have the current schema when the store is used.
    pub fn new(store: SqlStore) -> Self {
        Self(store)
    }
}

#[async_trait]
impl TokenStore for SqlTokenStore {
    async fn start(&self, first: &RefreshClaims) -> Result<()> {
        let mut transaction = self.0.transaction();
        transaction.purge_expired_families(first.issued_at).await?;
        let (family, expires_at) = (first.family.as_uuid(), micros(first.expires_at));
        let row = families::Model { id: family, user_id: first.user.as_uuid(), expires_at };
        let insert = families::Entity::insert(all_columns::<families::ActiveModel>(row));
        transaction.insert_rows("start a token family", insert).await?;
        transaction.insert_token(family, first.id, expires_at).await?;
        transaction.commit().await
    }

    async fn rotate(&self, rotation: Rotation) -> Result<RotationOutcome> {
        let Rotation { family, presented, successor, expires_at, grace, now } = rotation;
        let mut transaction = self.0.transaction();
        let family = family.as_uuid();
        if !transaction.lock_family(family, expires_at).await? {
            return Ok(RotationOutcome::Unknown);
        }
        let query = tokens::Entity::find().filter(Token::FamilyId.eq(family));
        let rows = transaction.run("read refresh tokens", |db| Box::pin(query.all(db))).await?;
        let grace = i64::try_from(grace.as_micros()).unwrap_or(i64::MAX);
        let is_usable = |row: &tokens::Model| {
            row.replaced_at.is_none_or(|replaced_at| micros(now).saturating_sub(replaced_at) <= grace)
        };
        let found = rows.iter().find(|row| row.id == presented.as_uuid());
        if found.is_some_and(|row| row.expires_at <= micros(now)) {
            return Ok(RotationOutcome::Unknown);
        }
        let Some(found) = found.filter(|row| is_usable(row)) else {
            transaction.delete_families(Family::Id.eq(family)).await?;
            transaction.commit().await?;
            return Ok(RotationOutcome::Reused);
        };
        let valid = rows.iter().find(|row| row.replaced_at.is_none());
        if let (Some(_), Some(valid)) = (found.replaced_at, valid) {
            let expires_at = instant(valid.expires_at, "refresh token's expiry")?;
            return Ok(RotationOutcome::Renewed { token: TokenId::from_uuid(valid.id), expires_at });
        }
        let is_over = |row: &&tokens::Model| row.replaced_at.is_none() || !is_usable(row);
        let over = rows.iter().filter(is_over).map(|row| row.id).filter(|id| *id != found.id).collect();
        transaction.delete_tokens(family, over).await?;
        transaction.mark_replaced(family, presented, now).await?;
        transaction.insert_token(family, successor, micros(expires_at)).await?;
        transaction.commit().await?;
        Ok(RotationOutcome::Renewed { token: successor, expires_at })
    }

    async fn revoke(&self, family: FamilyId) -> Result<()> {
        let mut transaction = self.0.transaction();
        transaction.delete_families(Family::Id.eq(family.as_uuid())).await?;
        transaction.commit().await
    }

    async fn revoke_all(&self, user: UserId, _now: DateTime<Utc>) -> Result<()> {
        let mut transaction = self.0.transaction();
        transaction.delete_families(Family::UserId.eq(user.as_uuid())).await?;
        transaction.commit().await
    }

    async fn check(&self) -> Result<()> {
        docent_ports::store::Store::check(&self.0).await
    }

    async fn version(&self) -> Result<Option<String>> {
        docent_ports::store::Store::version(&self.0).await
    }
}

impl Transaction {
    /// Locks a family and extends it to `expires_at`; false if there is none.
    async fn lock_family(&mut self, family: Uuid, expires_at: DateTime<Utc>) -> Result<bool> {
        let update = families::Entity::update_many()
            .col_expr(Family::ExpiresAt, latest(Family::ExpiresAt, expires_at))
            .filter(Family::Id.eq(family));
        Ok(self.update_rows("lock a token family", update).await? > 0)
    }

    async fn insert_token(&mut self, family_id: Uuid, token: TokenId, expires_at: i64) -> Result<()> {
        let row = tokens::Model { family_id, id: token.as_uuid(), expires_at, replaced_at: None };
        let insert = tokens::Entity::insert(all_columns::<tokens::ActiveModel>(row));
        self.insert_rows("add a refresh token", insert).await?;
        Ok(())
    }

    async fn mark_replaced(&mut self, family: Uuid, token: TokenId, now: DateTime<Utc>) -> Result<()> {
        let update = tokens::Entity::update_many()
            .col_expr(Token::ReplacedAt, Expr::val(micros(now)))
            .filter(Token::FamilyId.eq(family))
            .filter(Token::Id.eq(token.as_uuid()));
        self.update_rows("mark a refresh token as replaced", update).await?;
        Ok(())
    }

    async fn delete_tokens(&mut self, family: Uuid, ids: Vec<Uuid>) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let delete =
            tokens::Entity::delete_many().filter(Token::FamilyId.eq(family)).filter(Token::Id.is_in(ids));
        self.delete_rows("remove replaced refresh tokens", delete).await?;
        Ok(())
    }

    /// Removes families with their tokens, which the schema deletes with them.
    async fn delete_families(&mut self, which: impl Into<Expr>) -> Result<()> {
        let delete = families::Entity::delete_many().filter(which.into());
        self.delete_rows("revoke token families", delete).await?;
        Ok(())
    }

    async fn purge_expired_families(&mut self, now: DateTime<Utc>) -> Result<()> {
        let mut expired = families::Entity::find()
            .select_only()
            .column(Family::Id)
            .filter(Family::ExpiresAt.lte(micros(now)))
            .order_by_asc(Family::ExpiresAt)
            .limit(PURGED_PER_LOGIN)
            .into_query();
        // Concurrent logins on PostgreSQL remove different families instead of waiting for each other.
        expired.lock_with_behavior(LockType::Update, LockBehavior::SkipLocked);
        self.delete_families(Family::Id.in_subquery(expired)).await
    }
}

#[cfg(test)]
mod tests;
