//! A sender of webhooks' messages that keeps what it is given.

use async_trait::async_trait;
use docent_domain::{error::ValidationError, webhook::WebhookUrl};
use docent_ports::webhook_sender::{DeliveryError, ReceiverResponse, WebhookMessage, WebhookSender};
use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::sync::watch;

/// What a receiver does with a message.
pub type Outcome = Result<ReceiverResponse, DeliveryError>;

/// Keeps messages in the order in which they came. A receiver takes everything unless it is told otherwise. Hosts
/// that begin with `internal` are not public.
#[derive(Debug)]
pub struct FakeWebhookSender {
    messages: Mutex<Vec<WebhookMessage>>,
    /// What comes of the next messages, whoever they are for.
    script: Mutex<VecDeque<Outcome>>,
    /// What comes of all messages to an address, once the script is through.
    always: Mutex<HashMap<String, Outcome>>,
    is_lax: AtomicBool,
    held: watch::Sender<Option<String>>,
}

impl Default for FakeWebhookSender {
    fn default() -> Self {
        Self {
            messages: Mutex::default(),
            script: Mutex::default(),
            always: Mutex::default(),
            is_lax: AtomicBool::new(false),
            held: watch::channel(None).0,
        }
    }
}

/// An answer with this status.
pub fn answered(status: u16) -> Outcome {
    Ok(ReceiverResponse { status, retry_after: None })
}

impl FakeWebhookSender {
    /// What was sent so far, also where nobody took it.
    pub fn messages(&self) -> Vec<WebhookMessage> {
        self.messages.lock().expect("nobody panicked").clone()
    }

    /// Has the next message come to this.
    pub fn script(&self, outcome: Outcome) {
        self.script.lock().expect("nobody panicked").push_back(outcome);
    }

    /// Has all messages to this address come to this.
    pub fn always(&self, url: &str, outcome: Outcome) {
        self.always.lock().expect("nobody panicked").insert(url.to_owned(), outcome);
    }

    /// Has hosts that are not public allowed from now on.
    pub fn allow_private(&self) {
        self.is_lax.store(true, Ordering::Relaxed);
    }

    /// Holds up messages to this address until [`Self::let_go`].
    pub fn hold(&self, url: &str) {
        self.held.send_replace(Some(url.to_owned()));
    }

    /// Lets through what is held up.
    pub fn let_go(&self) {
        self.held.send_replace(None);
    }

    fn refusal(&self, url: &WebhookUrl) -> Option<&'static str> {
        let host = url.as_str().split_once("://").map_or("", |(_, rest)| rest);
        let is_private = host.starts_with("internal") && !self.is_lax.load(Ordering::Relaxed);
        is_private.then_some("leads to a host that is not on the public internet")
    }
}

#[async_trait]
impl WebhookSender for FakeWebhookSender {
    async fn check(&self, url: &WebhookUrl) -> Result<(), ValidationError> {
        self.refusal(url).map_or(Ok(()), |reason| Err(ValidationError::new("url", reason)))
    }

    async fn send(&self, message: &WebhookMessage) -> Outcome {
        if let Some(reason) = self.refusal(&message.url) {
            return Err(DeliveryError::Refused(reason.to_owned()));
        }
        self.messages.lock().expect("nobody panicked").push(message.clone());
        let url = message.url.as_str();
        let is_free = |held: &Option<String>| held.as_deref() != Some(url);
        let _ = self.held.subscribe().wait_for(is_free).await;
        let scripted = self.script.lock().expect("nobody panicked").pop_front();
        let always = || self.always.lock().expect("nobody panicked").get(url).cloned();
        scripted.or_else(always).unwrap_or(answered(204))
    }
}
