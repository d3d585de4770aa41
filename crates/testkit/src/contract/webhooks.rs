//! Contract of every repository of webhooks.

use super::records::{add_users, first};
use crate::builders::{at, delivery, id, user, webhook};
use docent_domain::id::{LeaseId, WebhookDeliveryId};
use docent_domain::listing::{DeliveryPosition, PageRequest, WebhookFilter};
use docent_domain::webhook::{
    DeliveryState, LeasedDelivery, Webhook, WebhookDelivery, WebhookDescription, WebhookEvent, WebhookEvents,
    WebhookSecret, WebhookUrl,
};
use docent_ports::store::Store;
use std::sync::Arc;

/// Writes these webhooks, of accounts that are there, and deliveries to them.
async fn add(store: &dyn Store, webhooks: &[Webhook], deliveries: &[WebhookDelivery]) {
    let mut unit = store.begin().await.unwrap();
    for webhook in webhooks {
        assert!(unit.webhooks().insert(webhook).await.unwrap());
    }
    for delivery in deliveries {
        unit.webhooks().add_delivery(delivery).await.unwrap();
    }
    unit.commit().await.unwrap();
}

async fn lease(store: &dyn Store, n: u32, now: i64, until: i64) -> Option<LeasedDelivery> {
    let mut unit = store.begin().await.unwrap();
    let leased = unit.webhooks().lease(id(n), at(now), at(until)).await.unwrap();
    unit.commit().await.unwrap();
    leased
}

async fn settle(store: &dyn Store, delivery: &WebhookDelivery, lease: LeaseId, now: i64) -> bool {
    let mut unit = store.begin().await.unwrap();
    let settled = unit.webhooks().settle(delivery, lease, at(now)).await.unwrap();
    unit.commit().await.unwrap();
    settled
}

fn ids(deliveries: &[WebhookDelivery]) -> Vec<WebhookDeliveryId> {
    deliveries.iter().map(|delivery| delivery.id).collect()
}

crate::battery! {
    webhooks_contract in webhooks (Arc<dyn Store>);

    async fn webhook_and_delivery_round_trip(store) {
        add_users(&*store, &[user(1)]).await;
        let full = Webhook {
            url: WebhookUrl::parse("https://example.org/é?a=b").unwrap(),
            events: WebhookEvents::parse(["document.failed"]).unwrap(),
            all_documents: true,
            is_active: false,
            previous_secret: Some((WebhookSecret::from_bytes([200; 32]), at(99))),
            updated_at: at(7),
            ..webhook(1, user(1).id)
        };
        let plain = webhook(2, user(1).id);
        let told = WebhookDelivery {
            event: WebhookEvent::Ping,
            document: None,
            body: "{\"é\": \"🐎\"}".to_owned(),
            state: DeliveryState::Failed,
            attempts: 9,
            last_status: Some(503),
            last_error: Some("the receiver answered 503".to_owned()),
            updated_at: at(50),
            ..delivery(1, plain.id)
        };
        let taken = WebhookDelivery { state: DeliveryState::Delivered, ..delivery(2, plain.id) };
        add(&*store, &[full.clone(), plain.clone()], &[told.clone(), taken.clone(), delivery(3, plain.id)]).await;
        let mut view = store.read().await.unwrap();
        let webhooks = view.webhooks();
        assert_eq!(webhooks.get(full.id).await.unwrap(), Some(full));
        assert_eq!(webhooks.get(plain.id).await.unwrap(), Some(plain.clone()));
        assert_eq!(webhooks.get(id(9)).await.unwrap(), None);
        assert_eq!(webhooks.delivery(id(1)).await.unwrap(), Some(told));
        assert_eq!(webhooks.delivery(id(2)).await.unwrap(), Some(taken));
        assert_eq!(webhooks.delivery(id(3)).await.unwrap(), Some(delivery(3, plain.id)));
        assert_eq!(webhooks.delivery(id(9)).await.unwrap(), None);
    }

    async fn insert_rejects_used_ids_and_unknown_owners(store) {
        add_users(&*store, &[user(1)]).await;
        add(&*store, &[webhook(1, user(1).id)], &[delivery(1, id(1))]).await;
        let mut unit = store.begin().await.unwrap();
        assert!(!unit.webhooks().insert(&webhook(1, user(1).id)).await.unwrap());
        drop(unit);
        let stranger = webhook(2, user(9).id);
        assert!(store.begin().await.unwrap().webhooks().insert(&stranger).await.is_err());
        assert!(store.begin().await.unwrap().webhooks().add_delivery(&delivery(2, id(9))).await.is_err());
        assert!(store.begin().await.unwrap().webhooks().add_delivery(&delivery(1, id(1))).await.is_err());
    }

    /// The owner does not change. Deliveries are deleted with their webhook, webhooks with their account.
    async fn update_and_delete_change_webhook(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let all = [webhook(1, user(1).id), webhook(2, user(2).id), webhook(3, user(2).id)];
        let deliveries = [delivery(1, id(1)), delivery(2, id(2)), delivery(3, id(3))];
        add(&*store, &all, &deliveries).await;
        let changed = Webhook {
            description: WebhookDescription::default(),
            is_active: false,
            updated_at: at(9),
            ..webhook(1, user(2).id).rotated(WebhookSecret::from_bytes([9; 32]), at(9))
        };
        let mut unit = store.begin().await.unwrap();
        assert!(unit.webhooks().update(&changed).await.unwrap());
        assert!(!unit.webhooks().update(&webhook(9, user(1).id)).await.unwrap());
        assert!(unit.webhooks().delete(id(2)).await.unwrap());
        assert!(!unit.webhooks().delete(id(2)).await.unwrap());
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        assert_eq!(view.webhooks().get(id(1)).await.unwrap(), Some(Webhook { owner: user(1).id, ..changed }));
        assert_eq!(view.webhooks().delivery(id(2)).await.unwrap(), None);
        drop(view);
        let mut unit = store.begin().await.unwrap();
        assert!(unit.users().delete(user(2).id).await.unwrap());
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        assert_eq!(view.webhooks().get(id(3)).await.unwrap(), None);
        assert_eq!(view.webhooks().delivery(id(3)).await.unwrap(), None);
        assert_eq!(view.webhooks().delivery(id(1)).await.unwrap(), Some(delivery(1, id(1))));
    }

    async fn list_filters_and_sorts_newest_first(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let off = Webhook { is_active: false, ..webhook(2, user(2).id) };
        let all = [webhook(1, user(1).id), off.clone(), webhook(3, user(1).id)];
        add(&*store, &all, &[]).await;
        let [one, _, three] = all;
        let mut view = store.read().await.unwrap();
        let listed = view.webhooks().list(WebhookFilter::default(), first(9)).await.unwrap();
        assert_eq!((listed.records, listed.total), (vec![three.clone(), off.clone(), one.clone()], 3));
        let filter = WebhookFilter { owner: Some(user(1).id), ..WebhookFilter::default() };
        let listed = view.webhooks().list(filter, PageRequest { offset: 1, limit: 1 }).await.unwrap();
        assert_eq!((listed.records, listed.total), (vec![one], 2));
        let filter = WebhookFilter { is_active: Some(false), ..WebhookFilter::default() };
        assert_eq!(view.webhooks().list(filter, first(9)).await.unwrap().records, [off]);
    }

    /// Deliveries are newest first, and lists continue after any position, also among events of the same time.
    async fn deliveries_continue_after_position(store) {
        add_users(&*store, &[user(1)]).await;
        let same = |n| WebhookDelivery { created_at: at(3), ..delivery(n, id(1)) };
        let log = [delivery(7, id(1)), same(6), same(4), delivery(1, id(1))];
        add(&*store, &[webhook(1, user(1).id), webhook(2, user(1).id)], &log).await;
        add(&*store, &[], &[delivery(8, id(2))]).await;
        let mut view = store.read().await.unwrap();
        let all = view.webhooks().deliveries(id(1), None, first(9)).await.unwrap();
        assert_eq!((ids(&all.records), all.total), (ids(&log), 4));
        for (place, one) in log.iter().enumerate() {
            let after = Some(DeliveryPosition { created_at: one.created_at, id: one.id });
            let rest = view.webhooks().deliveries(id(1), after, first(2)).await.unwrap().records;
            assert_eq!(ids(&rest), ids(log[place + 1..].iter().take(2).cloned().collect::<Vec<_>>().as_slice()));
        }
    }

    async fn subscribed_returns_enabled_webhooks_for_event(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let own = webhook(1, user(1).id);
        let off = Webhook { is_active: false, ..webhook(2, user(1).id) };
        let failures = Webhook { events: WebhookEvents::parse(["document.failed"]).unwrap(), ..webhook(3, user(1).id) };
        let others = webhook(4, user(2).id);
        let all = Webhook { all_documents: true, ..webhook(5, user(2).id) };
        add(&*store, &[own, off, failures, others, all], &[]).await;
        let mut unit = store.begin().await.unwrap();
        let webhooks = unit.webhooks();
        let (ingested, failed) = (WebhookEvent::DocumentIngested, WebhookEvent::DocumentFailed);
        assert_eq!(webhooks.subscribed(Some(user(1).id), ingested).await.unwrap(), [1, 5].map(id));
        assert_eq!(webhooks.subscribed(Some(user(1).id), failed).await.unwrap(), [1, 3, 5].map(id));
        assert_eq!(webhooks.subscribed(Some(user(2).id), ingested).await.unwrap(), [4, 5].map(id));
        assert_eq!(webhooks.subscribed(None, ingested).await.unwrap(), [id(5)]);
    }

    async fn due_deliveries_are_leased_longest_due_first(store) {
        add_users(&*store, &[user(1)]).await;
        let off = Webhook { is_active: false, ..webhook(2, user(1).id) };
        let over = WebhookDelivery { state: DeliveryState::Delivered, ..delivery(9, id(1)) };
        let deliveries = [delivery(5, id(1)), delivery(4, id(1)), delivery(1, id(2)), over];
        add(&*store, &[webhook(1, user(1).id), off], &deliveries).await;
        assert_eq!(store.read().await.unwrap().webhooks().next_due().await.unwrap(), Some(at(4)));
        assert_eq!(lease(&*store, 1, 3, 30).await, None);
        let leased = lease(&*store, 1, 6, 30).await.unwrap();
        assert_eq!((leased.lease, leased.webhook, leased.delivery), (id(1), webhook(1, user(1).id), delivery(4, id(1))));
    }

    /// While a delivery is leased, no other caller gets one of the same webhook.
    // Invariant: A webhook receives one delivery at a time, from one process.
    async fn webhook_has_one_leased_delivery(store) {
        add_users(&*store, &[user(1)]).await;
        add(&*store, &[webhook(1, user(1).id), webhook(2, user(1).id)], &[delivery(1, id(1)), delivery(2, id(1)), delivery(3, id(2))]).await;
        let one = lease(&*store, 1, 5, 30).await.unwrap();
        let other = lease(&*store, 2, 5, 30).await.unwrap();
        assert_eq!((one.delivery.webhook, other.delivery.webhook), (id(1), id(2)));
        assert_eq!(lease(&*store, 3, 29, 60).await, None);
        // The holder is considered crashed, so the same delivery is leased again.
        let again = lease(&*store, 4, 30, 60).await.unwrap();
        assert_eq!(again.delivery, one.delivery);
        let done = WebhookDelivery { state: DeliveryState::Delivered, attempts: 1, updated_at: at(31), ..one.delivery };
        assert!(!settle(&*store, &done, id(1), 31).await, "the lease was lost");
        assert!(settle(&*store, &done, id(4), 31).await);
        assert!(!settle(&*store, &done, id(4), 31).await);
        assert_eq!(store.read().await.unwrap().webhooks().delivery(done.id).await.unwrap(), Some(done));
        assert_eq!(lease(&*store, 5, 31, 60).await.unwrap().delivery.id, id(3), "it was told something before");
        assert_eq!(lease(&*store, 6, 31, 60).await.unwrap().delivery.id, id(2));
    }

    // Invariant: A webhook receives one delivery at a time, from one process.
    async fn concurrent_callers_lease_distinct_webhooks(store) {
        add_users(&*store, &[user(1)]).await;
        let webhooks: Vec<_> = (1..=4).map(|n| webhook(n, user(1).id)).collect();
        let deliveries: Vec<_> = (1..=16).map(|n| delivery(n, id(n % 4 + 1))).collect();
        add(&*store, &webhooks, &deliveries).await;
        let asking = (1..=12).map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { lease(&*store, n, 50, 90).await })
        });
        let mut told = Vec::new();
        for one in asking.collect::<Vec<_>>() {
            told.extend(one.await.unwrap().map(|leased| leased.webhook.id));
        }
        // Concurrent callers may get nothing because of each other, so they retry.
        while let Some(leased) = lease(&*store, 99, 50, 90).await {
            told.push(leased.webhook.id);
        }
        told.sort_unstable();
        assert_eq!(told, [1, 2, 3, 4].map(id));
    }

    /// A finished delivery can be resent.
    async fn leased_delivery_cannot_be_changed(store) {
        add_users(&*store, &[user(1)]).await;
        let over = WebhookDelivery { state: DeliveryState::Failed, attempts: 9, ..delivery(1, id(1)) };
        add(&*store, &[webhook(1, user(1).id)], std::slice::from_ref(&over)).await;
        let again = WebhookDelivery { state: DeliveryState::Pending(at(20)), attempts: 0, updated_at: at(20), ..over };
        let change = async |delivery: &WebhookDelivery, now| {
            let mut unit = store.begin().await.unwrap();
            let changed = unit.webhooks().change_delivery(delivery, at(now)).await.unwrap();
            unit.commit().await.unwrap();
            changed
        };
        assert!(change(&again, 20).await);
        assert!(!change(&delivery(2, id(1)), 20).await);
        assert_eq!(lease(&*store, 1, 20, 50).await.unwrap().delivery, again);
        assert!(!change(&again, 49).await);
        assert!(change(&again, 50).await);
    }

    async fn purge_removes_old_deliveries_up_to_limit(store) {
        add_users(&*store, &[user(1)]).await;
        let deliveries: Vec<_> = (1..=5).map(|n| delivery(n, id(1))).collect();
        add(&*store, &[webhook(1, user(1).id)], &deliveries).await;
        for (limit, removed) in [(2, 2), (9, 1), (9, 0)] {
            let mut unit = store.begin().await.unwrap();
            assert_eq!(unit.webhooks().purge_deliveries(at(4), limit).await.unwrap(), removed);
            unit.commit().await.unwrap();
        }
        let left = store.read().await.unwrap().webhooks().deliveries(id(1), None, first(9)).await.unwrap();
        assert_eq!(ids(&left.records), [5, 4].map(id));
    }
}
