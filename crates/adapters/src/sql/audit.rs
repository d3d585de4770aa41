//! The audit log in SQL.

use super::{
    entities::audit_log::{Column, Entity},
    record::Record,
    transaction::Transaction,
    values::micros,
};
use async_trait::async_trait;
use docent_domain::{
    audit::AuditEntry,
    fault::Result,
    id::AuditId,
    listing::{AuditFilter, Page, PageRequest},
};
use docent_ports::audit::{AuditReader, AuditWriter};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, Select};

#[async_trait]
impl AuditReader for Transaction {
    async fn get(&mut self, id: AuditId) -> Result<Option<AuditEntry>> {
        let query = Entity::find_by_id(id.as_uuid());
        let row = self.run("read an entry of the audit log", |db| Box::pin(query.one(db))).await?;
        row.map(Record::from_row).transpose()
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
        self.listed("list the audit log", rows, order, page, Record::from_row).await
    }
}

#[async_trait]
impl AuditWriter for Transaction {
    async fn append(&mut self, entry: &AuditEntry) -> Result<()> {
        self.insert_record("write the audit log", entry).await
    }
}
