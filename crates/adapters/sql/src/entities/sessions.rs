use crate::fault::corrupt;
use crate::record::{Record, all_columns};
use crate::values::{address, instant, micros};
use docent_domain::fault::Result;
use docent_domain::id::{SessionId, UserId};
use docent_domain::session::{Session, SessionKind};
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "sessions")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub user_id: Uuid,
    pub kind: String,
    pub address: Option<String>,
    pub agent: Option<String>,
    pub started_at: i64,
    pub last_used_at: i64,
    pub verified_at: i64,
    pub expires_at: i64,
    pub revoked_at: Option<i64>,
}

no_relations!();

impl Record for Session {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        Ok(all_columns(Model {
            id: self.id.as_uuid(),
            user_id: self.user.as_uuid(),
            kind: self.kind.name().to_owned(),
            address: self.client_ip.map(|address| address.to_string()),
            agent: self.user_agent.clone(),
            started_at: micros(self.started_at),
            last_used_at: micros(self.last_used_at),
            verified_at: micros(self.verified_at),
            expires_at: micros(self.expires_at),
            revoked_at: self.revoked_at.map(micros),
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        let when = |micros| instant(micros, "session's time");
        Ok(Session {
            id: SessionId::from_uuid(row.id),
            user: UserId::from_uuid(row.user_id),
            kind: SessionKind::parse(&row.kind).ok_or_else(|| corrupt("session's kind"))?,
            client_ip: address(row.address.as_deref())?,
            user_agent: row.agent,
            started_at: when(row.started_at)?,
            last_used_at: when(row.last_used_at)?,
            verified_at: when(row.verified_at)?,
            expires_at: when(row.expires_at)?,
            revoked_at: row.revoked_at.map(when).transpose()?,
        })
    }
}
