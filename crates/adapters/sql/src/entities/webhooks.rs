use crate::fault::corrupt;
use crate::record::{Record, all_columns};
use crate::values::{digest, instant, micros, stored};
use docent_domain::fault::Result;
use docent_domain::id::{UserId, WebhookId};
use docent_domain::webhook::{Webhook, WebhookSecret};
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "webhooks")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub owner_id: Uuid,
    pub url: String,
    pub description: String,
    pub events: String,
    pub all_documents: bool,
    pub is_active: bool,
    pub secret: Vec<u8>,
    pub previous_secret: Option<Vec<u8>>,
    pub previous_until: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
    pub lease_id: Option<Uuid>,
    pub held_until: i64,
}

no_relations!();

impl Record for Webhook {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        let previous = self.previous_secret.as_ref();
        Ok(all_columns(Model {
            id: self.id.as_uuid(),
            owner_id: self.owner.as_uuid(),
            url: self.url.as_str().to_owned(),
            description: self.description.as_str().to_owned(),
            events: self.events.to_string(),
            all_documents: self.all_documents,
            is_active: self.is_active,
            secret: self.secret.expose().to_vec(),
            previous_secret: previous.map(|(secret, _)| secret.expose().to_vec()),
            previous_until: previous.map(|(_, until)| micros(*until)),
            created_at: micros(self.created_at),
            updated_at: micros(self.updated_at),
            lease_id: None,
            held_until: 0,
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        let secret = |bytes: &[u8]| digest(bytes, "webhook's secret").map(WebhookSecret::from_bytes);
        let when = |micros| instant(micros, "webhook's time");
        let previous_secret = match (&row.previous_secret, row.previous_until) {
            (Some(bytes), Some(until)) => Some((secret(bytes)?, when(until)?)),
            (None, None) => None,
            _ => return Err(corrupt("webhook's secret")),
        };
        Ok(Webhook {
            id: WebhookId::from_uuid(row.id),
            owner: UserId::from_uuid(row.owner_id),
            url: stored(row.url, "webhook's address")?,
            description: stored(row.description, "webhook's description")?,
            events: stored(row.events, "webhook's events")?,
            all_documents: row.all_documents,
            is_active: row.is_active,
            secret: secret(&row.secret)?,
            previous_secret,
            created_at: when(row.created_at)?,
            updated_at: when(row.updated_at)?,
        })
    }
}
