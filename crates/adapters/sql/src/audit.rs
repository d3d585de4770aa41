//! The audit log in SQL.

use super::entities::audit_log::{Column, Entity};
use super::entities::{audit_removals, failed_logins};
use super::record::{Record, all_columns};
use super::transaction::Transaction;
use super::values::{counted, instant, micros};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::audit::AuditEntry;
use docent_domain::fault::Result;
use docent_domain::id::AuditId;
use docent_domain::listing::{AuditFilter, Page, PageRequest};
use docent_ports::audit::{AuditReader, AuditWriter, FailedLogins, NETWORKS_MAX, OTHER_NETWORKS};
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};

#[async_trait]
impl AuditReader for Transaction {
    async fn get(&mut self, id: AuditId) -> Result<Option<AuditEntry>> {
        let query = Entity::find_by_id(id.as_uuid());
        let row = self.run("read an entry of the audit log", |db| Box::pin(query.one(db))).await?;
        row.map(Record::from_row).transpose()
    }

    async fn oldest(
        &mut self,
        before: DateTime<Utc>,
        after: Option<(DateTime<Utc>, AuditId)>,
        limit: u64,
    ) -> Result<Vec<AuditEntry>> {
        let keys = || Expr::tuple([Expr::col(Column::At), Expr::col(Column::Id)]);
        let rows = Entity::find()
            .filter(Column::At.lt(micros(before)))
            .apply_if(after, |rows, (at, id)| {
                rows.filter(keys().gt(Expr::tuple([Expr::val(micros(at)), Expr::val(id.as_uuid())])))
            })
            .order_by_asc(Column::At)
            .order_by_asc(Column::Id)
            .limit(limit);
        self.fetch_all("read the audit log", rows).await
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

    async fn remove(&mut self, id: AuditId, at: DateTime<Utc>, before: DateTime<Utc>) -> Result<u64> {
        let removal = audit_removals::Model { id: id.as_uuid(), at: micros(at), before: micros(before) };
        let removal: audit_removals::ActiveModel = all_columns(removal);
        self.insert_rows("record a removal", audit_removals::Entity::insert(removal)).await?;
        let old = Entity::delete_many().filter(Column::At.lt(micros(before)));
        self.delete_rows("remove entries of the audit log", old).await
    }

    async fn count_failed_login(&mut self, network: &str, hour: DateTime<Utc>) -> Result<()> {
        use failed_logins::{ActiveModel, Column, Entity, Model};
        let hour = micros(hour);
        let more = || Expr::col((Entity, Column::Attempts)).add(1);
        let update = Entity::update_many()
            .col_expr(Column::Attempts, more())
            .filter(Column::Network.eq(network))
            .filter(Column::Hour.eq(hour));
        if self.update_rows("count a failed login", update).await? > 0 {
            return Ok(());
        }
        let networks = Entity::find().filter(Column::Hour.eq(hour));
        let networks = self.count_rows("count networks", networks).await?;
        let network = if networks < NETWORKS_MAX { network } else { OTHER_NETWORKS }.to_owned();
        let row: ActiveModel = all_columns(Model { network, hour, attempts: 1 });
        let mut conflict = OnConflict::columns([Column::Network, Column::Hour]);
        conflict.value(Column::Attempts, more());
        self.insert_rows("count a failed login", Entity::insert(row).on_conflict(conflict)).await.map(drop)
    }

    async fn take_failed_logins(&mut self, before: DateTime<Utc>) -> Result<Vec<FailedLogins>> {
        use failed_logins::{Column, Entity, Model};
        let is_over = Column::Hour.lt(micros(before));
        let rows =
            Entity::find().filter(is_over.clone()).order_by_asc(Column::Hour).order_by_asc(Column::Network);
        let rows = self.for_update(rows);
        let rows = self.run("read failed logins", |db| Box::pin(rows.all(db))).await?;
        self.delete_rows("remove failed logins", Entity::delete_many().filter(is_over)).await?;
        let taken = |Model { network, hour, attempts }: Model| {
            let (hour, attempts) = (instant(hour, "hour")?, counted(attempts, "number of failed logins")?);
            Ok(FailedLogins { network, hour, attempts })
        };
        rows.into_iter().map(taken).collect()
    }
}
