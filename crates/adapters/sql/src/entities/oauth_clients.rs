use crate::fault::corrupt;
use crate::record::{Record, all_columns};
use crate::values::{instant, micros, stored};
use docent_domain::client_uri::RedirectUri;
use docent_domain::fault::Result;
use docent_domain::id::OAuthClientId;
use docent_domain::oauth::RegisteredClient;
use sea_orm::entity::prelude::*;
use serde_json::json;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_clients")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub name: String,
    pub redirect_uris: String,
    pub created_at: i64,
    pub last_used_at: Option<i64>,
}

no_relations!();

impl Record for RegisteredClient {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        let uris: Vec<&str> = self.redirect_uris.iter().map(RedirectUri::as_str).collect();
        Ok(all_columns(Model {
            id: self.id.as_uuid(),
            name: self.name.as_str().to_owned(),
            redirect_uris: json!(uris).to_string(),
            created_at: micros(self.created_at),
            last_used_at: self.last_used_at.map(micros),
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        let when = |micros| instant(micros, "OAuth client's time");
        let uris: Vec<String> =
            serde_json::from_str(&row.redirect_uris).map_err(|_| corrupt("OAuth client's URIs"))?;
        let uris: Result<Vec<RedirectUri>, _> = uris.iter().map(|uri| RedirectUri::parse(uri)).collect();
        Ok(RegisteredClient {
            id: OAuthClientId::from_uuid(row.id),
            name: stored(row.name, "OAuth client's name")?,
            redirect_uris: uris.map_err(|_| corrupt("OAuth client's URIs"))?,
            created_at: when(row.created_at)?,
            last_used_at: row.last_used_at.map(when).transpose()?,
        })
    }
}
