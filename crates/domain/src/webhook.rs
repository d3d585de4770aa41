//! Webhooks: who is told of what becomes of documents, and what became of telling them.

use crate::{
    access::{Actor, ViewDocuments},
    error::ValidationError,
    id::{DocumentId, LeaseId, UserId, WebhookDeliveryId, WebhookId},
};
use chrono::{DateTime, TimeDelta, Utc};
use std::fmt;

/// The most webhooks of an account.
pub const WEBHOOKS_MAX: u64 = 20;
/// The most characters of a [`WebhookUrl`].
pub const WEBHOOK_URL_MAX: usize = 2000;
/// The most characters of what a webhook is called.
pub const WEBHOOK_DESCRIPTION_MAX: usize = 200;
/// How long the secret before signs beside a new one.
pub const SECRET_OVERLAP: TimeDelta = TimeDelta::hours(24);

/// An address that wants to be told of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Its id.
    pub id: WebhookId,
    /// Whose it is; it is told of this account's documents.
    pub owner: UserId,
    /// Where it is told.
    pub url: WebhookUrl,
    /// What it is for, in words of its owner; may be empty.
    pub description: WebhookDescription,
    /// What it is told of.
    pub events: WebhookEvents,
    /// Whether it is told of the documents of all accounts; see [`Self::is_allowed`].
    pub all_documents: bool,
    /// Whether it is told of anything at present.
    pub is_active: bool,
    /// What its messages are signed with.
    pub secret: WebhookSecret,
    /// The secret before, which signs too until the instant beside it.
    pub previous_secret: Option<(WebhookSecret, DateTime<Utc>)>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}

impl Webhook {
    /// Whether its owner, who is `actor`, may be told what it asks for.
    pub fn is_allowed(&self, actor: &Actor) -> bool {
        actor.user() == self.owner && (!self.all_documents || actor.authorize::<ViewDocuments>().is_ok())
    }

    /// The secrets that sign at `now`, the present one first.
    pub fn secrets(&self, now: DateTime<Utc>) -> impl Iterator<Item = &WebhookSecret> {
        let previous = self.previous_secret.as_ref().filter(|(_, until)| now < *until);
        [&self.secret].into_iter().chain(previous.map(|(secret, _)| secret))
    }

    /// The webhook with another secret; the one that it had goes on signing for [`SECRET_OVERLAP`].
    #[must_use]
    pub fn rotated(self, secret: WebhookSecret, now: DateTime<Utc>) -> Self {
        let previous_secret = Some((self.secret, now + SECRET_OVERLAP));
        Self { secret, previous_secret, updated_at: now, ..self }
    }
}

/// Where a webhook is told: an `http` or `https` address of at most [`WEBHOOK_URL_MAX`] characters without white
/// space. Whether it may be asked at all is for the sender to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookUrl(String);

impl WebhookUrl {
    /// Parses an address.
    ///
    /// # Errors
    /// When it has another scheme, is too long, or holds white space or control characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let wrong = |reason: &str| Err(ValidationError::new("url", reason));
        let text = text.trim();
        let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
        if !matches!(scheme.as_str(), "http" | "https") {
            return wrong("must begin with https:// or http://");
        }
        if text.chars().count() > WEBHOOK_URL_MAX {
            return wrong("must have at most 2000 characters");
        }
        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return wrong("must not hold white space or control characters");
        }
        Ok(Self(text.to_owned()))
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a webhook is for: trimmed, at most [`WEBHOOK_DESCRIPTION_MAX`] characters on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookDescription(String);

impl WebhookDescription {
    /// Parses a description, which may be empty.
    ///
    /// # Errors
    /// When it is too long or holds control characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        crate::group::label("description", text, WEBHOOK_DESCRIPTION_MAX).map(Self)
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
    /// The secret of these random bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes, for signing, showing once, and storing.
    pub const fn expose(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret")
    }
}

/// Something that webhooks are told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WebhookEvent {
    /// A document can be found now.
    DocumentIngested,
    /// A document was given up.
    DocumentFailed,
    /// Somebody wants to see whether messages arrive. It is not chosen, but asked for.
    Ping,
}

impl WebhookEvent {
    /// Those that can be chosen.
    pub const CHOICES: &[Self] = &[Self::DocumentIngested, Self::DocumentFailed];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DocumentIngested => "document.ingested",
            Self::DocumentFailed => "document.failed",
            Self::Ping => "ping",
        }
    }

    /// The event with this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::CHOICES, &[Self::Ping]].concat().into_iter().find(|event| event.name() == name)
    }
}

/// What a webhook is told of: one event or more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct WebhookEvents(u8);

impl WebhookEvents {
    /// Everything that can be chosen.
    pub fn all() -> Self {
        Self(WebhookEvent::CHOICES.iter().fold(0, |set, event| set | 1 << *event as u8))
    }

    /// Parses names.
    ///
    /// # Errors
    /// When there is none, or one cannot be chosen.
    pub fn parse<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Self, ValidationError> {
        let wrong =
            || ValidationError::new("events", "must be one or more of document.ingested and document.failed");
        let choice = |name| WebhookEvent::CHOICES.iter().find(|event| event.name() == name);
        let mut set = 0;
        for name in names {
            set |= 1 << *choice(name).ok_or_else(wrong)? as u8;
        }
        if set == 0 { Err(wrong()) } else { Ok(Self(set)) }
    }

    /// Whether it is among them.
    pub const fn contains(self, event: WebhookEvent) -> bool {
        self.0 & (1 << event as u8) != 0
    }

    /// The names, in the order of [`WebhookEvent::CHOICES`].
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        WebhookEvent::CHOICES.iter().filter(move |event| self.contains(**event)).map(|event| event.name())
    }
}

impl fmt::Display for WebhookEvents {
    /// Writes the names with spaces between them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().collect::<Vec<_>>().join(" "))
    }
}

impl fmt::Debug for WebhookEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// One event on its way to one webhook. Its id is that of the message, whenever and however often it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookDelivery {
    /// Its id.
    pub id: WebhookDeliveryId,
    /// Whom it is for.
    pub webhook: WebhookId,
    /// What it tells of.
    pub event: WebhookEvent,
    /// The document that it tells of, which may be gone.
    pub document: Option<DocumentId>,
    /// What is sent, as it was when the event happened.
    pub body: String,
    /// Where it is.
    pub state: DeliveryState,
    /// Tries since it came, or was asked for anew.
    pub attempts: u32,
    /// The status that the last try was answered with, if it was.
    pub last_status: Option<u16>,
    /// Why the last try did not do; for the webhook's owner.
    pub last_error: Option<String>,
    /// When the event happened.
    pub created_at: DateTime<Utc>,
    /// When it was last tried, or last changed.
    pub updated_at: DateTime<Utc>,
}

/// Where a delivery is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryState {
    /// To be tried, not before this.
    Pending(DateTime<Utc>),
    /// Taken by the receiver.
    Delivered,
    /// Given up.
    Failed,
}

impl DeliveryState {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending(_) => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }

    /// When it is tried next, if it is.
    pub const fn next_attempt(self) -> Option<DateTime<Utc>> {
        match self {
            Self::Pending(at) => Some(at),
            Self::Delivered | Self::Failed => None,
        }
    }
}

/// A delivery that somebody has taken on; while they hold the lease nobody else tells its webhook anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasedDelivery {
    /// The lease.
    pub lease: LeaseId,
    /// Whom it is for.
    pub webhook: Webhook,
    /// What is to be sent.
    pub delivery: WebhookDelivery,
}

/// The pauses after the first try and those that follow; after the last one there is one try more.
const PAUSES: [TimeDelta; 8] = [
    TimeDelta::seconds(5),
    TimeDelta::seconds(30),
    TimeDelta::minutes(2),
    TimeDelta::minutes(10),
    TimeDelta::hours(1),
    TimeDelta::hours(3),
    TimeDelta::hours(8),
    TimeDelta::hours(24),
];

/// The tries of a delivery before it is given up.
pub const ATTEMPTS_MAX: u32 = PAUSES.len() as u32 + 1;

/// The longest pause that a receiver may ask for.
const ASKED_MAX: TimeDelta = TimeDelta::hours(24);

/// How long to wait after `attempts` tries that did not do; none when the last one was the last.
///
/// The pause is up to a tenth longer by chance, `0` to `255`, so that those who failed together do not come back
/// together. A receiver that says when to come back is believed up to a day, but not for less than the pause.
pub fn pause_after(attempts: u32, chance: u8, asked: Option<TimeDelta>) -> Option<TimeDelta> {
    let pause = *PAUSES.get(attempts.checked_sub(1)? as usize)?;
    let jitter = pause / 10 * i32::from(chance) / 255;
    Some((pause + jitter).max(asked.unwrap_or_default().min(ASKED_MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_day_and_the_ninth_try_is_the_last() {
        let pauses: Vec<_> =
            (1..=9).map(|n| pause_after(n, 0, None).map(|pause| pause.num_seconds())).collect();
        let expected = [5, 30, 120, 600, 3600, 10_800, 28_800, 86_400].map(Some);
        assert_eq!(pauses[..8], expected);
        assert_eq!((pauses[8], ATTEMPTS_MAX), (None, 9));
        assert_eq!(pause_after(0, 0, None), None);
    }

    #[test]
    fn chance_makes_a_pause_up_to_a_tenth_longer_and_receivers_are_believed_within_bounds() {
        assert_eq!(pause_after(2, 255, None), Some(TimeDelta::seconds(33)));
        assert_eq!(pause_after(1, 0, Some(TimeDelta::seconds(90))), Some(TimeDelta::seconds(90)));
        assert_eq!(pause_after(1, 0, Some(TimeDelta::seconds(1))), Some(TimeDelta::seconds(5)));
        assert_eq!(pause_after(1, 0, Some(TimeDelta::days(9))), Some(TimeDelta::days(1)));
    }

    #[test]
    fn events_are_named_and_never_none() {
        let events = WebhookEvents::parse(["document.failed", "document.ingested"]).unwrap();
        assert_eq!(
            (events, events.to_string().as_str()),
            (WebhookEvents::all(), "document.ingested document.failed")
        );
        assert!(!WebhookEvents::parse(["document.failed"]).unwrap().contains(WebhookEvent::DocumentIngested));
        for wrong in [&[][..], &["ping"], &["document.failed", "x"]] {
            assert!(WebhookEvents::parse(wrong.iter().copied()).is_err(), "{wrong:?}");
        }
        assert_eq!(WebhookEvent::parse("ping"), Some(WebhookEvent::Ping));
    }

    #[test]
    fn an_address_is_of_the_web_and_on_one_line() {
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
    fn no_secret_shows() {
        assert_eq!(format!("{:?}", WebhookSecret::from_bytes([7; 32])), "WebhookSecret");
    }
}
