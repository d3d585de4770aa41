use super::api_keys::{collections, collections_text};
use crate::fault::corrupt;
use crate::record::{Record, all_columns};
use crate::values::{digest, instant, micros, stored};
use docent_domain::client_uri::RedirectUri;
use docent_domain::fault::Result;
use docent_domain::id::{ApiKeyId, AuthorizationCodeId, UserId};
use docent_domain::oauth::{AuthorizationCode, CodeChallenge};
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_codes")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub sha256: Vec<u8>,
    pub user_id: Uuid,
    pub client: String,
    pub name: String,
    pub redirect_uri: String,
    pub challenge: String,
    pub resource: String,
    pub scopes: String,
    pub collections: Option<String>,
    pub api_key_id: Uuid,
    pub created_at: i64,
    pub expires_at: i64,
    pub used_at: Option<i64>,
}

no_relations!();

impl Record for AuthorizationCode {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        Ok(all_columns(Model {
            id: self.id.as_uuid(),
            sha256: self.sha256.to_vec(),
            user_id: self.user.as_uuid(),
            client: self.client.clone(),
            name: self.name.as_str().to_owned(),
            redirect_uri: self.redirect_uri.as_str().to_owned(),
            challenge: self.challenge.as_str().to_owned(),
            resource: self.resource.name().to_owned(),
            scopes: self.scopes.to_string(),
            collections: self.collections.as_ref().map(collections_text).transpose()?,
            api_key_id: self.api_key.as_uuid(),
            created_at: micros(self.created_at),
            expires_at: micros(self.expires_at),
            used_at: self.used_at.map(micros),
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        let when = |micros| instant(micros, "authorization code's time");
        Ok(AuthorizationCode {
            id: AuthorizationCodeId::from_uuid(row.id),
            sha256: digest(&row.sha256, "authorization code's digest")?,
            user: UserId::from_uuid(row.user_id),
            client: row.client,
            name: stored(row.name, "authorization code's name")?,
            redirect_uri: RedirectUri::parse(&row.redirect_uri)
                .map_err(|_| corrupt("authorization code's URI"))?,
            challenge: CodeChallenge::parse(&row.challenge)
                .map_err(|_| corrupt("authorization code's challenge"))?,
            resource: stored(row.resource, "authorization code's resource")?,
            scopes: stored(row.scopes, "authorization code's scopes")?,
            collections: row.collections.as_deref().map(collections).transpose()?,
            api_key: ApiKeyId::from_uuid(row.api_key_id),
            created_at: when(row.created_at)?,
            expires_at: when(row.expires_at)?,
            used_at: row.used_at.map(when).transpose()?,
        })
    }
}
