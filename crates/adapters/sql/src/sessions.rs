//! Sessions in SQL.

use super::entities::sessions::{Column, Entity, Model};
use super::entities::users;
use super::lookup::Lookup;
use super::points::{self, Records};
use super::record::Record;
use super::source::Source;
use super::transaction::Transaction;
use super::values::{address, latest, micros};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::{SessionId, UserId};
use docent_domain::listing::{Page, PageRequest, SessionFilter};
use docent_domain::session::{BROWSER_SESSION_MAX, PANEL_IDLE_TIMEOUT, Session, SessionKind};
use docent_domain::user::User;
use docent_ports::sessions::{SessionReader, SessionWriter};
use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait, Condition, DbErr, EntityTrait, ExprTrait, FromQueryResult, IdenStatic, QueryFilter,
    QueryOrder, QueryResult, QuerySelect, QueryTrait, SelectA, SelectB, SelectTwo,
};
use std::net::IpAddr;
use std::time::Duration;

/// A session's row and the row of its account.
struct WithUser(Model, users::Model);

impl FromQueryResult for WithUser {
    fn from_query_result(row: &QueryResult, _prefix: &str) -> Result<Self, DbErr> {
        Ok(Self(
            Model::from_query_result(row, SelectA.as_str())?,
            users::Model::from_query_result(row, SelectB.as_str())?,
        ))
    }
}

impl WithUser {
    fn record(self) -> (SessionId, Result<(Session, User)>) {
        let Self(session, user) = self;
        let id = SessionId::from_uuid(session.id);
        (id, Session::from_row(session).and_then(|session| Ok((session, User::from_row(user)?))))
    }
}

fn with_user() -> SelectTwo<Entity, users::Entity> {
    let mut sessions = Entity::find().select_also(users::Entity);
    let owns = Expr::col((users::Entity, users::Column::Id)).equals((Entity, Column::UserId));
    QuerySelect::query(&mut sessions).inner_join(users::Entity, owns);
    sessions
}

/// Batches the reads of concurrent callers.
pub(super) fn lookup(source: &Source, statement_timeout: Duration) -> Lookup<SessionId, (Session, User)> {
    let records = Records {
        select: |ids| with_user().filter(Column::Id.is_in(ids)),
        id: SessionId::as_uuid,
        from_rows: |_, rows: Vec<WithUser>| rows.into_iter().map(WithUser::record).collect(),
    };
    points::lookup("read a session", source, statement_timeout, records)
}

#[async_trait]
impl SessionReader for Transaction {
    async fn get(&mut self, id: SessionId) -> Result<Option<Session>> {
        self.fetch_one("read a session", Entity::find_by_id(id.as_uuid())).await
    }

    async fn with_user(&mut self, id: SessionId) -> Result<Option<(Session, User)>> {
        if let Some(lookups) = self.lookups() {
            return lookups.sessions.get(id).await;
        }
        let query = with_user().filter(Column::Id.eq(id.as_uuid()));
        let found = self.run("read a session", |db| Box::pin(query.one(db))).await?;
        let Some((session, Some(user))) = found else { return Ok(None) };
        Ok(Some((Session::from_row(session)?, User::from_row(user)?)))
    }

    async fn list(&mut self, filter: &SessionFilter, page: PageRequest) -> Result<Page<Session>> {
        let rows = Entity::find()
            .apply_if(filter.user, |rows, user| rows.filter(Column::UserId.eq(user.as_uuid())))
            .apply_if(filter.kind, |rows, kind| rows.filter(Column::Kind.eq(kind.name())))
            .apply_if(filter.valid_at, |rows, at| {
                let used = Column::LastUsedAt.gte(micros(at - PANEL_IDLE_TIMEOUT));
                let lifetime = Expr::col(Column::ExpiresAt).sub(Expr::col(Column::StartedAt));
                let lasts = lifetime.gt(BROWSER_SESSION_MAX.num_microseconds());
                rows.filter(Column::RevokedAt.is_null())
                    .filter(Column::ExpiresAt.gt(micros(at)))
                    .filter(Column::Kind.ne(SessionKind::Panel.name()).or(used).or(lasts))
            });
        self.list_newest("list sessions", rows, [Column::LastUsedAt, Column::Id], page).await
    }

    async fn addresses(&mut self, user: UserId, limit: u64) -> Result<Vec<IpAddr>> {
        let query = Entity::find()
            .select_only()
            .column(Column::Address)
            .filter(Column::UserId.eq(user.as_uuid()))
            .filter(Column::Address.is_not_null())
            .group_by(Column::Address)
            .order_by_desc(Column::LastUsedAt.max())
            .limit(limit)
            .into_tuple::<String>();
        let rows = self.run("read the addresses of an account", |db| Box::pin(query.all(db))).await?;
        rows.iter().filter_map(|text| address(Some(text)).transpose()).collect()
    }
}

#[async_trait]
impl SessionWriter for Transaction {
    async fn insert(&mut self, session: &Session) -> Result<()> {
        self.insert_record("add a session", session).await
    }

    async fn touch(&mut self, id: SessionId, at: DateTime<Utc>, expires_at: DateTime<Utc>) -> Result<bool> {
        let update = Entity::update_many()
            .col_expr(Column::LastUsedAt, latest(Column::LastUsedAt, at))
            .col_expr(Column::ExpiresAt, latest(Column::ExpiresAt, expires_at))
            .filter(Column::Id.eq(id.as_uuid()))
            .filter(Column::RevokedAt.is_null());
        Ok(self.update_rows("note the use of a session", update).await? > 0)
    }

    async fn verify(&mut self, id: SessionId, at: DateTime<Utc>) -> Result<bool> {
        let update = Entity::update_many()
            .col_expr(Column::VerifiedAt, latest(Column::VerifiedAt, at))
            .filter(Column::Id.eq(id.as_uuid()))
            .filter(Column::RevokedAt.is_null());
        Ok(self.update_rows("note a proof of identity", update).await? > 0)
    }

    async fn revoke(&mut self, id: SessionId, at: DateTime<Utc>) -> Result<bool> {
        let update = Entity::update_many()
            .col_expr(Column::RevokedAt, Expr::val(micros(at)))
            .filter(Column::Id.eq(id.as_uuid()))
            .filter(Column::RevokedAt.is_null());
        Ok(self.update_rows("revoke a session", update).await? > 0)
    }

    async fn revoke_for_user(&mut self, user: UserId, at: DateTime<Utc>) -> Result<Vec<SessionId>> {
        let update = Entity::update_many()
            .col_expr(Column::RevokedAt, Expr::val(micros(at)))
            .filter(Column::UserId.eq(user.as_uuid()))
            .filter(Column::RevokedAt.is_null());
        let rows =
            self.run("revoke an account's sessions", |db| Box::pin(update.exec_with_returning(db))).await?;
        Ok(rows.into_iter().map(|row| SessionId::from_uuid(row.id)).collect())
    }

    async fn purge(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64> {
        let ended = Condition::any()
            .add(Column::ExpiresAt.lt(micros(before)))
            .add(Column::RevokedAt.lt(micros(before)));
        self.purge::<Entity>("purge sessions", Column::Id, ended, limit).await
    }
}
