//! Webhooks and their deliveries in the relational store.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::{LeaseId, UserId, WebhookDeliveryId, WebhookId};
use docent_domain::listing::{DeliveryPosition, Page, PageRequest, WebhookFilter};
use docent_domain::webhook::{LeasedDelivery, Webhook, WebhookDelivery, WebhookEvent};

/// Reads webhooks.
#[async_trait]
pub trait WebhookReader: Send {
    /// Returns the webhook with this ID.
    async fn get(&mut self, id: WebhookId) -> Result<Option<Webhook>>;

    /// Lists webhooks, newest first.
    async fn list(&mut self, filter: WebhookFilter, page: PageRequest) -> Result<Page<Webhook>>;

    /// Returns the delivery with this ID.
    async fn delivery(&mut self, id: WebhookDeliveryId) -> Result<Option<WebhookDelivery>>;

    /// Lists the deliveries of a webhook after a position, newest first.
    async fn deliveries(
        &mut self,
        webhook: WebhookId,
        after: Option<DeliveryPosition>,
        page: PageRequest,
    ) -> Result<Page<WebhookDelivery>>;

    /// Returns when the next attempt of any delivery of an enabled webhook is due.
    async fn next_due(&mut self) -> Result<Option<DateTime<Utc>>>;
}

/// Reads and changes webhooks.
///
/// Leases fence: the result of an attempt names the lease and has no effect once it was lost.
#[async_trait]
pub trait WebhookWriter: WebhookReader {
    /// Adds a webhook. Returns `false` without adding it if the ID exists.
    ///
    /// # Errors
    /// If the owner does not exist.
    async fn insert(&mut self, webhook: &Webhook) -> Result<bool>;

    /// Updates a webhook except for its owner and creation time. Returns whether it existed.
    async fn update(&mut self, webhook: &Webhook) -> Result<bool>;

    /// Deletes a webhook with its deliveries. Returns whether it existed.
    async fn delete(&mut self, id: WebhookId) -> Result<bool>;

    /// Returns the enabled webhooks subscribed to this event for documents of `owner`, in the order of their IDs.
    async fn subscribed(&mut self, owner: Option<UserId>, event: WebhookEvent) -> Result<Vec<WebhookId>>;

    /// Adds a delivery.
    ///
    /// # Errors
    /// If the ID exists, or the webhook does not exist.
    async fn add_delivery(&mut self, delivery: &WebhookDelivery) -> Result<()>;

    /// Updates a delivery without a lease, for example to resend it. Returns `false` without changing anything if its
    /// webhook is leased at `now` or the delivery does not exist.
    async fn change_delivery(&mut self, delivery: &WebhookDelivery, now: DateTime<Utc>) -> Result<bool>;

    /// Leases the least recently used enabled webhook with a delivery due at `now` and returns its delivery that has
    /// been due longest. Until the lease is settled or expires at `until`, no other caller gets a delivery of this
    /// webhook.
    async fn lease(
        &mut self,
        lease: LeaseId,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<LeasedDelivery>>;

    /// Ends a lease at `now` and updates the delivery. Returns `false` without changing anything if the lease was lost.
    async fn settle(
        &mut self,
        delivery: &WebhookDelivery,
        lease: LeaseId,
        now: DateTime<Utc>,
    ) -> Result<bool>;

    /// Removes at most `limit` deliveries last changed before `before`. Returns how many.
    async fn purge_deliveries(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64>;
}
