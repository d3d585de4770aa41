//! Webhooks in SQL.

use super::entities::webhook_deliveries as deliveries;
use super::entities::webhooks::{ActiveModel, Column, Entity};
use super::listing::is_after;
use super::record::Record;
use super::transaction::Transaction;
use super::values::{instant, micros};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::{LeaseId, UserId, WebhookDeliveryId, WebhookId};
use docent_domain::listing::{DeliveryPosition, Page, PageRequest, WebhookFilter};
use docent_domain::webhook::{LeasedDelivery, Webhook, WebhookDelivery, WebhookEvent};
use docent_ports::webhooks::{WebhookReader, WebhookWriter};
use sea_orm::sea_query::{Expr, ExprTrait, LockBehavior, LockType, Query, SelectStatement};
use sea_orm::{
    ColumnTrait, Condition, EntityTrait, NotSet, Order, QueryFilter, QueryOrder, QuerySelect, QueryTrait,
    UpdateMany,
};

#[async_trait]
impl WebhookReader for Transaction {
    async fn get(&mut self, id: WebhookId) -> Result<Option<Webhook>> {
        self.fetch_one("read a webhook", Entity::find_by_id(id.as_uuid())).await
    }

    async fn list(&mut self, filter: WebhookFilter, page: PageRequest) -> Result<Page<Webhook>> {
        let rows = Entity::find()
            .apply_if(filter.owner, |rows, owner| rows.filter(Column::OwnerId.eq(owner.as_uuid())))
            .apply_if(filter.is_active, |rows, is_active| rows.filter(Column::IsActive.eq(is_active)));
        self.list_newest("list webhooks", rows, [Column::CreatedAt, Column::Id], page).await
    }

    async fn delivery(&mut self, id: WebhookDeliveryId) -> Result<Option<WebhookDelivery>> {
        self.fetch_one("read a delivery", deliveries::Entity::find_by_id(id.as_uuid())).await
    }

    async fn deliveries(
        &mut self,
        webhook: WebhookId,
        after: Option<DeliveryPosition>,
        page: PageRequest,
    ) -> Result<Page<WebhookDelivery>> {
        use deliveries::Column;
        let keys = [Column::CreatedAt, Column::Id];
        let rows = deliveries::Entity::find().filter(Column::WebhookId.eq(webhook.as_uuid()));
        let rows = rows
            .apply_if(after, |rows, after| rows.filter(is_after(keys, after.created_at, after.id.as_uuid())));
        self.list_newest("list deliveries", rows, keys, page).await
    }

    async fn next_due(&mut self) -> Result<Option<DateTime<Utc>>> {
        let on = Entity::find().select_only().column(Column::Id).filter(Column::IsActive.eq(true));
        let query = deliveries::Entity::find()
            .select_only()
            .column_as(deliveries::Column::DueAt.min(), "next")
            .filter(deliveries::Column::DueAt.is_not_null())
            .filter(deliveries::Column::WebhookId.in_subquery(on.into_query()))
            .into_tuple::<Option<i64>>();
        let next = self.run("find when the next delivery is due", |db| Box::pin(query.one(db))).await?;
        next.flatten().map(|micros| instant(micros, "delivery's time")).transpose()
    }
}

#[async_trait]
impl WebhookWriter for Transaction {
    async fn insert(&mut self, webhook: &Webhook) -> Result<bool> {
        // IDs are generated, so a conflict can be checked before the insert.
        if WebhookReader::get(self, webhook.id).await?.is_some() {
            return Ok(false);
        }
        self.insert_record("add a webhook", webhook).await?;
        Ok(true)
    }

    async fn update(&mut self, webhook: &Webhook) -> Result<bool> {
        let values = ActiveModel {
            id: NotSet,
            owner_id: NotSet,
            created_at: NotSet,
            lease_id: NotSet,
            held_until: NotSet,
            ..webhook.to_row()?
        };
        let update = Entity::update_many().set(values).filter(Column::Id.eq(webhook.id.as_uuid()));
        Ok(self.update_rows("change a webhook", update).await? > 0)
    }

    async fn delete(&mut self, id: WebhookId) -> Result<bool> {
        // The schema deletes its deliveries.
        self.delete_by_id::<Entity>("remove a webhook", id.as_uuid()).await
    }

    async fn subscribed(&mut self, owner: Option<UserId>, event: WebhookEvent) -> Result<Vec<WebhookId>> {
        let whose = Condition::any()
            .add(Column::AllDocuments.eq(true))
            .add_option(owner.map(|owner| Column::OwnerId.eq(owner.as_uuid())));
        let query = Entity::find().filter(Column::IsActive.eq(true)).filter(whose).order_by_asc(Column::Id);
        let webhooks: Vec<Webhook> = self.fetch_all("find subscribed webhooks", query).await?;
        let listening = webhooks.into_iter().filter(|webhook| webhook.events.contains(event));
        Ok(listening.map(|webhook| webhook.id).collect())
    }

    async fn add_delivery(&mut self, delivery: &WebhookDelivery) -> Result<()> {
        self.insert_record("add a delivery", delivery).await
    }

    async fn change_delivery(&mut self, delivery: &WebhookDelivery, now: DateTime<Utc>) -> Result<bool> {
        // Locks the webhook, so that it is not leased meanwhile.
        let free = Entity::find_by_id(delivery.webhook.as_uuid()).filter(is_free(now));
        let query = self.for_update(free);
        if self.run("check that a webhook is not leased", |db| Box::pin(query.one(db))).await?.is_none() {
            return Ok(false);
        }
        self.write_delivery(delivery).await
    }

    async fn lease(
        &mut self,
        lease: LeaseId,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<LeasedDelivery>> {
        let update = Entity::update_many()
            .col_expr(Column::LeaseId, Expr::val(lease.as_uuid()))
            .col_expr(Column::HeldUntil, Expr::val(micros(until)))
            .filter(Expr::col(Column::Id).eq(next(now)));
        let rows = self.run("lease a webhook", |db| Box::pin(update.exec_with_returning(db))).await?;
        let Some(webhook) = rows.into_iter().next().map(Webhook::from_row).transpose()? else {
            return Ok(None);
        };
        let query = deliveries::Entity::find()
            .filter(deliveries::Column::WebhookId.eq(webhook.id.as_uuid()))
            .filter(deliveries::Column::DueAt.lte(micros(now)))
            .order_by_asc(deliveries::Column::DueAt)
            .order_by_asc(deliveries::Column::Id)
            .limit(1);
        let row = self.run("find a delivery that is due", |db| Box::pin(query.one(db))).await?;
        let delivery = row.map(WebhookDelivery::from_row).transpose()?;
        if delivery.is_none() {
            // It was settled after the webhook was selected.
            self.release(webhook.id, lease, now).await?;
        }
        Ok(delivery.map(|delivery| LeasedDelivery { lease, webhook, delivery }))
    }

    async fn settle(
        &mut self,
        delivery: &WebhookDelivery,
        lease: LeaseId,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        if !self.release(delivery.webhook, lease, now).await? {
            return Ok(false);
        }
        self.write_delivery(delivery).await?;
        Ok(true)
    }

    async fn purge_deliveries(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64> {
        use deliveries::Column;
        let old = deliveries::Entity::find()
            .select_only()
            .column(Column::Id)
            .filter(Column::UpdatedAt.lt(micros(before)))
            .limit(limit)
            .into_query();
        let delete = deliveries::Entity::delete_many().filter(Column::Id.in_subquery(old));
        self.delete_rows("purge deliveries", delete).await
    }
}

impl Transaction {
    /// Ends a lease and stores the time; false if the lease was lost.
    async fn release(&mut self, webhook: WebhookId, lease: LeaseId, now: DateTime<Utc>) -> Result<bool> {
        let update = with_lease(webhook, lease)
            .col_expr(Column::LeaseId, Expr::val(None::<uuid::Uuid>))
            .col_expr(Column::HeldUntil, Expr::val(micros(now)));
        Ok(self.update_rows("release a webhook", update).await? > 0)
    }

    async fn write_delivery(&mut self, delivery: &WebhookDelivery) -> Result<bool> {
        use deliveries::{ActiveModel, Column};
        let values = ActiveModel { id: NotSet, webhook_id: NotSet, ..delivery.to_row()? };
        let update =
            deliveries::Entity::update_many().set(values).filter(Column::Id.eq(delivery.id.as_uuid()));
        Ok(self.update_rows("change a delivery", update).await? > 0)
    }
}

fn is_free(now: DateTime<Utc>) -> Condition {
    Condition::any().add(Column::LeaseId.is_null()).add(Column::HeldUntil.lte(micros(now)))
}

/// The id of the next webhook. As with jobs, concurrent callers on PostgreSQL take different ones. The lock permits
/// inserts of deliveries, which reference the row.
fn next(now: DateTime<Utc>) -> Expr {
    let due: SelectStatement = deliveries::Entity::find()
        .select_only()
        .column(deliveries::Column::WebhookId)
        .filter(deliveries::Column::DueAt.lte(micros(now)))
        .into_query();
    let select = Query::select()
        .column(Column::Id)
        .from(Entity)
        .and_where(Column::IsActive.eq(true))
        .cond_where(is_free(now))
        .and_where(Expr::col(Column::Id).in_subquery(due))
        .order_by(Column::HeldUntil, Order::Asc)
        .order_by(Column::Id, Order::Asc)
        .limit(1)
        .lock_with_behavior(LockType::NoKeyUpdate, LockBehavior::SkipLocked)
        .take();
    Expr::SubQuery(None, Box::new(select.into()))
}

/// An update that matches nothing once the lease is lost.
fn with_lease(webhook: WebhookId, lease: LeaseId) -> UpdateMany<Entity> {
    Entity::update_many().filter(Column::Id.eq(webhook.as_uuid())).filter(Column::LeaseId.eq(lease.as_uuid()))
}
