//! The audit log in SQL.

use super::{
    entities::audit_log::{Column, Entity, Model},
    fault::corrupt,
    session::Session,
    values::{address, instant, micros},
};
use async_trait::async_trait;
use docent_domain::{
    audit::{AuditAction, AuditActor, AuditEntry, Change},
    id::{ApiKeyId, AuditId, UserId},
    permission::RecordKind,
};
use docent_ports::{
    audit::{AuditFilter, AuditReader, AuditWriter},
    error::Result,
    page::{Page, PageRequest},
};
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, Select};
use serde_json::{Map, Value, json};

const USER: &str = "user";
const COMMAND_LINE: &str = "command_line";
const NOBODY: &str = "nobody";

#[async_trait]
impl AuditReader for Session {
    async fn get(&mut self, id: AuditId) -> Result<Option<AuditEntry>> {
        let query = Entity::find_by_id(id.as_uuid());
        let row = self.run("read an entry of the audit log", |db| Box::pin(query.one(db))).await?;
        row.map(from_row).transpose()
    }

    async fn list(&mut self, filter: &AuditFilter, page: PageRequest) -> Result<Page<AuditEntry>> {
        let mut rows = Entity::find();
        if let Some(user) = filter.actor {
            rows = rows.filter(Column::UserId.eq(user.as_uuid()));
        }
        if let Some(action) = filter.action {
            rows = rows.filter(Column::Deed.eq(action.name()));
        }
        if let Some(kind) = filter.kind {
            rows = rows.filter(Column::RecordKind.eq(kind.name()));
        }
        if let Some(record) = &filter.record {
            rows = rows.filter(Column::RecordId.eq(record.as_str()));
        }
        if let Some(from) = filter.period.from {
            rows = rows.filter(Column::At.gte(micros(from)));
        }
        if let Some(to) = filter.period.to {
            rows = rows.filter(Column::At.lt(micros(to)));
        }
        let order = |rows: Select<Entity>| rows.order_by_desc(Column::At).order_by_desc(Column::Id);
        self.listed("list the audit log", rows, order, page, from_row).await
    }
}

#[async_trait]
impl AuditWriter for Session {
    async fn append(&mut self, entry: &AuditEntry) -> Result<()> {
        let (author, user, email, key) = match &entry.actor {
            AuditActor::User { id, email, api_key } => (USER, Some(*id), Some(email.clone()), *api_key),
            AuditActor::CommandLine => (COMMAND_LINE, None, None, None),
            AuditActor::Unauthenticated => (NOBODY, None, None, None),
        };
        let row = Model {
            id: entry.id.as_uuid(),
            at: micros(entry.at),
            author: author.to_owned(),
            user_id: user.map(UserId::as_uuid),
            user_email: email,
            api_key_id: key.map(ApiKeyId::as_uuid),
            address: entry.client_ip.map(|from| from.to_string()),
            deed: entry.action.name().to_owned(),
            record_kind: entry.kind.name().to_owned(),
            record_id: entry.record.clone(),
            record_label: entry.label.clone(),
            changes: changes_value(entry),
        };
        let insert = Entity::insert(row.into_active_model().reset_all());
        self.run("write the audit log", |db| Box::pin(insert.exec_without_returning(db))).await?;
        Ok(())
    }
}

/// `{"field": ["before", "after"]}`, with null for none.
fn changes_value(entry: &AuditEntry) -> Value {
    let changes = entry.changes.iter();
    let pairs = changes.map(|(field, change)| (field.clone(), json!([change.before, change.after])));
    Value::Object(pairs.collect::<Map<_, _>>())
}

fn change(value: &Value) -> Option<Change> {
    let text = |value: &Value| match value {
        Value::Null => Some(None),
        Value::String(text) => Some(Some(text.clone())),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    };
    match value.as_array()?.as_slice() {
        [before, after] => Some(Change { before: text(before)?, after: text(after)? }),
        _ => None,
    }
}

pub(super) fn from_row(row: Model) -> Result<AuditEntry> {
    let actor = match (row.author.as_str(), row.user_id, row.user_email) {
        (USER, Some(id), Some(email)) => AuditActor::User {
            id: UserId::from_uuid(id),
            email,
            api_key: row.api_key_id.map(ApiKeyId::from_uuid),
        },
        (COMMAND_LINE, ..) => AuditActor::CommandLine,
        (NOBODY, ..) => AuditActor::Unauthenticated,
        _ => return Err(corrupt("audit log's author")),
    };
    let changes = row.changes.as_object().ok_or_else(|| corrupt("audit log's changes"))?;
    let changes = changes.iter().map(|(field, value)| Some((field.clone(), change(value)?)));
    Ok(AuditEntry {
        id: AuditId::from_uuid(row.id),
        at: instant(row.at, "audit log's time")?,
        actor,
        client_ip: address(row.address.as_deref())?,
        action: AuditAction::parse(&row.deed).ok_or_else(|| corrupt("audit log's deed"))?,
        kind: RecordKind::parse(&row.record_kind).ok_or_else(|| corrupt("audit log's kind of record"))?,
        record: row.record_id,
        label: row.record_label,
        changes: changes.collect::<Option<_>>().ok_or_else(|| corrupt("audit log's changes"))?,
    })
}
