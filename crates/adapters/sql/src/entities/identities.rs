use crate::record::{Record, all_columns};
use crate::values::{instant, micros};
use docent_domain::fault::Result;
use docent_domain::id::UserId;
use docent_domain::identity::Identity;
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "identities")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub issuer: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub subject: String,
    pub user_id: Uuid,
    pub email: Option<String>,
    pub created_at: i64,
    pub last_used_at: i64,
}

no_relations!();

impl Record for Identity {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        Ok(all_columns(Model {
            issuer: self.issuer.clone(),
            subject: self.subject.clone(),
            user_id: self.user.as_uuid(),
            email: self.email.clone(),
            created_at: micros(self.created_at),
            last_used_at: micros(self.last_used_at),
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        let when = |micros| instant(micros, "identity's time");
        Ok(Identity {
            issuer: row.issuer,
            subject: row.subject,
            user: UserId::from_uuid(row.user_id),
            email: row.email,
            created_at: when(row.created_at)?,
            last_used_at: when(row.last_used_at)?,
        })
    }
}
