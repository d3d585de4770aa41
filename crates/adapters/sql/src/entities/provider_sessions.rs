use crate::record::{Record, all_columns};
use docent_domain::fault::Result;
use docent_domain::id::SessionId;
use docent_domain::identity::ProviderSession;
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "provider_sessions")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub session_id: Uuid,
    pub issuer: String,
    pub subject: String,
    pub provider_session: Option<String>,
    pub has_second_factor: bool,
    pub id_token: Option<String>,
}

no_relations!();

impl Record for ProviderSession {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        Ok(all_columns(Model {
            session_id: self.session.as_uuid(),
            issuer: self.issuer.clone(),
            subject: self.subject.clone(),
            provider_session: self.provider_session.clone(),
            has_second_factor: self.has_second_factor,
            id_token: self.id_token.clone(),
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        Ok(ProviderSession {
            session: SessionId::from_uuid(row.session_id),
            issuer: row.issuer,
            subject: row.subject,
            provider_session: row.provider_session,
            has_second_factor: row.has_second_factor,
            id_token: row.id_token,
        })
    }
}
