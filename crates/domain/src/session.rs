//! Sessions of browsers in the admin panel and on the account pages, and of API clients with refresh tokens.

use crate::id::{SessionId, UserId};
use chrono::{DateTime, TimeDelta, Utc};
use std::net::IpAddr;

/// Maximum lifetime of a browser's session.
pub const BROWSER_SESSION_MAX: TimeDelta = TimeDelta::hours(12);
/// Sessions of browsers end after this time without a request.
pub const PANEL_IDLE_TIMEOUT: TimeDelta = TimeDelta::minutes(30);
/// Maximum lifetime of the session of a person who wants to stay signed in. It does not end without requests.
pub const LASTING_SESSION_MAX: TimeDelta = TimeDelta::days(30);

/// How long a password or code counts as proof of identity for operations that need a recent one.
pub const PROOF_MAX_AGE: TimeDelta = TimeDelta::minutes(10);

/// Maximum stored length of a `User-Agent` in characters.
pub const USER_AGENT_MAX: usize = 300;

/// A login session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// ID of the session; see [`SessionId::family`] for API clients.
    pub id: SessionId,
    /// Account that signed in.
    pub user: UserId,
    /// Kind of client.
    pub kind: SessionKind,
    /// IP address of the client at login.
    pub client_ip: Option<IpAddr>,
    /// `User-Agent` of the client, at most [`USER_AGENT_MAX`] characters.
    pub user_agent: Option<String>,
    /// Time of the login.
    pub started_at: DateTime<Utc>,
    /// Time of the last use: to the minute for browsers, of the last token refresh for API clients.
    pub last_used_at: DateTime<Utc>,
    /// Time of the last proof of identity: the login, or a password or code entered since.
    pub verified_at: DateTime<Utc>,
    /// Expiry time.
    pub expires_at: DateTime<Utc>,
    /// Time of revocation, if it was revoked.
    pub revoked_at: Option<DateTime<Utc>>,
}

impl Session {
    /// Whether the session is valid at `now`: neither revoked, expired nor, in a browser, idle for too long.
    pub fn is_valid(&self, now: DateTime<Utc>) -> bool {
        let is_idle = !self.is_lasting() && now - self.last_used_at > PANEL_IDLE_TIMEOUT;
        self.revoked_at.is_none() && now < self.expires_at && !is_idle
    }

    /// Whether the session does not end without requests: that of an API client, or of a person who wants to stay signed in.
    pub fn is_lasting(&self) -> bool {
        self.kind == SessionKind::Api || self.expires_at - self.started_at > BROWSER_SESSION_MAX
    }

    /// Whether a password or code was entered recently: see [`PROOF_MAX_AGE`].
    pub fn has_recent_proof(&self, now: DateTime<Utc>) -> bool {
        // One of the future is of a time when the clock was ahead.
        (now - self.verified_at).abs() < PROOF_MAX_AGE
    }
}

/// The kind of client of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionKind {
    /// An API client with refresh tokens.
    Api,
    /// A browser with a cookie, in the admin panel and on the account pages.
    Panel,
}

impl SessionKind {
    /// Name of the kind.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Panel => "panel",
        }
    }

    /// Returns the kind with this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Api, Self::Panel].into_iter().find(|kind| kind.name() == name)
    }
}
