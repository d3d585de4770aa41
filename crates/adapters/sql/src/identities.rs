//! Identities at providers, and sign-ins at providers, in SQL.

use super::entities::identities::{Column, Entity};
use super::entities::provider_sessions;
use super::record::Record;
use super::transaction::Transaction;
use super::values::latest;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::{SessionId, UserId};
use docent_domain::identity::{Identity, LogoutRequest, ProviderSession};
use docent_ports::identities::{IdentityReader, IdentityWriter};
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

/// Condition on the primary key.
fn of_subject(issuer: &str, subject: &str) -> Condition {
    Condition::all().add(Column::Issuer.eq(issuer)).add(Column::Subject.eq(subject))
}

#[async_trait]
impl IdentityReader for Transaction {
    async fn get(&mut self, issuer: &str, subject: &str) -> Result<Option<Identity>> {
        self.fetch_one("read an identity", Entity::find().filter(of_subject(issuer, subject))).await
    }

    async fn of_user(&mut self, user: UserId) -> Result<Vec<Identity>> {
        let query = Entity::find()
            .filter(Column::UserId.eq(user.as_uuid()))
            .order_by_asc(Column::CreatedAt)
            .order_by_asc(Column::Issuer);
        self.fetch_all("list the identities of an account", query).await
    }

    async fn session(&mut self, session: SessionId) -> Result<Option<ProviderSession>> {
        let query = provider_sessions::Entity::find_by_id(session.as_uuid());
        self.fetch_one("read a sign-in at a provider", query).await
    }

    async fn sessions_to_end(&mut self, request: &LogoutRequest) -> Result<Vec<SessionId>> {
        use provider_sessions::Column;
        let mut meant = Condition::all().add(Column::Issuer.eq(request.issuer.as_str()));
        if let Some(session) = &request.provider_session {
            meant = meant.add(Column::ProviderSession.eq(session.as_str()));
        }
        if let Some(subject) = &request.subject {
            meant = meant.add(Column::Subject.eq(subject.as_str()));
        }
        if request.provider_session.is_none() && request.subject.is_none() {
            return Ok(Vec::new());
        }
        let query = provider_sessions::Entity::find()
            .select_only()
            .column(Column::SessionId)
            .filter(meant)
            .order_by_asc(Column::SessionId)
            .into_tuple::<Uuid>();
        let ids = self.run("find sessions that a provider ends", |db| Box::pin(query.all(db))).await?;
        Ok(ids.into_iter().map(SessionId::from_uuid).collect())
    }
}

#[async_trait]
impl IdentityWriter for Transaction {
    async fn insert(&mut self, identity: &Identity) -> Result<bool> {
        let taken = OnConflict::columns([Column::Issuer, Column::Subject]).do_nothing().to_owned();
        let insert = Entity::insert(identity.to_row()?).on_conflict(taken);
        Ok(self.insert_rows("add an identity", insert).await? > 0)
    }

    async fn touch(&mut self, issuer: &str, subject: &str, at: DateTime<Utc>) -> Result<bool> {
        let update = Entity::update_many()
            .col_expr(Column::LastUsedAt, latest(Column::LastUsedAt, at))
            .filter(of_subject(issuer, subject));
        Ok(self.update_rows("note a sign-in at a provider", update).await? > 0)
    }

    async fn remove(&mut self, issuer: &str, subject: &str) -> Result<bool> {
        let delete = Entity::delete_many().filter(of_subject(issuer, subject));
        Ok(self.delete_rows("remove an identity", delete).await? > 0)
    }

    async fn insert_session(&mut self, session: &ProviderSession) -> Result<()> {
        self.insert_record("add a sign-in at a provider", session).await
    }
}
