//! The audit log in SQL.

use super::entities::audit_log::{Column, Entity};
use super::record::Record;
use super::transaction::Transaction;
use super::values::micros;
use async_trait::async_trait;
use docent_domain::audit::AuditEntry;
use docent_domain::fault::Result;
use docent_domain::id::AuditId;
use docent_domain::listing::{AuditFilter, Page, PageRequest};
use docent_ports::audit::{AuditReader, AuditWriter};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryTrait};

#[async_trait]
impl AuditReader for Transaction {
    async fn get(&mut self, id: AuditId) -> Result<Option<AuditEntry>> {
        let query = Entity::find_by_id(id.as_uuid());
        let row = self.run("read an entry of the audit log", |db| Box::pin(query.one(db))).await?;
        row.map(Record::from_row).transpose()
    }

    async fn list(&mut self, filter: &AuditFilter, page: PageRequest) -> Result<Page<AuditEntry>> {
        let rows = Entity::find()
            .apply_if(filter.actor, |rows, user| rows.filter(Column::UserId.eq(user.as_uuid())))
            .apply_if(filter.action, |rows, action| rows.filter(Column::Deed.eq(action.name())))
            .apply_if(filter.kind, |rows, kind| rows.filter(Column::RecordKind.eq(kind.name())))
            .apply_if(filter.record.as_deref(), |rows, record| rows.filter(Column::RecordId.eq(record)))
            .apply_if(filter.period.from, |rows, from| rows.filter(Column::At.gte(micros(from))))
            .apply_if(filter.period.to, |rows, to| rows.filter(Column::At.lt(micros(to))));
        self.list_newest("list the audit log", rows, [Column::At, Column::Id], page).await
    }
}

#[async_trait]
impl AuditWriter for Transaction {
    async fn append(&mut self, entry: &AuditEntry) -> Result<()> {
        self.insert_record("write the audit log", entry).await
    }
}
