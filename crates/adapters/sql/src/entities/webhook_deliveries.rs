use crate::fault::corrupt;
use crate::record::{Record, all_columns};
use crate::values::{counted, instant, micros};
use docent_domain::fault::Result;
use docent_domain::id::{DocumentId, WebhookDeliveryId, WebhookId};
use docent_domain::webhook::{DeliveryState, WebhookDelivery, WebhookEvent};
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "webhook_deliveries")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub webhook_id: Uuid,
    pub event: String,
    pub document_id: Option<Uuid>,
    pub body: String,
    pub state: String,
    pub due_at: Option<i64>,
    pub attempts: i64,
    pub last_status: Option<i64>,
    pub last_error: Option<String>,
    pub created_at: i64,
    pub updated_at: i64,
}

no_relations!();

impl Record for WebhookDelivery {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        Ok(all_columns(Model {
            id: self.id.as_uuid(),
            webhook_id: self.webhook.as_uuid(),
            event: self.event.name().to_owned(),
            document_id: self.document.map(DocumentId::as_uuid),
            body: self.body.clone(),
            state: self.state.name().to_owned(),
            due_at: self.state.next_attempt().map(micros),
            attempts: i64::from(self.attempts),
            last_status: self.last_status.map(i64::from),
            last_error: self.last_error.clone(),
            created_at: micros(self.created_at),
            updated_at: micros(self.updated_at),
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        let when = |micros| instant(micros, "delivery's time");
        let state = match (row.state.as_str(), row.due_at) {
            ("pending", Some(at)) => DeliveryState::Pending(when(at)?),
            ("delivered", None) => DeliveryState::Delivered,
            ("failed", None) => DeliveryState::Failed,
            _ => return Err(corrupt("delivery's state")),
        };
        Ok(WebhookDelivery {
            id: WebhookDeliveryId::from_uuid(row.id),
            webhook: WebhookId::from_uuid(row.webhook_id),
            event: WebhookEvent::parse(&row.event).ok_or_else(|| corrupt("delivery's event"))?,
            document: row.document_id.map(DocumentId::from_uuid),
            body: row.body,
            state,
            attempts: counted(row.attempts, "delivery's counter")?,
            last_status: row.last_status.map(|status| counted(status, "delivery's status")).transpose()?,
            last_error: row.last_error,
            created_at: when(row.created_at)?,
            updated_at: when(row.updated_at)?,
        })
    }
}
