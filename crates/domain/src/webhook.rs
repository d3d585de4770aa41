//! Webhook subscriptions and deliveries.

use crate::access::{Actor, ViewDocuments};
use crate::document::Document;
use crate::error::ValidationError;
use crate::id::{DocumentId, LeaseId, UserId, WebhookDeliveryId, WebhookId};
use chrono::{DateTime, TimeDelta, Utc};
use std::fmt;

/// Maximum number of webhooks per account.
pub const WEBHOOKS_MAX: u64 = 20;
/// Maximum length of a [`WebhookUrl`] in characters.
pub const WEBHOOK_URL_MAX: usize = 2000;
/// Maximum length of a [`WebhookDescription`] in characters.
pub const WEBHOOK_DESCRIPTION_MAX: usize = 200;
/// How long the previous secret also signs after a rotation.
pub const SECRET_OVERLAP: TimeDelta = TimeDelta::hours(24);

/// A webhook subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// ID of the webhook.
    pub id: WebhookId,
    /// Account that owns it and whose documents it reports.
    pub owner: UserId,
    /// URL of the receiver.
    pub url: WebhookUrl,
    /// Description given by the owner; may be empty.
    pub description: WebhookDescription,
    /// Subscribed events.
    pub events: WebhookEvents,
    /// Whether it reports documents of all accounts; see [`Self::is_allowed`].
    pub all_documents: bool,
    /// Whether deliveries are enabled.
    pub is_active: bool,
    /// Secret that signs its messages.
    pub secret: WebhookSecret,
    /// Previous secret, which also signs until the given time.
    pub previous_secret: Option<(WebhookSecret, DateTime<Utc>)>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

impl Webhook {
    /// Whether `actor` owns the webhook and is allowed to receive the documents it reports; its own ones also need
    /// [`Scope::contains`](crate::scope::Scope::contains).
    pub fn is_allowed(&self, actor: &Actor) -> bool {
        actor.user() == self.owner && (!self.all_documents || actor.authorize::<ViewDocuments>().is_ok())
    }

    /// Returns the secrets that sign at `now`, the current one first.
    pub fn secrets(&self, now: DateTime<Utc>) -> impl Iterator<Item = &WebhookSecret> {
        let previous = self.previous_secret.as_ref().filter(|(_, until)| now < *until);
        [&self.secret].into_iter().chain(previous.map(|(secret, _)| secret))
    }

    /// Replaces the secret. The previous one also signs for [`SECRET_OVERLAP`].
    #[must_use]
    pub fn rotated(self, secret: WebhookSecret, now: DateTime<Utc>) -> Self {
        let previous_secret = Some((self.secret, now + SECRET_OVERLAP));
        Self { secret, previous_secret, updated_at: now, ..self }
    }
}

/// The URL of a webhook receiver: `http` or `https`, at most [`WEBHOOK_URL_MAX`] characters, no white space. The
/// sender decides whether requests to it are allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookUrl(String);

impl WebhookUrl {
    /// Parses a URL.
    ///
    /// # Errors
    /// If it has another scheme, is too long, or contains white space or control characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let wrong = |reason: &str| Err(ValidationError::new("url", reason));
        let text = text.trim();
        let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
        if !matches!(scheme.as_str(), "http" | "https") {
            return wrong("must begin with https://, or with http:// where private addresses are allowed");
        }
        if text.chars().count() > WEBHOOK_URL_MAX {
            return wrong("must have at most 2000 characters");
        }
        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return wrong("must not contain white space or control characters");
        }
        Ok(Self(text.to_owned()))
    }

    /// The URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The URL without its secrets, for everyone but the owner: user name, query and fragment are replaced by `…`, and so
    /// is each part of the path that can be a token.
    pub fn masked(&self) -> String {
        let (scheme, rest) = self.0.split_once("://").unwrap_or(("", &self.0));
        let (authority, rest) = rest.split_at(rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len()));
        let (path, hidden) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
        let host =
            authority.rsplit_once('@').map_or_else(|| authority.to_owned(), |(_, host)| format!("…@{host}"));
        let path: Vec<&str> =
            path.split('/').map(|part| if can_be_token(part) { "…" } else { part }).collect();
        let query = hidden.chars().next().map_or_else(String::new, |mark| format!("{mark}…"));
        format!("{scheme}://{host}{}{query}", path.join("/"))
    }
}

/// Whether a part of a path is long enough for a secret, and does not consist of short words.
fn can_be_token(part: &str) -> bool {
    const WORD_MAX: usize = 15;
    let is_word = |word: &str| word.chars().count() <= WORD_MAX && !word.chars().any(|c| c.is_ascii_digit());
    part.chars().count() > WORD_MAX && !part.split(['-', '_', '.']).all(is_word)
}

/// The description of a webhook: trimmed, at most [`WEBHOOK_DESCRIPTION_MAX`] characters on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookDescription(String);

impl WebhookDescription {
    /// Parses a description, which may be empty.
    ///
    /// # Errors
    /// If it is too long or contains control or direction characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        crate::text::parse_label("description", text, WEBHOOK_DESCRIPTION_MAX).map(Self)
    }

    /// The description.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The key that the messages of a webhook are signed with.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret([u8; 32]);

impl WebhookSecret {
    /// Creates a secret from random bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes, for signing, displaying once and storing.
    pub const fn expose(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret")
    }
}

/// An event that webhooks can report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WebhookEvent {
    /// A document became searchable.
    DocumentIngested,
    /// Ingestion of a document failed.
    DocumentFailed,
    /// Ingestion of another file for a document failed; its former file stays searchable.
    ReplacementFailed,
    /// A test message. Sent on request; cannot be subscribed to.
    Ping,
}

impl WebhookEvent {
    /// Events that can be subscribed to.
    pub const CHOICES: &[Self] = &[Self::DocumentIngested, Self::DocumentFailed, Self::ReplacementFailed];

    /// Name of the event.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DocumentIngested => "document.ingested",
            Self::DocumentFailed => "document.failed",
            Self::ReplacementFailed => "document.replacement_failed",
            Self::Ping => "ping",
        }
    }

    /// Returns the event with this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::CHOICES, &[Self::Ping]].concat().into_iter().find(|event| event.name() == name)
    }
}

/// Content of a message, before serialization.
#[derive(Clone, Copy, Debug)]
pub struct WebhookPayload<'a> {
    /// The event.
    pub event: WebhookEvent,
    /// Time of the event.
    pub at: DateTime<Utc>,
    /// The document, unless the event is a test message.
    pub document: Option<&'a Document>,
}

/// A non-empty set of subscribed events.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct WebhookEvents(u8);

impl WebhookEvents {
    /// All events that can be subscribed to.
    pub fn all() -> Self {
        Self(WebhookEvent::CHOICES.iter().fold(0, |set, event| set | 1 << *event as u8))
    }

    /// Parses names.
    ///
    /// # Errors
    /// If there is no name or an event cannot be subscribed to.
    pub fn parse<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Self, ValidationError> {
        let wrong = || {
            let names: Vec<_> = WebhookEvent::CHOICES.iter().map(|event| event.name()).collect();
            ValidationError::new("events", format!("must be one or more of {}", names.join(", ")))
        };
        let choice = |name| WebhookEvent::CHOICES.iter().find(|event| event.name() == name);
        let mut set = 0;
        for name in names {
            set |= 1 << *choice(name).ok_or_else(wrong)? as u8;
        }
        if set == 0 { Err(wrong()) } else { Ok(Self(set)) }
    }

    /// Whether the set contains `event`.
    pub const fn contains(self, event: WebhookEvent) -> bool {
        self.0 & (1 << event as u8) != 0
    }

    /// Iterates over the names in the order of [`WebhookEvent::CHOICES`].
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        WebhookEvent::CHOICES.iter().filter(move |event| self.contains(**event)).map(|event| event.name())
    }
}

impl fmt::Display for WebhookEvents {
    /// Writes the names, separated by spaces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().collect::<Vec<_>>().join(" "))
    }
}

impl fmt::Debug for WebhookEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// The delivery of one event to one webhook. All attempts send the same message ID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookDelivery {
    /// ID of the delivery and of its message.
    pub id: WebhookDeliveryId,
    /// Receiving webhook.
    pub webhook: WebhookId,
    /// Reported event.
    pub event: WebhookEvent,
    /// Reported document, which may have been deleted.
    pub document: Option<DocumentId>,
    /// Message body, as of the time of the event.
    pub body: String,
    /// Current state.
    pub state: DeliveryState,
    /// Number of attempts since it was created or resent.
    pub attempts: u32,
    /// HTTP status of the last attempt, if there was a response.
    pub last_status: Option<u16>,
    /// Why the last attempt failed, for the webhook's owner.
    pub last_error: Option<String>,
    /// Time of the event.
    pub created_at: DateTime<Utc>,
    /// Time of the last attempt or change.
    pub updated_at: DateTime<Utc>,
}

/// The state of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryState {
    /// Waiting for the next attempt at this time.
    Pending(DateTime<Utc>),
    /// Accepted by the receiver.
    Delivered,
    /// Failed after the last attempt.
    Failed,
}

impl DeliveryState {
    /// Name of the state.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending(_) => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }

    /// Time of the next attempt, if any.
    pub const fn next_attempt(self) -> Option<DateTime<Utc>> {
        match self {
            Self::Pending(at) => Some(at),
            Self::Delivered | Self::Failed => None,
        }
    }
}

/// A leased delivery. While the lease is valid, no other process sends to the same webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasedDelivery {
    /// ID of the lease.
    pub lease: LeaseId,
    /// Receiving webhook.
    pub webhook: Webhook,
    /// Delivery to send.
    pub delivery: WebhookDelivery,
}

/// Delays between consecutive attempts.
const RETRY_DELAYS: [TimeDelta; 8] = [
    TimeDelta::seconds(5),
    TimeDelta::seconds(30),
    TimeDelta::minutes(2),
    TimeDelta::minutes(10),
    TimeDelta::hours(1),
    TimeDelta::hours(3),
    TimeDelta::hours(8),
    TimeDelta::hours(24),
];

/// Maximum number of attempts of a delivery.
pub const ATTEMPTS_MAX: u32 = RETRY_DELAYS.len() as u32 + 1;

/// Maximum delay that a receiver can request.
const REQUESTED_DELAY_MAX: TimeDelta = TimeDelta::hours(24);

/// Returns the delay before the next attempt after `attempts` failed ones, or `None` if no attempt is left.
///
/// `random` adds up to a tenth of jitter, so that deliveries that failed together are not retried together. A
/// longer delay requested by the receiver is respected, up to a day.
pub fn retry_delay(attempts: u32, random: u8, requested: Option<TimeDelta>) -> Option<TimeDelta> {
    let delay = *RETRY_DELAYS.get(attempts.checked_sub(1)? as usize)?;
    let jitter = delay / 10 * i32::from(random) / 255;
    Some((delay + jitter).max(requested.unwrap_or_default().min(REQUESTED_DELAY_MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masked_url_has_no_secret() {
        for (url, masked) in [
            ("https://example.org/hook", "https://example.org/hook"),
            ("https://example.org:8443", "https://example.org:8443"),
            ("https://ada:hunter2@example.org/x", "https://…@example.org/x"),
            ("https://a@b@example.org", "https://…@example.org"),
            ("https://example.org/hook?key=hunter2#x", "https://example.org/hook?…"),
            ("https://example.org#hunter2", "https://example.org#…"),
            ("https://example.org?a@b", "https://example.org?…"),
            (
                "https://hooks.example.org/services/T024BE7LD/B0DHM9XYZ/XXq7mA1cTf0Zt2bKw9LrE4vN",
                "https://hooks.example.org/services/T024BE7LD/B0DHM9XYZ/…",
            ),
            ("https://example.org/01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e/in", "https://example.org/…/in"),
            (
                "https://example.org/document-ingestion-receiver",
                "https://example.org/document-ingestion-receiver",
            ),
            ("https://example.org/qwertyuiopasdfghjkl", "https://example.org/…"),
        ] {
            assert_eq!(WebhookUrl::parse(url).unwrap().masked(), masked);
        }
    }

    #[test]
    fn retry_delay_grows_to_a_day_and_ends_after_nine_attempts() {
        let pauses: Vec<_> =
            (1..=9).map(|n| retry_delay(n, 0, None).map(|pause| pause.num_seconds())).collect();
        let expected = [5, 30, 120, 600, 3600, 10_800, 28_800, 86_400].map(Some);
        assert_eq!(pauses[..8], expected);
        assert_eq!((pauses[8], ATTEMPTS_MAX), (None, 9));
        assert_eq!(retry_delay(0, 0, None), None);
    }

    #[test]
    fn retry_delay_has_bounded_jitter_and_respects_requested_delay_within_bounds() {
        assert_eq!(retry_delay(2, 255, None), Some(TimeDelta::seconds(33)));
        assert_eq!(retry_delay(1, 0, Some(TimeDelta::seconds(90))), Some(TimeDelta::seconds(90)));
        assert_eq!(retry_delay(1, 0, Some(TimeDelta::seconds(1))), Some(TimeDelta::seconds(5)));
        assert_eq!(retry_delay(1, 0, Some(TimeDelta::days(9))), Some(TimeDelta::days(1)));
    }

    #[test]
    fn events_reject_empty_and_unsubscribable_names() {
        let names = ["document.replacement_failed", "document.failed", "document.ingested"];
        let events = WebhookEvents::parse(names).unwrap();
        assert_eq!(
            (events, events.to_string().as_str()),
            (WebhookEvents::all(), "document.ingested document.failed document.replacement_failed")
        );
        assert!(!WebhookEvents::parse(["document.failed"]).unwrap().contains(WebhookEvent::DocumentIngested));
        for wrong in [&[][..], &["ping"], &["document.failed", "x"]] {
            assert!(WebhookEvents::parse(wrong.iter().copied()).is_err(), "{wrong:?}");
        }
        assert_eq!(WebhookEvent::parse("ping"), Some(WebhookEvent::Ping));
    }

    #[test]
    fn webhook_url_must_be_http_without_white_space() {
        assert_eq!(
            WebhookUrl::parse(" HTTPS://example.org/x?y ").unwrap().as_str(),
            "HTTPS://example.org/x?y"
        );
        let long = format!("https://example.org/{}", "x".repeat(WEBHOOK_URL_MAX));
        for wrong in
            ["", "example.org", "ftp://example.org", "https:/x", "https://a b", "https://a\nb", &long]
        {
            assert!(WebhookUrl::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn secret_is_redacted_in_debug() {
        assert_eq!(format!("{:?}", WebhookSecret::from_bytes([7; 32])), "WebhookSecret");
    }
}
