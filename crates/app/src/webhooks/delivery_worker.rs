//! Delivers webhook messages: leases due deliveries, sends them, and records the results.
//!
//! Delivery is at least once. When a worker dies after the receiver has responded, its lease runs out and the message
//! is sent again with the same ID.

use super::signature::signatures;
use crate::{App, scope};
use chrono::TimeDelta;
use docent_domain::access::Actor;
use docent_domain::fault::Fault;
use docent_domain::id::LeaseId;
use docent_domain::webhook::{DeliveryState, LeasedDelivery, Webhook, WebhookDelivery, retry_delay};
use docent_ports::webhook_sender::{DeliveryError, ReceiverResponse, WebhookMessage};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// Maximum number of concurrent deliveries of a process.
const CONCURRENCY: usize = 8;
/// How long a webhook stays leased to a worker. A request to a receiver takes at most a third of that.
const LEASE: TimeDelta = TimeDelta::seconds(30);
/// The longest time between two looks at the queue.
const POLL: Duration = Duration::from_secs(2);
/// How long a stopping worker waits for receivers.
const GRACE: Duration = Duration::from_secs(10);
/// The status with which a receiver unsubscribes.
const GONE: u16 = 410;

/// Sends queued webhook deliveries.
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct DeliveryWorker {
    app: Arc<App>,
}

/// The result of one attempt.
struct AttemptOutcome {
    status: Option<u16>,
    error: Option<String>,
    next: Next,
}

/// What happens to a delivery after an attempt.
enum Next {
    Delivered,
    /// Retried, after the pause that the receiver asked for, if it did.
    Retry(Option<Duration>),
    Failed,
    /// Failed, and the webhook is disabled.
    Gone,
}

impl DeliveryWorker {
    /// Creates a worker.
    pub fn new(app: Arc<App>) -> Self {
        Self { app }
    }

    /// Sends due deliveries until `stop`. Deliveries in progress get a few seconds to finish.
    pub async fn run(&self, stop: CancellationToken) {
        let mut running = JoinSet::new();
        while !stop.is_cancelled() {
            self.start_due(&mut running).await;
            let free = running.len() < CONCURRENCY;
            tokio::select! {
                () = stop.cancelled() => {}
                Some(ended) = running.join_next() => {
                    if let Err(error) = ended {
                        tracing::error!(error = %docent_domain::fault::report(&error), "a webhook delivery panicked; its lease will run out");
                    }
                }
                () = self.app.process.new_deliveries.notified(), if free => {}
                () = self.pause(), if free => {}
            }
        }
        let all = async { while running.join_next().await.is_some() {} };
        if tokio::time::timeout(GRACE, all).await.is_err() {
            tracing::warn!("webhook deliveries were interrupted; their leases will run out");
        }
    }

    /// Sends due deliveries one after the other until none is due; returns the number of attempts.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn drain(&self) -> Result<usize, Fault> {
        let mut attempts = 0;
        while let Some(leased) = self.lease().await? {
            self.deliver(leased).await;
            attempts += 1;
        }
        Ok(attempts)
    }

    async fn start_due(&self, running: &mut JoinSet<()>) {
        while running.len() < CONCURRENCY {
            match self.lease().await {
                Ok(Some(leased)) => {
                    let worker = self.clone();
                    running.spawn(async move { worker.deliver(leased).await });
                }
                Ok(None) => return,
                Err(fault) => {
                    self.app.note(&fault);
                    tracing::warn!(fault = %fault.report(), "the webhook queue cannot be read; trying again");
                    return;
                }
            }
        }
    }

    async fn lease(&self) -> Result<Option<LeasedDelivery>, Fault> {
        // Most installations have no webhooks: this check takes no lock.
        let now = self.app.now();
        if self.app.store.read().await?.webhooks().next_due().await?.is_none_or(|due| due > now) {
            return Ok(None);
        }
        let lease = self.app.new_id(LeaseId::generate);
        let mut work = self.app.store.begin().await?;
        let leased = work.webhooks().lease(lease, now, now + LEASE).await?;
        work.commit().await?;
        Ok(leased)
    }

    /// Waits until the next delivery is due, at most the poll interval.
    async fn pause(&self) {
        let due = async { self.app.store.read().await?.webhooks().next_due().await };
        let pause = match due.await {
            Ok(Some(at)) => (at - self.app.now()).to_std().unwrap_or_default(),
            Ok(None) | Err(_) => POLL,
        };
        // A due delivery that was not leased waits for another one to the same webhook: a pause avoids a busy loop.
        self.app.sleep(pause.clamp(POLL / 2, POLL)).await;
    }

    /// Makes one attempt at a delivery.
    async fn deliver(&self, leased: LeasedDelivery) {
        let span =
            tracing::info_span!("webhook", webhook = %leased.webhook.id, delivery = %leased.delivery.id);
        let work = async {
            let outcome = match self.refusal(&leased).await? {
                None => self.send(&leased).await,
                Some(reason) => AttemptOutcome::failed(reason),
            };
            self.settle(leased, outcome).await
        };
        if let Err(fault) = work.instrument(span).await {
            self.app.note(&fault);
            tracing::warn!(fault = %fault.report(), "the result of a webhook delivery could not be recorded; the message will be sent again");
        }
    }

    /// Why the webhook's owner may no longer receive the message, if so.
    async fn refusal(&self, leased: &LeasedDelivery) -> Result<Option<&'static str>, Fault> {
        let LeasedDelivery { webhook, delivery, .. } = leased;
        let lost_permission = Some("the account is inactive or has lost the permission");
        let mut view = self.app.store.read_latest().await?;
        let owner = view.users().get(webhook.owner).await?;
        let Some(actor) = owner.as_ref().and_then(Actor::of) else { return Ok(lost_permission) };
        let actor = actor.with_permissions(view.groups().permissions(webhook.owner).await?);
        if !webhook.is_allowed(&actor) {
            return Ok(lost_permission);
        }
        let (false, Some(id)) = (webhook.all_documents, delivery.document) else { return Ok(None) };
        // A document that was deleted since was the owner's until then.
        let Some(document) = view.documents().get(id).await? else { return Ok(None) };
        let scope = scope::in_view(&mut *view, &actor).await?;
        let is_readable = scope.contains(&document.collections);
        Ok((!is_readable).then_some("the account can no longer read the document"))
    }

    async fn send(&self, leased: &LeasedDelivery) -> AttemptOutcome {
        let LeasedDelivery { webhook, delivery, .. } = leased;
        let now = self.app.now();
        let (id, timestamp) = (delivery.id.to_string(), now.timestamp());
        let signature = signatures(webhook.secrets(now), &id, timestamp, &delivery.body);
        let (url, body) = (webhook.url.clone(), delivery.body.clone());
        let message = WebhookMessage { url, id, timestamp, signature, body };
        AttemptOutcome::of(self.app.webhooks.send(&message).await)
    }

    /// Records the outcome of an attempt.
    async fn settle(&self, leased: LeasedDelivery, outcome: AttemptOutcome) -> Result<(), Fault> {
        let LeasedDelivery { lease, webhook, delivery } = leased;
        let now = self.app.now();
        let is_gone = matches!(outcome.next, Next::Gone);
        let delivery = self.after(delivery, outcome);
        let (state, status, attempts) = (delivery.state.name(), delivery.last_status, delivery.attempts);
        let mut work = self.app.store.begin().await?;
        if !work.webhooks().settle(&delivery, lease, now).await? {
            tracing::info!("the webhook was deleted or its lease was lost to another process");
            return Ok(());
        }
        if is_gone && let Some(webhook) = work.webhooks().get(webhook.id).await? {
            let disabled = Webhook { is_active: false, updated_at: now, ..webhook };
            work.webhooks().update(&disabled).await?;
        }
        work.commit().await?;
        tracing::info!(state, status, attempts, is_gone, "webhook delivery attempted");
        Ok(())
    }

    /// The delivery after an attempt.
    fn after(&self, delivery: WebhookDelivery, outcome: AttemptOutcome) -> WebhookDelivery {
        let attempts = delivery.attempts.saturating_add(1);
        let now = self.app.now();
        let mut chance = [0];
        self.app.entropy.fill(&mut chance);
        let state = match outcome.next {
            Next::Delivered => DeliveryState::Delivered,
            Next::Failed | Next::Gone => DeliveryState::Failed,
            Next::Retry(asked) => {
                let asked = asked.map(|pause| TimeDelta::from_std(pause).unwrap_or(TimeDelta::MAX));
                let pause = retry_delay(attempts, chance[0], asked);
                pause.map_or(DeliveryState::Failed, |pause| DeliveryState::Pending(now + pause))
            }
        };
        WebhookDelivery {
            state,
            attempts,
            last_status: outcome.status,
            last_error: outcome.error,
            updated_at: now,
            ..delivery
        }
    }
}

impl AttemptOutcome {
    fn of(result: Result<ReceiverResponse, DeliveryError>) -> Self {
        let response = match result {
            Ok(response) => response,
            Err(refused @ DeliveryError::Refused(_)) => return Self::failed(refused.to_string()),
            Err(other) => {
                let error = Some(other.to_string());
                return Self { status: None, error, next: Next::Retry(None) };
            }
        };
        let status = response.status;
        let (error, next) = match status {
            200..=299 => (None, Next::Delivered),
            GONE => (Some("the receiver answered 410, and the webhook was disabled".to_owned()), Next::Gone),
            300..=399 => {
                let error = format!("the receiver answered {status}, and redirections are not followed");
                (Some(error), Next::Retry(None))
            }
            _ => (Some(format!("the receiver answered {status}")), Next::Retry(response.retry_after)),
        };
        Self { status: Some(status), error, next }
    }

    fn failed(error: impl Into<String>) -> Self {
        Self { status: None, error: Some(error.into()), next: Next::Failed }
    }
}
