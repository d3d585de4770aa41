use crate::fault::corrupt;
use crate::labels;
use crate::record::{Record, all_columns};
use crate::values::{digest, instant, micros};
use docent_domain::api_key::{ApiKey, ApiKeyName, ApiKeyPrefix, ApiKeyScopes};
use docent_domain::fault::Result;
use docent_domain::id::{ApiKeyId, CollectionId, UserId};
use sea_orm::entity::prelude::*;
use std::collections::BTreeSet;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "api_keys")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub user_id: Uuid,
    pub name: String,
    pub prefix: String,
    pub sha256: Vec<u8>,
    pub scopes: String,
    pub created_at: i64,
    pub expires_at: Option<i64>,
    pub last_used_at: Option<i64>,
    pub revoked_at: Option<i64>,
    pub created_by: Option<Uuid>,
    pub collections: Option<String>,
}

no_relations!();

impl Record for ApiKey {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        Ok(all_columns(Model {
            id: self.id.as_uuid(),
            user_id: self.user.as_uuid(),
            name: self.name.as_str().to_owned(),
            prefix: self.prefix.as_str().to_owned(),
            sha256: self.sha256.to_vec(),
            scopes: self.scopes.to_string(),
            created_at: micros(self.created_at),
            expires_at: self.expires_at.map(micros),
            last_used_at: self.last_used_at.map(micros),
            revoked_at: self.revoked_at.map(micros),
            created_by: self.created_by.map(UserId::as_uuid),
            collections: self.collections.as_ref().map(|ids| labels::ids_value(ids).to_string()),
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        let when = |micros| instant(micros, "API key's time");
        Ok(ApiKey {
            id: ApiKeyId::from_uuid(row.id),
            user: UserId::from_uuid(row.user_id),
            name: ApiKeyName::parse(&row.name).map_err(|_| corrupt("API key's name"))?,
            prefix: ApiKeyPrefix::parse(&row.prefix).map_err(|_| corrupt("API key's prefix"))?,
            sha256: digest(&row.sha256, "API key's digest")?,
            collections: row.collections.as_deref().map(collections).transpose()?,
            scopes: ApiKeyScopes::parse(row.scopes.split(' ')).map_err(|_| corrupt("API key's scopes"))?,
            created_by: row.created_by.map(UserId::from_uuid),
            created_at: when(row.created_at)?,
            expires_at: row.expires_at.map(when).transpose()?,
            last_used_at: row.last_used_at.map(when).transpose()?,
            revoked_at: row.revoked_at.map(when).transpose()?,
        })
    }
}

/// Collections of a column value.
fn collections(text: &str) -> Result<BTreeSet<CollectionId>> {
    let ids = serde_json::from_str(text).map_err(|_| corrupt("API key's collections"))?;
    labels::ids(&ids).ok_or_else(|| corrupt("API key's collections"))
}
