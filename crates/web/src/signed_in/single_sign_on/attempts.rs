//! Sign-ins that were begun in a browser, in its signed cookie.

use crate::session_cookie::ATTEMPTS;
use actix_session::{Session, SessionInsertError};
use chrono::{DateTime, TimeDelta, Utc};
use docent_app::accounts::single_sign_on::Attempt;
use serde::{Deserialize, Serialize};

/// How long a person may take to sign in at the provider.
const MAX_AGE: TimeDelta = TimeDelta::minutes(30);
/// Attempts of one browser at the same time, such as in several tabs.
const MAX: usize = 3;
/// Maximum length of the paths of all attempts: cookies have at most 4 kB.
const MAX_PATHS: usize = 2000;

/// What follows the provider's response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Purpose {
    /// A session starts.
    SignIn,
    /// The account of the session is connected with the person at the provider.
    Connect,
    /// The identity of the session's account is proven again.
    Prove,
}

/// A sign-in that waits for the provider's response.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PendingAttempt {
    secret: String,
    provider: String,
    purpose: Purpose,
    next: String,
    begun_at: i64,
}

impl PendingAttempt {
    pub(super) fn new(
        attempt: &Attempt,
        provider: &str,
        purpose: Purpose,
        next: &str,
        now: DateTime<Utc>,
    ) -> Self {
        Self {
            secret: attempt.secret(),
            provider: provider.to_owned(),
            purpose,
            next: next.to_owned(),
            begun_at: now.timestamp_micros(),
        }
    }

    pub(super) fn provider(&self) -> &str {
        &self.provider
    }

    pub(super) fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Page to open afterwards.
    pub(super) fn next(&self) -> &str {
        &self.next
    }

    pub(super) fn begun_at(&self) -> DateTime<Utc> {
        DateTime::from_timestamp_micros(self.begun_at).unwrap_or_default()
    }
}

/// The page that is opened instead of one with a longer path.
const CHAT: &str = "/chat";

fn read(cookie: &Session) -> Vec<PendingAttempt> {
    cookie.get(ATTEMPTS).ok().flatten().unwrap_or_default()
}

/// The sign-ins that were begun. Other attempts are for the account that is signed in, and end with its session.
pub(crate) fn sign_ins(cookie: &Session) -> Vec<PendingAttempt> {
    read(cookie).into_iter().filter(|pending| pending.purpose == Purpose::SignIn).collect()
}

/// Remembers an attempt, and forgets the oldest ones if there are too many.
pub(super) fn remember(cookie: &Session, pending: PendingAttempt) -> Result<(), SessionInsertError> {
    let mut all = read(cookie);
    all.push(pending);
    let length = |all: &[PendingAttempt]| all.iter().map(|pending| pending.next.len()).sum::<usize>();
    while all.len() > 1 && (all.len() > MAX || length(&all) > MAX_PATHS) {
        all.remove(0);
    }
    if length(&all) > MAX_PATHS {
        all.iter_mut().for_each(|pending| CHAT.clone_into(&mut pending.next));
    }
    cookie.insert(ATTEMPTS, all)
}

/// Takes the attempt with this state out of the cookie, if this browser began it at this provider and not too long ago.
pub(super) fn take(
    cookie: &Session,
    provider: &str,
    state: &str,
    now: DateTime<Utc>,
) -> Result<Option<(Attempt, PendingAttempt)>, SessionInsertError> {
    let mut all = read(cookie);
    let attempt = |pending: &PendingAttempt| Attempt::parse(&pending.secret);
    let is_meant =
        |pending: &PendingAttempt| attempt(pending).is_some_and(|attempt| attempt.state() == state);
    let Some(position) = all.iter().position(is_meant) else { return Ok(None) };
    let pending = all.remove(position);
    cookie.insert(ATTEMPTS, all)?;
    let is_valid = pending.provider == provider && now - pending.begun_at() < MAX_AGE;
    Ok(attempt(&pending).filter(|_| is_valid).map(|attempt| (attempt, pending)))
}
