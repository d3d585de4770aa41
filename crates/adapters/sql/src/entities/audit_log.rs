use crate::fault::corrupt;
use crate::record::{Record, all_columns};
use crate::values::{address, instant, json, micros, of_json, stored};
use docent_domain::audit::{AuditActor, AuditEntry};
use docent_domain::fault::Result;
use docent_domain::id::{ApiKeyId, AuditId, UserId};
use sea_orm::entity::prelude::*;

const USER: &str = "user";
const COMMAND_LINE: &str = "command_line";
// The stored value. tidy: allow-word
const UNAUTHENTICATED: &str = "nobody";

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "audit_log")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub at: i64,
    pub author: String,
    pub user_id: Option<Uuid>,
    pub user_email: Option<String>,
    pub api_key_id: Option<Uuid>,
    pub address: Option<String>,
    pub deed: String,
    pub record_kind: String,
    pub record_id: String,
    pub record_label: String,
    pub changes: Json,
}

no_relations!();

impl Record for AuditEntry {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        let (author, user, email, key) = match &self.actor {
            AuditActor::User { id, email, api_key } => (USER, Some(*id), Some(email.clone()), *api_key),
            AuditActor::CommandLine => (COMMAND_LINE, None, None, None),
            AuditActor::Unauthenticated => (UNAUTHENTICATED, None, None, None),
        };
        Ok(all_columns(Model {
            id: self.id.as_uuid(),
            at: micros(self.at),
            author: author.to_owned(),
            user_id: user.map(UserId::as_uuid),
            user_email: email,
            api_key_id: key.map(ApiKeyId::as_uuid),
            address: self.client_ip.map(|address| address.to_string()),
            deed: self.action.name().to_owned(),
            record_kind: self.kind.name().to_owned(),
            record_id: self.record.clone(),
            record_label: self.label.clone(),
            changes: json(&self.changes)?,
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        let actor = match (row.author.as_str(), row.user_id, row.user_email) {
            (USER, Some(id), Some(email)) => AuditActor::User {
                id: UserId::from_uuid(id),
                email,
                api_key: row.api_key_id.map(ApiKeyId::from_uuid),
            },
            (COMMAND_LINE, ..) => AuditActor::CommandLine,
            (UNAUTHENTICATED, ..) => AuditActor::Unauthenticated,
            _ => return Err(corrupt("audit log's author")),
        };
        Ok(AuditEntry {
            id: AuditId::from_uuid(row.id),
            at: instant(row.at, "audit log's time")?,
            actor,
            client_ip: address(row.address.as_deref())?,
            action: stored(row.deed, "audit log's deed")?,
            kind: stored(row.record_kind, "audit log's kind of record")?,
            record: row.record_id,
            label: row.record_label,
            changes: of_json(row.changes, "audit log's changes")?,
        })
    }
}
