//! Webhooks in memory.

use super::{Kept, Transaction, insert_once, newest_page, violation};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::{LeaseId, UserId, WebhookDeliveryId, WebhookId};
use docent_domain::listing::{DeliveryPosition, Page, PageRequest, WebhookFilter};
use docent_domain::webhook::{DeliveryState, LeasedDelivery, Webhook, WebhookDelivery, WebhookEvent};
use docent_ports::webhooks::{WebhookReader, WebhookWriter};

#[async_trait]
impl WebhookReader for Transaction {
    async fn get(&mut self, id: WebhookId) -> Result<Option<Webhook>> {
        Ok(self.read()?.webhooks.get(&id).map(|kept| kept.webhook.clone()))
    }

    async fn list(&mut self, filter: WebhookFilter, page: PageRequest) -> Result<Page<Webhook>> {
        let fits = |webhook: &&Webhook| {
            filter.owner.is_none_or(|owner| webhook.owner == owner)
                && filter.is_active.is_none_or(|is_active| webhook.is_active == is_active)
        };
        let all = self.read()?.webhooks.values().map(|kept| &kept.webhook);
        let found: Vec<Webhook> = all.filter(fits).cloned().collect();
        Ok(newest_page(found, |webhook| (webhook.created_at, webhook.id), page))
    }

    async fn delivery(&mut self, id: WebhookDeliveryId) -> Result<Option<WebhookDelivery>> {
        Ok(self.read()?.deliveries.get(&id).cloned())
    }

    async fn deliveries(
        &mut self,
        webhook: WebhookId,
        after: Option<DeliveryPosition>,
        page: PageRequest,
    ) -> Result<Page<WebhookDelivery>> {
        let fits = |delivery: &&WebhookDelivery| {
            delivery.webhook == webhook
                && after.is_none_or(|after| (delivery.created_at, delivery.id) < (after.created_at, after.id))
        };
        let found: Vec<WebhookDelivery> = self.read()?.deliveries.values().filter(fits).cloned().collect();
        Ok(newest_page(found, |delivery| (delivery.created_at, delivery.id), page))
    }

    async fn next_due(&mut self) -> Result<Option<DateTime<Utc>>> {
        let tables = self.read()?;
        let is_on = |delivery: &&WebhookDelivery| {
            tables.webhooks.get(&delivery.webhook).is_some_and(|kept| kept.webhook.is_active)
        };
        let on = tables.deliveries.values().filter(is_on);
        Ok(on.filter_map(|delivery| delivery.state.next_attempt()).min())
    }
}

#[async_trait]
impl WebhookWriter for Transaction {
    async fn insert(&mut self, webhook: &Webhook) -> Result<bool> {
        self.write(|tables| {
            tables.check_owner(webhook.owner)?;
            if tables.webhooks.contains_key(&webhook.id) {
                return Ok(false);
            }
            let kept = Kept { webhook: webhook.clone(), lease: None, until: None };
            tables.webhooks.insert(webhook.id, kept);
            Ok(true)
        })
    }

    async fn update(&mut self, webhook: &Webhook) -> Result<bool> {
        self.write(|tables| {
            let Some(kept) = tables.webhooks.get_mut(&webhook.id) else { return Ok(false) };
            let (owner, created_at) = (kept.webhook.owner, kept.webhook.created_at);
            kept.webhook = Webhook { owner, created_at, ..webhook.clone() };
            Ok(true)
        })
    }

    async fn delete(&mut self, id: WebhookId) -> Result<bool> {
        self.write(|tables| {
            tables.deliveries.retain(|_, delivery| delivery.webhook != id);
            Ok(tables.webhooks.remove(&id).is_some())
        })
    }

    async fn subscribed(&mut self, owner: Option<UserId>, event: WebhookEvent) -> Result<Vec<WebhookId>> {
        let listens = |webhook: &&Webhook| {
            webhook.is_active
                && webhook.events.contains(event)
                && (webhook.all_documents || Some(webhook.owner) == owner)
        };
        let all = self.read()?.webhooks.values().map(|kept| &kept.webhook);
        Ok(all.filter(listens).map(|webhook| webhook.id).collect())
    }

    async fn add_delivery(&mut self, delivery: &WebhookDelivery) -> Result<()> {
        self.write(|tables| {
            if !tables.webhooks.contains_key(&delivery.webhook) {
                return Err(violation("the delivery's webhook does not exist"));
            }
            insert_once(&mut tables.deliveries, delivery.id, delivery)
        })
    }

    async fn change_delivery(&mut self, delivery: &WebhookDelivery, now: DateTime<Utc>) -> Result<bool> {
        self.write(|tables| {
            let is_free = tables.webhooks.get(&delivery.webhook).is_some_and(|kept| kept.is_free(now));
            match tables.deliveries.get_mut(&delivery.id).filter(|_| is_free) {
                Some(known) => {
                    *known = delivery.clone();
                    Ok(true)
                }
                None => Ok(false),
            }
        })
    }

    async fn lease(
        &mut self,
        lease: LeaseId,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<LeasedDelivery>> {
        self.write(|tables| {
            let due = |delivery: &&WebhookDelivery| {
                matches!(delivery.state, DeliveryState::Pending(at) if at <= now)
            };
            let next = |webhook: WebhookId| {
                let of_it = tables.deliveries.values().filter(due).filter(|one| one.webhook == webhook);
                of_it.min_by_key(|delivery| (delivery.state.next_attempt(), delivery.id)).cloned()
            };
            let free = tables.webhooks.values_mut().filter(|kept| kept.webhook.is_active && kept.is_free(now));
            let due = free.filter_map(|kept| Some((next(kept.webhook.id)?, kept)));
            let Some((delivery, kept)) = due.min_by_key(|(_, kept)| (kept.until, kept.webhook.id)) else {
                return Ok(None);
            };
            (kept.lease, kept.until) = (Some(lease), Some(until));
            Ok(Some(LeasedDelivery { lease, webhook: kept.webhook.clone(), delivery }))
        })
    }

    async fn settle(
        &mut self,
        delivery: &WebhookDelivery,
        lease: LeaseId,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        self.write(|tables| {
            let held = tables.webhooks.get_mut(&delivery.webhook).filter(|kept| kept.lease == Some(lease));
            let Some(kept) = held else { return Ok(false) };
            (kept.lease, kept.until) = (None, Some(now));
            if let Some(known) = tables.deliveries.get_mut(&delivery.id) {
                *known = delivery.clone();
            }
            Ok(true)
        })
    }

    async fn purge_deliveries(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64> {
        self.write(|tables| {
            let old = tables.deliveries.values().filter(|delivery| delivery.updated_at < before);
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let ids: Vec<WebhookDeliveryId> = old.map(|delivery| delivery.id).take(limit).collect();
            tables.deliveries.retain(|id, _| !ids.contains(id));
            Ok(ids.len() as u64)
        })
    }
}

impl Kept {
    fn is_free(&self, now: DateTime<Utc>) -> bool {
        self.lease.is_none() || self.until.is_none_or(|until| until <= now)
    }
}
