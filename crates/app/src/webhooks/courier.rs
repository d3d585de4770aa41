//! Couriers: they lease what is due, send it, and take down what came of it.
//!
//! A message is sent at least once: a courier that dies between the receiver's answer and the record of it leaves a
//! lease that runs out, and the message is sent again, with the same id.

use super::signature::signatures;
use crate::App;
use chrono::TimeDelta;
use docent_domain::{
    access::Actor,
    fault::Fault,
    id::LeaseId,
    webhook::{DeliveryState, LeasedDelivery, Webhook, WebhookDelivery, retry_delay},
};
use docent_ports::webhook_sender::{DeliveryError, ReceiverResponse, WebhookMessage};
use std::{sync::Arc, time::Duration};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// Receivers that one process talks to at a time.
const CONCURRENCY: usize = 8;
/// How long a webhook belongs to a courier that may have died. A sender takes a third of it at most.
const LEASE: TimeDelta = TimeDelta::seconds(30);
/// The longest time without a look at what is due.
const POLL: Duration = Duration::from_secs(2);
/// How long a stopping courier waits for receivers.
const GRACE: Duration = Duration::from_secs(10);
/// The receiver wants no more of it.
const GONE: u16 = 410;

/// Sends what webhooks are to be told.
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct Courier {
    app: Arc<App>,
}

/// What came of one try.
struct Tried {
    status: Option<u16>,
    error: Option<String>,
    next: Next,
}

/// What becomes of a delivery after a try.
enum Next {
    Delivered,
    /// Not sooner than the receiver asks for, if it does.
    Again(Option<Duration>),
    Failed,
    /// The webhook is turned off.
    Gone,
}

impl Courier {
    /// A courier of this service.
    pub fn new(app: Arc<App>) -> Self {
        Self { app }
    }

    /// Sends what is due until `stop`; messages under way get a few seconds more.
    pub async fn run(&self, stop: CancellationToken) {
        let mut under_way = JoinSet::new();
        while !stop.is_cancelled() {
            self.start_due(&mut under_way).await;
            let free = under_way.len() < CONCURRENCY;
            tokio::select! {
                () = stop.cancelled() => {}
                Some(ended) = under_way.join_next() => {
                    if let Err(error) = ended {
                        tracing::error!(error = %docent_domain::fault::report(&error), "the delivery of a webhook died; its lease will run out");
                    }
                }
                () = self.app.process.new_deliveries.notified(), if free => {}
                () = self.pause(), if free => {}
            }
        }
        let all = async { while under_way.join_next().await.is_some() {} };
        if tokio::time::timeout(GRACE, all).await.is_err() {
            tracing::warn!("messages of webhooks were left; their leases will run out");
        }
    }

    /// Sends what is due, one message after the other, until nothing is; says how many tries that took.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn drain(&self) -> Result<usize, Fault> {
        let mut tries = 0;
        while let Some(leased) = self.lease().await? {
            self.deliver(leased).await;
            tries += 1;
        }
        Ok(tries)
    }

    async fn start_due(&self, under_way: &mut JoinSet<()>) {
        while under_way.len() < CONCURRENCY {
            match self.lease().await {
                Ok(Some(leased)) => {
                    let courier = self.clone();
                    under_way.spawn(async move { courier.deliver(leased).await });
                }
                Ok(None) => return,
                Err(fault) => {
                    self.app.note(&fault);
                    tracing::warn!(fault = %fault.report(), "what webhooks are to be told cannot be read; trying again");
                    return;
                }
            }
        }
    }

    async fn lease(&self) -> Result<Option<LeasedDelivery>, Fault> {
        // Most services have no webhooks: looking takes no lock.
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
        // Never at once: what is due and was not leased is behind another message to its webhook.
        self.app.sleep(pause.clamp(POLL / 2, POLL)).await;
    }

    /// One try at a delivery.
    async fn deliver(&self, leased: LeasedDelivery) {
        let span =
            tracing::info_span!("webhook", webhook = %leased.webhook.id, delivery = %leased.delivery.id);
        let work = async {
            let tried = match self.is_allowed(&leased.webhook).await {
                Ok(true) => self.send(&leased).await,
                Ok(false) => Tried::failed("its account may not be told of this any more"),
                Err(fault) => return Err(fault),
            };
            self.settle(leased, tried).await
        };
        if let Err(fault) = work.instrument(span).await {
            self.app.note(&fault);
            tracing::warn!(fault = %fault.report(), "the delivery of a webhook could not be taken down; it will be sent again");
        }
    }

    /// Whether the webhook's owner may still be told what it asks for.
    async fn is_allowed(&self, webhook: &Webhook) -> Result<bool, Fault> {
        let mut view = self.app.store.read().await?;
        let owner = view.users().get(webhook.owner).await?;
        let Some(actor) = owner.as_ref().and_then(Actor::of) else { return Ok(false) };
        let permissions = view.groups().permissions(webhook.owner).await?;
        Ok(webhook.is_allowed(&actor.with_permissions(permissions)))
    }

    async fn send(&self, leased: &LeasedDelivery) -> Tried {
        let LeasedDelivery { webhook, delivery, .. } = leased;
        let now = self.app.now();
        let (id, timestamp) = (delivery.id.to_string(), now.timestamp());
        let signature = signatures(webhook.secrets(now), &id, timestamp, &delivery.body);
        let (url, body) = (webhook.url.clone(), delivery.body.clone());
        let message = WebhookMessage { url, id, timestamp, signature, body };
        Tried::of(self.app.webhooks.send(&message).await)
    }

    /// Takes down what came of a try.
    async fn settle(&self, leased: LeasedDelivery, tried: Tried) -> Result<(), Fault> {
        let LeasedDelivery { lease, webhook, delivery } = leased;
        let now = self.app.now();
        let is_gone = matches!(tried.next, Next::Gone);
        let told = self.after(delivery, tried);
        let (state, status, attempts) = (told.state.name(), told.last_status, told.attempts);
        let mut work = self.app.store.begin().await?;
        if !work.webhooks().settle(&told, lease, now).await? {
            tracing::info!("the lease of a webhook was lost: it is gone, or another process tells it");
            return Ok(());
        }
        if is_gone && let Some(webhook) = work.webhooks().get(webhook.id).await? {
            let off = Webhook { is_active: false, updated_at: now, ..webhook };
            work.webhooks().update(&off).await?;
        }
        work.commit().await?;
        tracing::info!(state, status, attempts, is_gone, "a webhook was told");
        Ok(())
    }

    /// The delivery after a try.
    fn after(&self, delivery: WebhookDelivery, tried: Tried) -> WebhookDelivery {
        let attempts = delivery.attempts.saturating_add(1);
        let now = self.app.now();
        let mut chance = [0];
        self.app.entropy.fill(&mut chance);
        let state = match tried.next {
            Next::Delivered => DeliveryState::Delivered,
            Next::Failed | Next::Gone => DeliveryState::Failed,
            Next::Again(asked) => {
                let asked = asked.map(|pause| TimeDelta::from_std(pause).unwrap_or(TimeDelta::MAX));
                let pause = retry_delay(attempts, chance[0], asked);
                pause.map_or(DeliveryState::Failed, |pause| DeliveryState::Pending(now + pause))
            }
        };
        WebhookDelivery {
            state,
            attempts,
            last_status: tried.status,
            last_error: tried.error,
            updated_at: now,
            ..delivery
        }
    }
}

impl Tried {
    fn of(sent: Result<ReceiverResponse, DeliveryError>) -> Self {
        let answer = match sent {
            Ok(answer) => answer,
            Err(refused @ DeliveryError::Refused(_)) => return Self::failed(refused.to_string()),
            Err(other) => {
                let error = Some(other.to_string());
                return Self { status: None, error, next: Next::Again(None) };
            }
        };
        let status = answer.status;
        let (error, next) = match status {
            200..=299 => (None, Next::Delivered),
            GONE => (Some("the receiver is gone, and the webhook turned off".to_owned()), Next::Gone),
            300..=399 => {
                let error = format!("the receiver answered {status}, and redirections are not followed");
                (Some(error), Next::Again(None))
            }
            _ => (Some(format!("the receiver answered {status}")), Next::Again(answer.retry_after)),
        };
        Self { status: Some(status), error, next }
    }

    fn failed(error: impl Into<String>) -> Self {
        Self { status: None, error: Some(error.into()), next: Next::Failed }
    }
}
