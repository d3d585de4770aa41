//! Webhook sender that records messages.

use async_trait::async_trait;
use docent_domain::document::{Document, DocumentState};
use docent_domain::error::ValidationError;
use docent_domain::fault::Result as FaultResult;
use docent_domain::webhook::{WebhookPayload, WebhookUrl};
use docent_ports::webhook_sender::{DeliveryError, ReceiverResponse, WebhookMessage, WebhookSender};
use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::watch;

/// The result of sending a message.
pub type Outcome = Result<ReceiverResponse, DeliveryError>;

/// Records messages in the order of sending. Receivers accept everything by default. Hosts that begin with `internal`
/// are not public.
#[derive(Debug)]
pub struct FakeWebhookSender {
    messages: Mutex<Vec<WebhookMessage>>,
    /// Scripted results of the next messages to any receiver.
    script: Mutex<VecDeque<Outcome>>,
    /// Results of all messages to a URL, after the script has ended.
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

/// Returns the event, its time, the document's ID and title, and its status or the reason of its failure.
///
/// # Errors
/// Never.
pub fn fake_body(payload: &WebhookPayload<'_>) -> FaultResult<String> {
    let outcome = |document: &Document| match &document.state {
        DocumentState::Failed(failed) => failed.failure.reason.clone(),
        other => other.name().to_owned(),
    };
    let document = payload
        .document
        .map(|it| format!(" {} {} {}", it.id, it.title.as_str(), outcome(it)))
        .unwrap_or_default();
    Ok(format!("{} {}{document}", payload.event.name(), payload.at.to_rfc3339()))
}

/// Creates a response with this status.
pub fn answered(status: u16) -> Outcome {
    Ok(ReceiverResponse { status, retry_after: None })
}

impl FakeWebhookSender {
    /// Returns the messages sent so far, including failed ones.
    pub fn messages(&self) -> Vec<WebhookMessage> {
        self.messages.lock().expect("not poisoned").clone()
    }

    /// Scripts the result of the next message.
    pub fn script(&self, outcome: Outcome) {
        self.script.lock().expect("not poisoned").push_back(outcome);
    }

    /// Sets the result of all messages to this URL.
    pub fn always(&self, url: &str, outcome: Outcome) {
        self.always.lock().expect("not poisoned").insert(url.to_owned(), outcome);
    }

    /// Allows hosts that are not public.
    pub fn allow_private(&self) {
        self.is_lax.store(true, Ordering::Relaxed);
    }

    /// Blocks messages to this URL until [`Self::let_go`].
    pub fn hold(&self, url: &str) {
        self.held.send_replace(Some(url.to_owned()));
    }

    /// Releases the blocked messages.
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
        self.messages.lock().expect("not poisoned").push(message.clone());
        let url = message.url.as_str();
        let is_free = |held: &Option<String>| held.as_deref() != Some(url);
        let _ = self.held.subscribe().wait_for(is_free).await;
        let scripted = self.script.lock().expect("not poisoned").pop_front();
        let always = || self.always.lock().expect("not poisoned").get(url).cloned();
        scripted.or_else(always).unwrap_or(answered(204))
    }
}
