//! Webhooks, and what is on its way to them, in the relational store.

use crate::{
    error::Result,
    page::{Page, PageRequest},
};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::{
    id::{LeaseId, UserId, WebhookDeliveryId, WebhookId},
    webhook::{LeasedDelivery, Webhook, WebhookDelivery, WebhookEvent},
};

/// Which webhooks to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct WebhookFilter {
    /// Only this account's.
    pub owner: Option<UserId>,
    /// Only those that are on, or those that are off.
    pub is_active: Option<bool>,
}

/// A place in the log of a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryPosition {
    /// When the event there happened.
    pub created_at: DateTime<Utc>,
    /// The id of its delivery.
    pub id: WebhookDeliveryId,
}

/// Reads webhooks.
#[async_trait]
pub trait WebhookReader: Send {
    /// The webhook with this id.
    async fn get(&mut self, id: WebhookId) -> Result<Option<Webhook>>;

    /// Webhooks, newest first.
    async fn list(&mut self, filter: WebhookFilter, page: PageRequest) -> Result<Page<Webhook>>;

    /// The delivery with this id.
    async fn delivery(&mut self, id: WebhookDeliveryId) -> Result<Option<WebhookDelivery>>;

    /// What was and is to be told to a webhook, newest first, behind a place of that list.
    async fn deliveries(
        &mut self,
        webhook: WebhookId,
        after: Option<DeliveryPosition>,
        page: PageRequest,
    ) -> Result<Page<WebhookDelivery>>;

    /// When the next delivery of a webhook that is on is to be tried.
    async fn next_due(&mut self) -> Result<Option<DateTime<Utc>>>;
}

/// Reads and changes webhooks.
///
/// A lease fences: the end of a try names it, and does nothing once it was lost.
#[async_trait]
pub trait WebhookWriter: WebhookReader {
    /// Adds a webhook; `false`, and nothing added, when there is one with its id.
    ///
    /// # Errors
    /// When its owner does not exist.
    async fn insert(&mut self, webhook: &Webhook) -> Result<bool>;

    /// Writes what a webhook is at present, but for its owner and the time of its creation; says whether there
    /// was one with its id.
    async fn update(&mut self, webhook: &Webhook) -> Result<bool>;

    /// Removes a webhook with its deliveries; says whether there was one.
    async fn delete(&mut self, id: WebhookId) -> Result<bool>;

    /// The webhooks that are on and chose to be told of this event of a document of `owner`, in the order of
    /// their ids.
    async fn listeners(&mut self, owner: Option<UserId>, event: WebhookEvent) -> Result<Vec<WebhookId>>;

    /// Adds a delivery.
    ///
    /// # Errors
    /// When there is one with its id, or its webhook does not exist.
    async fn add_delivery(&mut self, delivery: &WebhookDelivery) -> Result<()>;

    /// Writes what became of a delivery that nobody holds a lease for, such as that it is to be sent again;
    /// `false`, and nothing written, when its webhook is leased at `now` or there is no such delivery.
    async fn change_delivery(&mut self, delivery: &WebhookDelivery, now: DateTime<Utc>) -> Result<bool>;

    /// Leases the webhook that was told something the longest time ago among those that are on and have a
    /// delivery that is due at `now`, and gives the delivery that has been due for the longest time. Until the
    /// lease ends at `until`, or is settled, nobody else gets a delivery of this webhook.
    async fn lease(
        &mut self,
        lease: LeaseId,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<LeasedDelivery>>;

    /// Ends a lease at `now` and writes what became of the delivery; `false`, and nothing written, when the lease
    /// was lost.
    async fn settle(
        &mut self,
        delivery: &WebhookDelivery,
        lease: LeaseId,
        now: DateTime<Utc>,
    ) -> Result<bool>;

    /// Removes at most `limit` deliveries that last changed before `before`; says how many.
    async fn purge_deliveries(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64>;
}
