//! Webhooks in SQL.

use super::{
    entities::{
        webhook_deliveries as deliveries,
        webhooks::{ActiveModel, Column, Entity},
    },
    session::Session,
    values::{instant, micros},
    webhook_rows::{delivery, from_row, to_delivery_row, to_row},
};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::{
    id::{LeaseId, UserId, WebhookDeliveryId, WebhookId},
    webhook::{LeasedDelivery, Webhook, WebhookDelivery, WebhookEvent},
};
use docent_ports::{
    error::Result,
    page::{Page, PageRequest},
    webhooks::{DeliveryPosition, WebhookFilter, WebhookReader, WebhookWriter},
};
use sea_orm::{
    ColumnTrait, Condition, EntityTrait, NotSet, Order, QueryFilter, QueryOrder, QuerySelect, QueryTrait,
    Select, UpdateMany,
    sea_query::{Expr, ExprTrait, LockBehavior, LockType, Query, SelectStatement},
};

#[async_trait]
impl WebhookReader for Session {
    async fn get(&mut self, id: WebhookId) -> Result<Option<Webhook>> {
        let query = self.hold(Entity::find_by_id(id.as_uuid()));
        let row = self.run("read a webhook", |db| Box::pin(query.one(db))).await?;
        row.map(from_row).transpose()
    }

    async fn list(&mut self, filter: WebhookFilter, page: PageRequest) -> Result<Page<Webhook>> {
        let mut rows = Entity::find();
        if let Some(owner) = filter.owner {
            rows = rows.filter(Column::OwnerId.eq(owner.as_uuid()));
        }
        if let Some(is_active) = filter.is_active {
            rows = rows.filter(Column::IsActive.eq(is_active));
        }
        let order = |rows: Select<Entity>| rows.order_by_desc(Column::CreatedAt).order_by_desc(Column::Id);
        self.listed("list webhooks", rows, order, page, from_row).await
    }

    async fn delivery(&mut self, id: WebhookDeliveryId) -> Result<Option<WebhookDelivery>> {
        let query = self.hold(deliveries::Entity::find_by_id(id.as_uuid()));
        let row = self.run("read a delivery", |db| Box::pin(query.one(db))).await?;
        row.map(delivery).transpose()
    }

    async fn deliveries(
        &mut self,
        webhook: WebhookId,
        after: Option<DeliveryPosition>,
        page: PageRequest,
    ) -> Result<Page<WebhookDelivery>> {
        use deliveries::Column;
        let mut rows = deliveries::Entity::find().filter(Column::WebhookId.eq(webhook.as_uuid()));
        if let Some(after) = after {
            let created_at = micros(after.created_at);
            let same = Column::CreatedAt.eq(created_at).and(Column::Id.lt(after.id.as_uuid()));
            rows = rows.filter(Column::CreatedAt.lt(created_at).or(same));
        }
        let order = |rows: Select<deliveries::Entity>| {
            rows.order_by_desc(Column::CreatedAt).order_by_desc(Column::Id)
        };
        self.listed("list deliveries", rows, order, page, delivery).await
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
impl WebhookWriter for Session {
    async fn insert(&mut self, webhook: &Webhook) -> Result<bool> {
        // An id is made for each; that it is taken can be seen beforehand.
        if WebhookReader::get(self, webhook.id).await?.is_some() {
            return Ok(false);
        }
        let insert = Entity::insert(to_row(webhook));
        self.run("add a webhook", |db| Box::pin(insert.exec_without_returning(db))).await?;
        Ok(true)
    }

    async fn update(&mut self, webhook: &Webhook) -> Result<bool> {
        let values = ActiveModel { id: NotSet, owner_id: NotSet, created_at: NotSet, ..to_row(webhook) };
        let update = Entity::update_many().set(values).filter(Column::Id.eq(webhook.id.as_uuid()));
        let result = self.run("change a webhook", |db| Box::pin(update.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }

    async fn delete(&mut self, id: WebhookId) -> Result<bool> {
        // Its deliveries go with it, by the schema.
        let delete = Entity::delete_by_id(id.as_uuid());
        let result = self.run("remove a webhook", |db| Box::pin(delete.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }

    async fn subscribed(&mut self, owner: Option<UserId>, event: WebhookEvent) -> Result<Vec<WebhookId>> {
        let mut whose = Condition::any().add(Column::AllDocuments.eq(true));
        if let Some(owner) = owner {
            whose = whose.add(Column::OwnerId.eq(owner.as_uuid()));
        }
        let query = Entity::find().filter(Column::IsActive.eq(true)).filter(whose).order_by_asc(Column::Id);
        let rows = self.run("see which webhooks listen", |db| Box::pin(query.all(db))).await?;
        let webhooks: Vec<Webhook> = rows.into_iter().map(from_row).collect::<Result<_>>()?;
        let listening = webhooks.into_iter().filter(|webhook| webhook.events.contains(event));
        Ok(listening.map(|webhook| webhook.id).collect())
    }

    async fn add_delivery(&mut self, delivery: &WebhookDelivery) -> Result<()> {
        let insert = deliveries::Entity::insert(to_delivery_row(delivery));
        self.run("add a delivery", |db| Box::pin(insert.exec_without_returning(db))).await?;
        Ok(())
    }

    async fn change_delivery(&mut self, delivery: &WebhookDelivery, now: DateTime<Utc>) -> Result<bool> {
        // Holds the webhook, so that nobody leases it meanwhile.
        let free = Entity::find_by_id(delivery.webhook.as_uuid()).filter(is_free(now));
        let query = self.hold(free);
        if self.run("see whether a webhook is being told", |db| Box::pin(query.one(db))).await?.is_none() {
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
        let Some(webhook) = rows.into_iter().next().map(from_row).transpose()? else { return Ok(None) };
        let query = deliveries::Entity::find()
            .filter(deliveries::Column::WebhookId.eq(webhook.id.as_uuid()))
            .filter(deliveries::Column::DueAt.lte(micros(now)))
            .order_by_asc(deliveries::Column::DueAt)
            .order_by_asc(deliveries::Column::Id)
            .limit(1);
        let row = self.run("find a delivery that is due", |db| Box::pin(query.one(db))).await?;
        let delivery = row.map(delivery).transpose()?;
        if delivery.is_none() {
            // Somebody has settled it since the webhook was chosen.
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
        let result = self.run("purge deliveries", |db| Box::pin(delete.exec(db))).await?;
        Ok(result.rows_affected)
    }
}

impl Session {
    /// Ends a lease, and takes down when; false when it was lost.
    async fn release(&mut self, webhook: WebhookId, lease: LeaseId, now: DateTime<Utc>) -> Result<bool> {
        let update = held(webhook, lease)
            .col_expr(Column::LeaseId, Expr::val(None::<uuid::Uuid>))
            .col_expr(Column::HeldUntil, Expr::val(micros(now)));
        let result = self.run("let a webhook go", |db| Box::pin(update.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }

    async fn write_delivery(&mut self, delivery: &WebhookDelivery) -> Result<bool> {
        use deliveries::{ActiveModel, Column};
        let values = ActiveModel { id: NotSet, webhook_id: NotSet, ..to_delivery_row(delivery) };
        let update =
            deliveries::Entity::update_many().set(values).filter(Column::Id.eq(delivery.id.as_uuid()));
        let result = self.run("change a delivery", |db| Box::pin(update.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }
}

fn is_free(now: DateTime<Utc>) -> Condition {
    Condition::any().add(Column::LeaseId.is_null()).add(Column::HeldUntil.lte(micros(now)))
}

/// The id of the webhook whose turn it is. As with jobs, callers that lease at the same time each take another one
/// on PostgreSQL; those who add deliveries refer to webhooks without standing in the way.
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

/// A change that does nothing once the lease was lost.
fn held(webhook: WebhookId, lease: LeaseId) -> UpdateMany<Entity> {
    Entity::update_many().filter(Column::Id.eq(webhook.as_uuid())).filter(Column::LeaseId.eq(lease.as_uuid()))
}
