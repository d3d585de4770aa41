use crate::fault::corrupt;
use crate::record::{Record, all_columns};
use crate::values::{digest, instant, json, micros, of_json_text, stored};
use docent_domain::api_key::ApiKey;
use docent_domain::connection::{Connection, Resource};
use docent_domain::fault::Result;
use docent_domain::id::{ApiKeyId, CollectionId, TokenId, UserId};
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
    pub client: Option<String>,
    pub resource: Option<String>,
    pub refresh_token: Option<Uuid>,
    pub replaced_token: Option<Uuid>,
    pub refreshed_at: Option<i64>,
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
            collections: self.collections.as_ref().map(collections_text).transpose()?,
            client: self.connection.as_ref().map(|connection| connection.client.clone()),
            resource: self.connection.as_ref().map(|connection| connection.resource.name().to_owned()),
            refresh_token: self.connection.as_ref().map(|connection| connection.refresh_token.as_uuid()),
            replaced_token: self
                .connection
                .as_ref()
                .and_then(|connection| connection.replaced_token.map(TokenId::as_uuid)),
            refreshed_at: self.connection.as_ref().map(|connection| micros(connection.refreshed_at)),
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        let when = |micros| instant(micros, "API key's time");
        let connection = connection(&row)?;
        Ok(ApiKey {
            id: ApiKeyId::from_uuid(row.id),
            user: UserId::from_uuid(row.user_id),
            name: stored(row.name, "API key's name")?,
            prefix: stored(row.prefix, "API key's prefix")?,
            sha256: digest(&row.sha256, "API key's digest")?,
            collections: row.collections.as_deref().map(collections).transpose()?,
            scopes: stored(row.scopes, "API key's scopes")?,
            created_by: row.created_by.map(UserId::from_uuid),
            created_at: when(row.created_at)?,
            expires_at: row.expires_at.map(when).transpose()?,
            last_used_at: row.last_used_at.map(when).transpose()?,
            revoked_at: row.revoked_at.map(when).transpose()?,
            connection,
        })
    }
}

/// The connected application of a row, if it is one.
fn connection(row: &Model) -> Result<Option<Connection>> {
    let Some(client) = &row.client else { return Ok(None) };
    let missing = || corrupt("API key's connection");
    Ok(Some(Connection {
        client: client.clone(),
        resource: row.resource.as_deref().and_then(Resource::parse).ok_or_else(missing)?,
        refresh_token: TokenId::from_uuid(row.refresh_token.ok_or_else(missing)?),
        replaced_token: row.replaced_token.map(TokenId::from_uuid),
        refreshed_at: instant(row.refreshed_at.ok_or_else(missing)?, "API key's connection")?,
    }))
}

/// Column value of collections.
pub(super) fn collections_text(ids: &BTreeSet<CollectionId>) -> Result<String> {
    Ok(json(ids)?.to_string())
}

/// Collections of a column value.
pub(super) fn collections(text: &str) -> Result<BTreeSet<CollectionId>> {
    of_json_text(text, "API key's collections")
}
