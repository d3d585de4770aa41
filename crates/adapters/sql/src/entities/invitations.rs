use crate::record::{Record, all_columns};
use crate::values::{digest, instant, json, micros, of_json, stored};
use docent_domain::fault::Result;
use docent_domain::id::{InvitationId, UserId};
use docent_domain::invitation::{Invitation, InvitedAccess};
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "invitations")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub email: String,
    pub groups: Json,
    pub collections: Json,
    pub invited_by: Option<Uuid>,
    pub is_emailed: bool,
    pub sha256: Vec<u8>,
    pub created_at: i64,
    pub expires_at: i64,
}

no_relations!();

impl Record for Invitation {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        let InvitedAccess { groups, collections } = &self.access;
        Ok(all_columns(Model {
            id: self.id.as_uuid(),
            email: self.email.as_str().to_owned(),
            groups: json(groups)?,
            collections: json(collections)?,
            invited_by: self.invited_by.map(UserId::as_uuid),
            is_emailed: self.is_emailed,
            sha256: self.sha256.to_vec(),
            created_at: micros(self.created_at),
            expires_at: micros(self.expires_at),
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        let when = |micros| instant(micros, "invitation's time");
        Ok(Invitation {
            id: InvitationId::from_uuid(row.id),
            email: stored(row.email, "invitation's email address")?,
            access: InvitedAccess {
                groups: of_json(row.groups, "invitation's groups")?,
                collections: of_json(row.collections, "invitation's collections")?,
            },
            invited_by: row.invited_by.map(UserId::from_uuid),
            is_emailed: row.is_emailed,
            sha256: digest(&row.sha256, "invitation's digest")?,
            created_at: when(row.created_at)?,
            expires_at: when(row.expires_at)?,
        })
    }
}
