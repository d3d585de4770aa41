//! Webhook deliveries: recording, sending, retrying.

use crate::service::Service;
use docent_app::webhooks::delivery_worker::DeliveryWorker;
use docent_app::webhooks::own;
use docent_app::webhooks::signature::signatures;
use docent_domain::access::{Actor, Grant, Operation};
use docent_domain::document::{DocumentState, FailureCode};
use docent_domain::fault::FaultKind;
use docent_domain::group::AssignedPermissions;
use docent_domain::id::{DocumentId, WebhookId};
use docent_domain::listing::PageRequest;
use docent_domain::permission::Permission;
use docent_domain::user::User;
use docent_domain::webhook::{DeliveryState, Webhook, WebhookDelivery, WebhookEvents, WebhookUrl};
use docent_ports::webhook_sender::{DeliveryError, ReceiverResponse};
use docent_testkit::builders::{self, id};
use docent_testkit::fakes::webhook_sender::answered;
use docent_testkit::wait::until;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const ALL: PageRequest = PageRequest { offset: 0, limit: 100 };

/// Creates a service whose first account has these webhooks.
async fn service(webhooks: &[Webhook]) -> Service {
    let service = Service::new();
    // Creates the account. No webhook exists yet, so this document causes no delivery.
    let _ = service.upload("first words").await;
    service.drain().await;
    let mut work = service.ports.store.begin().await.unwrap();
    for webhook in webhooks {
        assert!(work.webhooks().insert(webhook).await.unwrap());
    }
    work.commit().await.unwrap();
    service
}

fn owner() -> User {
    builders::user(1)
}

fn webhook(n: u32) -> Webhook {
    builders::webhook(n, owner().id)
}

fn grant<A: Operation>() -> Grant<A> {
    Actor::of(&owner()).unwrap().authorize().unwrap()
}

fn worker(service: &Service) -> DeliveryWorker {
    DeliveryWorker::new(Arc::clone(&service.app))
}

async fn log(service: &Service, webhook: WebhookId) -> Vec<WebhookDelivery> {
    let mut view = service.ports.store.read().await.unwrap();
    view.webhooks().deliveries(webhook, None, ALL).await.unwrap().records
}

/// Returns the only delivery of the first webhook.
async fn only(service: &Service) -> WebhookDelivery {
    let [delivery] = log(service, id(1)).await.try_into().expect("one delivery");
    delivery
}

async fn ingest(service: &Service, text: &str) -> DocumentId {
    let document = service.upload(text).await;
    service.drain().await;
    document
}

#[tokio::test]
async fn ingested_document_is_delivered_once_and_signed() {
    let service = service(&[webhook(1)]).await;
    let document = ingest(&service, "some words").await;
    assert_eq!(only(&service).await.state, DeliveryState::Pending(service.app.now()));
    service.clock.advance(Duration::from_secs(7));
    assert_eq!(worker(&service).drain().await.unwrap(), 1);
    let [sent] = service.webhooks.messages().try_into().unwrap();
    let delivery = only(&service).await;
    assert_eq!((sent.url.as_str(), sent.id), ("https://example.org/1", delivery.id.to_string()));
    assert_eq!(sent.timestamp, service.app.now().timestamp());
    assert_eq!(sent.body, format!("document.ingested 2026-01-01T00:00:00+00:00 {document} a.pdf ingested"));
    let secret = webhook(1).secret;
    assert_eq!(
        sent.signature,
        signatures([&secret].into_iter(), &delivery.id.to_string(), sent.timestamp, &sent.body)
    );
    assert_eq!((delivery.state, delivery.attempts), (DeliveryState::Delivered, 1));
    assert_eq!((delivery.last_status, delivery.last_error), (Some(204), None));
    assert_eq!(worker(&service).drain().await.unwrap(), 0);
}

#[tokio::test]
async fn failed_document_is_delivered_when_final_with_its_reason() {
    let failures = Webhook { events: WebhookEvents::parse(["document.failed"]).unwrap(), ..webhook(1) };
    let service = service(&[failures]).await;
    ingest(&service, "these words are found").await;
    service.index_switch.fail_all(FaultKind::InvalidResponse);
    let document = service.upload("some words").await;
    for n in 1..=3 {
        assert!(log(&service, id(1)).await.is_empty(), "before attempt {n}");
        service.drain().await;
        service.clock.advance(Duration::from_secs(60));
    }
    let delivery = only(&service).await;
    assert_eq!(delivery.event.name(), "document.failed");
    let DocumentState::Failed(failed) = service.document(document).await.state else {
        panic!("it has failed")
    };
    assert_eq!(failed.failure.code, FailureCode::Indexing);
    assert!(
        delivery.body.ends_with(&format!("{document} a.pdf {}", failed.failure.reason)),
        "{}",
        delivery.body
    );
}

#[tokio::test]
async fn deliveries_go_to_the_owner_and_accounts_that_can_view_all_documents() {
    let others = Webhook { owner: builders::user(2).id, ..webhook(2) };
    let all = Webhook { all_documents: true, ..Webhook { owner: builders::user(2).id, ..webhook(3) } };
    let off = Webhook { is_active: false, ..webhook(4) };
    let service = service(&[webhook(1), off]).await;
    let mut work = service.ports.store.begin().await.unwrap();
    assert!(work.users().insert(&builders::user(2)).await.unwrap());
    let sees_all = AssignedPermissions {
        permissions: [Permission::ViewDocument].into_iter().collect(),
        ..AssignedPermissions::default()
    };
    work.groups().set_assigned_permissions(builders::user(2).id, &sees_all).await.unwrap();
    for webhook in [&others, &all] {
        assert!(work.webhooks().insert(webhook).await.unwrap());
    }
    work.commit().await.unwrap();
    ingest(&service, "some words").await;
    let mut counts = Vec::new();
    for n in 1..=4 {
        counts.push(log(&service, id(n)).await.len());
    }
    assert_eq!(counts, [1, 0, 1, 0]);

    // The permission is checked again when the message is sent.
    let mut work = service.ports.store.begin().await.unwrap();
    work.groups()
        .set_assigned_permissions(builders::user(2).id, &AssignedPermissions::default())
        .await
        .unwrap();
    work.commit().await.unwrap();
    assert_eq!(worker(&service).drain().await.unwrap(), 2);
    let [refused] = log(&service, id(3)).await.try_into().unwrap();
    assert_eq!((refused.state, refused.last_status), (DeliveryState::Failed, None));
    assert!(refused.last_error.unwrap().contains("lost the permission"));
    let urls: Vec<_> =
        service.webhooks.messages().into_iter().map(|sent| sent.url.as_str().to_owned()).collect();
    assert_eq!(urls, ["https://example.org/1"]);
}

#[tokio::test]
async fn inactive_account_receives_no_deliveries() {
    let service = service(&[webhook(1)]).await;
    ingest(&service, "some words").await;
    let mut work = service.ports.store.begin().await.unwrap();
    work.users().update(&User { is_active: false, ..owner() }).await.unwrap();
    work.commit().await.unwrap();
    worker(&service).drain().await.unwrap();
    assert_eq!(only(&service).await.state, DeliveryState::Failed);
    assert!(service.webhooks.messages().is_empty());
}

#[tokio::test]
async fn failing_receiver_gets_nine_attempts_over_a_day_and_a_half() {
    let service = service(&[webhook(1)]).await;
    service.webhooks.always("https://example.org/1", answered(500));
    ingest(&service, "some words").await;
    let mut bodies = Vec::new();
    for (n, pause) in [5, 30, 120, 600, 3600, 10_800, 28_800, 86_400].into_iter().enumerate() {
        assert_eq!(worker(&service).drain().await.unwrap(), 1, "attempt {}", n + 1);
        let (delivery, now) = (only(&service).await, service.app.now());
        assert_eq!((delivery.attempts, delivery.last_status), (n as u32 + 1, Some(500)));
        assert_eq!(delivery.last_error.as_deref(), Some("the receiver answered 500"));
        let DeliveryState::Pending(due) = delivery.state else { panic!("{delivery:?}") };
        let waits = (due - now).num_milliseconds();
        assert!((pause * 1000..=pause * 1100).contains(&waits), "{waits} ms after attempt {}", n + 1);
        service.clock.advance((due - now).to_std().unwrap() - Duration::from_micros(1));
        assert_eq!(worker(&service).drain().await.unwrap(), 0, "not before it is due");
        service.clock.advance(Duration::from_micros(1));
        bodies.push(delivery.body);
    }
    assert_eq!(worker(&service).drain().await.unwrap(), 1);
    let delivery = only(&service).await;
    assert_eq!((delivery.state, delivery.attempts), (DeliveryState::Failed, 9));
    let sent = service.webhooks.messages();
    assert_eq!(sent.len(), 9);
    assert!(sent.iter().all(|message| message.id == delivery.id.to_string() && message.body == bodies[0]));
}

#[tokio::test]
async fn receiver_response_determines_the_delivery_state() {
    let wait =
        |seconds| Ok(ReceiverResponse { status: 429, retry_after: Some(Duration::from_secs(seconds)) });
    for (outcome, state, error) in [
        (answered(200), "delivered", ""),
        (answered(299), "delivered", ""),
        (answered(302), "pending", "redirections are not followed"),
        (answered(404), "pending", "answered 404"),
        (answered(503), "pending", "answered 503"),
        (wait(7200), "pending", "answered 429"),
        (Err(DeliveryError::Timeout), "pending", "did not answer in time"),
        (Err(DeliveryError::Unreachable), "pending", "no connection"),
        (Err(DeliveryError::Unresolved), "pending", "cannot be resolved"),
        (Err(DeliveryError::InvalidResponse), "pending", "closed the connection"),
        (Err(DeliveryError::Refused("is odd".to_owned())), "failed", "the address is odd"),
        (answered(410), "failed", "webhook was disabled"),
    ] {
        let service = service(&[webhook(1)]).await;
        service.webhooks.script(outcome.clone());
        ingest(&service, "some words").await;
        worker(&service).drain().await.unwrap();
        let (delivery, now) = (only(&service).await, service.app.now());
        assert_eq!(delivery.state.name(), state, "{outcome:?}");
        let text = delivery.last_error.unwrap_or_default();
        assert!(text.contains(error) && text.is_empty() == error.is_empty(), "{outcome:?}: {text}");
        if outcome == wait(7200) {
            assert_eq!(delivery.state.next_attempt(), Some(now + Duration::from_secs(7200)));
        }
        let is_on =
            service.ports.store.read().await.unwrap().webhooks().get(id(1)).await.unwrap().unwrap().is_active;
        assert_eq!(is_on, outcome != answered(410), "{outcome:?}");
    }
}

/// The database fails at the `n`th commit: before it is made, or after it, so that only the acknowledgement is lost.
// Invariant: Webhook deliveries and the document's final status are recorded together, wherever the database
// fails.
#[tokio::test]
async fn delivery_and_document_status_are_recorded_together_wherever_the_database_fails() {
    for n in 0..4 {
        for is_lost in [false, true] {
            let service = service(&[webhook(1)]).await;
            let document = service.upload("some words").await;
            let switches = &service.store_switches;
            let switch = if is_lost { &switches.acknowledge } else { &switches.commit };
            switch.fail_after(n, 1, FaultKind::Unavailable);
            // Each attempt is made by a new runner, as if the process had crashed.
            let work = async {
                while service.document(document).await.state.name() == "pending" {
                    assert!(
                        log(&service, id(1)).await.is_empty(),
                        "delivery recorded before the status: {n} {is_lost}"
                    );
                    let _ = service.runner().run_next().await;
                    service.app.sleep(Duration::from_secs(10)).await;
                }
            };
            service.clock.pass_while(Box::pin(work)).await;
            assert_eq!(log(&service, id(1)).await.len(), 1, "{n} {is_lost}");
        }
    }
}

#[tokio::test]
async fn delivery_of_a_crashed_worker_is_sent_after_its_lease() {
    let service = service(&[webhook(1)]).await;
    ingest(&service, "some words").await;
    service.webhooks.hold("https://example.org/1");
    let dying = tokio::spawn({
        let worker = worker(&service);
        async move { worker.drain().await }
    });
    until("it is sent", async || service.webhooks.messages().len() == 1).await;
    dying.abort();
    let _ = dying.await;
    service.webhooks.let_go();
    service.clock.advance(Duration::from_secs(29));
    assert_eq!(worker(&service).drain().await.unwrap(), 0, "the attempt may still be in progress");
    service.clock.advance(Duration::from_secs(1));
    assert_eq!(worker(&service).drain().await.unwrap(), 1);
    let [first, second] = service.webhooks.messages().try_into().unwrap();
    assert_eq!((first.id, first.body), (second.id, second.body));
    assert_eq!(only(&service).await.state, DeliveryState::Delivered);
}

#[tokio::test]
async fn delayed_worker_does_not_overwrite_its_successors_result() {
    let service = service(&[webhook(1)]).await;
    ingest(&service, "some words").await;
    service.webhooks.hold("https://example.org/1");
    service.webhooks.script(answered(204));
    service.webhooks.script(answered(500));
    let late = tokio::spawn({
        let worker = worker(&service);
        async move { worker.drain().await.unwrap() }
    });
    until("it is sent", async || service.webhooks.messages().len() == 1).await;
    service.clock.advance(Duration::from_secs(30));
    let other = tokio::spawn({
        let worker = worker(&service);
        async move { worker.drain().await.unwrap() }
    });
    until("it is sent again", async || service.webhooks.messages().len() == 2).await;
    service.webhooks.let_go();
    late.await.unwrap();
    other.await.unwrap();
    assert_eq!(only(&service).await.attempts, 1, "only one attempt counts");
}

#[tokio::test]
async fn slow_receiver_does_not_delay_others_and_gets_one_message_at_a_time() {
    let service = service(&[webhook(1), webhook(2)]).await;
    for text in ["some words", "more words"] {
        ingest(&service, text).await;
    }
    service.webhooks.hold("https://example.org/1");
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let (worker, stop) = (worker(&service), stop.clone());
        async move { worker.run(stop).await }
    });
    let to = |n: u32| {
        let url = format!("https://example.org/{n}");
        service.webhooks.messages().iter().filter(|sent| sent.url.as_str() == url).count()
    };
    until("the other one has both", async || to(2) == 2).await;
    assert_eq!(to(1), 1);
    service.webhooks.let_go();
    until("the slow one has both", async || to(1) == 2).await;
    stop.cancel();
    running.await.unwrap();
    for n in 1..=2 {
        let states: Vec<_> = log(&service, id(n)).await.iter().map(|delivery| delivery.state).collect();
        assert_eq!(states, [DeliveryState::Delivered; 2], "running attempts are completed");
    }
}

#[tokio::test]
async fn both_secrets_sign_for_a_day_after_rotation() {
    let service = service(&[webhook(1)]).await;
    let old = webhook(1).secret;
    let new = own::rotate(&service.app, &grant(), id(1)).await.unwrap().secret;
    assert_ne!(old, new);
    for (advance, secrets) in [(86_399, vec![&new, &old]), (1, vec![&new])] {
        service.clock.advance(Duration::from_secs(advance));
        ingest(&service, "some words").await;
        worker(&service).drain().await.unwrap();
        let sent = service.webhooks.messages().pop().unwrap();
        assert_eq!(sent.signature, signatures(secrets.into_iter(), &sent.id, sent.timestamp, &sent.body));
    }
}

#[tokio::test]
async fn replay_sends_the_same_message_with_a_new_timestamp() {
    let service = service(&[webhook(1)]).await;
    ingest(&service, "some words").await;
    service.webhooks.script(Err(DeliveryError::Refused("is odd".to_owned())));
    worker(&service).drain().await.unwrap();
    let failed = only(&service).await;
    service.clock.advance(Duration::from_secs(3600));
    let again = own::replay(&service.app, &grant(), id(1), failed.id).await.unwrap();
    assert_eq!((again.attempts, again.last_error), (0, None));
    assert_eq!(worker(&service).drain().await.unwrap(), 1);
    let [first, second] = service.webhooks.messages().try_into().unwrap();
    assert_eq!(
        (&first.id, &first.body, first.timestamp + 3600),
        (&second.id, &second.body, second.timestamp)
    );
    assert_ne!(first.signature, second.signature);
    assert_eq!(only(&service).await.state, DeliveryState::Delivered);
}

#[tokio::test]
async fn pending_deliveries_wait_while_a_webhook_is_off_and_are_deleted_with_it() {
    let service = service(&[webhook(1)]).await;
    ingest(&service, "some words").await;
    let switch = async |is_active| {
        let change = own::WebhookUpdate { is_active: Some(is_active), ..own::WebhookUpdate::default() };
        let actor = Actor::of(&owner()).unwrap();
        own::change(&service.app, &actor, &grant(), id(1), change).await.unwrap();
    };
    switch(false).await;
    ingest(&service, "missed words").await;
    assert_eq!(worker(&service).drain().await.unwrap(), 0);
    switch(true).await;
    assert_eq!(worker(&service).drain().await.unwrap(), 1);
    ingest(&service, "more words").await;
    own::delete(&service.app, &grant(), id(1)).await.unwrap();
    assert_eq!(worker(&service).drain().await.unwrap(), 0);
    assert!(log(&service, id(1)).await.is_empty());
}

#[tokio::test]
async fn address_is_checked_again_before_each_attempt() {
    let internal =
        Webhook { url: WebhookUrl::parse("https://internal.example.org/x").unwrap(), ..webhook(1) };
    let service = service(&[internal]).await;
    ingest(&service, "some words").await;
    worker(&service).drain().await.unwrap();
    let delivery = only(&service).await;
    assert_eq!((delivery.state, delivery.attempts), (DeliveryState::Failed, 1));
    assert!(delivery.last_error.unwrap().contains("not on the public internet"));
    assert!(service.webhooks.messages().is_empty());
}
