//! Sessions in SQL.

use super::{
    entities::sessions::{Column, Entity, Model},
    fault::corrupt,
    session::Session as Work,
    values::{address, instant, micros},
};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::{
    id::{SessionId, UserId},
    session::{PANEL_IDLE_TIMEOUT, Session, SessionKind},
};
use docent_ports::{
    error::Result,
    page::{Page, PageRequest},
    sessions::{SessionFilter, SessionReader, SessionWriter},
};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, Condition, EntityTrait, ExprTrait, IntoActiveModel, QueryFilter,
    QueryOrder, QuerySelect, QueryTrait, Select, sea_query::Expr,
};

#[async_trait]
impl SessionReader for Work {
    async fn get(&mut self, id: SessionId) -> Result<Option<Session>> {
        let query = self.hold(Entity::find_by_id(id.as_uuid()));
        let row = self.run("read a session", |db| Box::pin(query.one(db))).await?;
        row.map(from_row).transpose()
    }

    async fn list(&mut self, filter: &SessionFilter, page: PageRequest) -> Result<Page<Session>> {
        let mut rows = Entity::find();
        if let Some(user) = filter.user {
            rows = rows.filter(Column::UserId.eq(user.as_uuid()));
        }
        if let Some(kind) = filter.kind {
            rows = rows.filter(Column::Kind.eq(kind.name()));
        }
        if let Some(at) = filter.valid_at {
            let used = Column::LastUsedAt.gte(micros(at - PANEL_IDLE_TIMEOUT));
            rows = rows
                .filter(Column::RevokedAt.is_null())
                .filter(Column::ExpiresAt.gt(micros(at)))
                .filter(Column::Kind.ne(SessionKind::Panel.name()).or(used));
        }
        let order = |rows: Select<Entity>| rows.order_by_desc(Column::LastUsedAt).order_by_desc(Column::Id);
        self.listed("list sessions", rows, order, page, from_row).await
    }
}

#[async_trait]
impl SessionWriter for Work {
    async fn insert(&mut self, session: &Session) -> Result<()> {
        let row = Model {
            id: session.id.as_uuid(),
            user_id: session.user.as_uuid(),
            kind: session.kind.name().to_owned(),
            address: session.client_ip.map(|from| from.to_string()),
            agent: session.user_agent.clone(),
            started_at: micros(session.started_at),
            last_used_at: micros(session.last_used_at),
            expires_at: micros(session.expires_at),
            revoked_at: session.revoked_at.map(micros),
        };
        let insert = Entity::insert(row.into_active_model().reset_all());
        self.run("add a session", |db| Box::pin(insert.exec_without_returning(db))).await?;
        Ok(())
    }

    async fn touch(&mut self, id: SessionId, at: DateTime<Utc>, expires_at: DateTime<Utc>) -> Result<bool> {
        let later = |column: Column, at: DateTime<Utc>| {
            Expr::case(column.lt(micros(at)), micros(at)).finally(Expr::col(column))
        };
        let update = Entity::update_many()
            .col_expr(Column::LastUsedAt, later(Column::LastUsedAt, at).into())
            .col_expr(Column::ExpiresAt, later(Column::ExpiresAt, expires_at).into())
            .filter(Column::Id.eq(id.as_uuid()))
            .filter(Column::RevokedAt.is_null());
        let result = self.run("note the use of a session", |db| Box::pin(update.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }

    async fn revoke(&mut self, id: SessionId, at: DateTime<Utc>) -> Result<bool> {
        let update = Entity::update_many()
            .col_expr(Column::RevokedAt, Expr::val(micros(at)))
            .filter(Column::Id.eq(id.as_uuid()))
            .filter(Column::RevokedAt.is_null());
        let result = self.run("revoke a session", |db| Box::pin(update.exec(db))).await?;
        Ok(result.rows_affected > 0)
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
        let over = Condition::any()
            .add(Column::ExpiresAt.lt(micros(before)))
            .add(Column::RevokedAt.lt(micros(before)));
        let some = Entity::find().select_only().column(Column::Id).filter(over).limit(limit).into_query();
        let delete = Entity::delete_many().filter(Column::Id.in_subquery(some));
        let result = self.run("purge sessions", |db| Box::pin(delete.exec(db))).await?;
        Ok(result.rows_affected)
    }
}

fn from_row(row: Model) -> Result<Session> {
    let when = |micros| instant(micros, "session's time");
    Ok(Session {
        id: SessionId::from_uuid(row.id),
        user: UserId::from_uuid(row.user_id),
        kind: SessionKind::parse(&row.kind).ok_or_else(|| corrupt("session's kind"))?,
        client_ip: address(row.address.as_deref())?,
        user_agent: row.agent,
        started_at: when(row.started_at)?,
        last_used_at: when(row.last_used_at)?,
        expires_at: when(row.expires_at)?,
        revoked_at: row.revoked_at.map(when).transpose()?,
    })
}
