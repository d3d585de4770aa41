use crate::fault::corrupt;
use crate::record::{Record, all_columns};
use crate::values::{digest, instant, micros};
use docent_domain::fault::Result;
use docent_domain::id::{UserId, VerificationId};
use docent_domain::text::Email;
use docent_domain::verification::{VerificationPurpose, VerificationToken};
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "verification_tokens")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub user_id: Uuid,
    pub purpose: String,
    pub sha256: Vec<u8>,
    pub created_at: i64,
    pub expires_at: i64,
    pub new_email: Option<String>,
}

no_relations!();

impl Record for VerificationToken {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        Ok(all_columns(Model {
            id: self.id.as_uuid(),
            user_id: self.user.as_uuid(),
            purpose: self.purpose.name().to_owned(),
            sha256: self.sha256.to_vec(),
            created_at: micros(self.created_at),
            expires_at: micros(self.expires_at),
            new_email: self.new_email.as_ref().map(|email| email.as_str().to_owned()),
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        let when = |micros| instant(micros, "verification token's time");
        Ok(VerificationToken {
            id: VerificationId::from_uuid(row.id),
            user: UserId::from_uuid(row.user_id),
            purpose: VerificationPurpose::parse(&row.purpose)
                .ok_or_else(|| corrupt("verification token's purpose"))?,
            new_email: (row.new_email.as_deref().map(Email::parse).transpose())
                .map_err(|_| corrupt("verification token's new email address"))?,
            sha256: digest(&row.sha256, "verification token's digest")?,
            created_at: when(row.created_at)?,
            expires_at: when(row.expires_at)?,
        })
    }
}
