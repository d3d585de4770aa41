//! Logins that last: those of browsers at the panel, and those of clients that hold refresh tokens.

use crate::id::{SessionId, UserId};
use chrono::{DateTime, TimeDelta, Utc};
use std::net::IpAddr;

/// A session of the panel ends after this time without a request.
pub const PANEL_IDLE: TimeDelta = TimeDelta::minutes(30);

/// The most characters that are kept of how a client calls itself.
pub const AGENT_MAX: usize = 300;

/// A login that lasts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its id; see [`SessionId::family`] for those of clients.
    pub id: SessionId,
    /// Whose it is.
    pub user: UserId,
    /// Where it is used.
    pub kind: SessionKind,
    /// Where the login came from.
    pub from: Option<IpAddr>,
    /// How the client called itself, at most [`AGENT_MAX`] characters.
    pub agent: Option<String>,
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// When it was last used: at the panel to the minute, of a client when it last got a new token.
    pub last_used_at: DateTime<Utc>,
    /// When it ends by itself.
    pub expires_at: DateTime<Utc>,
    /// Since when it is refused; none while it is good.
    pub revoked_at: Option<DateTime<Utc>>,
}

impl Session {
    /// Whether it is good at `now`, as far as its record tells: one of the panel also ends for want of requests.
    pub fn is_good(&self, now: DateTime<Utc>) -> bool {
        let is_idle = self.kind == SessionKind::Panel && now - self.last_used_at > PANEL_IDLE;
        self.revoked_at.is_none() && now < self.expires_at && !is_idle
    }
}

/// Where a session is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionKind {
    /// By a client of the API, with refresh tokens.
    Api,
    /// By a browser at the panel, with a cookie.
    Panel,
}

impl SessionKind {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Panel => "panel",
        }
    }

    /// The kind with this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Api, Self::Panel].into_iter().find(|kind| kind.name() == name)
    }
}
