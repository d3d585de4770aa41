//! Table rows of API keys and sessions.

use super::client;
use super::session::SignedIn;
use crate::language::t;
use crate::times::Time;
use chrono::{DateTime, Utc};
use docent_domain::access::{DeleteApiKeys, DeleteSessions};
use docent_domain::api_key::{ApiKey, KEY_START};
use docent_domain::connection::Resource;
use docent_domain::id::UserId;
use docent_domain::session::{Session, SessionKind};
use docent_domain::text::Email;
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// Email addresses of accounts, by ID.
pub(crate) type Emails = HashMap<UserId, Email>;

/// Email address of an account, or its ID if it is deleted.
pub(crate) fn email_of(emails: &Emails, user: UserId) -> String {
    emails.get(&user).map_or_else(|| user.to_string(), |email| email.as_str().to_owned())
}

/// Accounts whose email addresses the rows of these keys show: owners and creators.
pub(crate) fn accounts_of<'k>(keys: impl IntoIterator<Item = &'k ApiKey>) -> Vec<UserId> {
    keys.into_iter().flat_map(|key| [Some(key.user), key.created_by]).flatten().collect()
}

/// State of a key, link or session, and the class of its pill.
pub(crate) fn state(revoked: Option<String>, is_valid: bool) -> (String, &'static str) {
    match revoked {
        Some(revoked) => (revoked, "bad"),
        None if is_valid => (t!("state-active"), "ok"),
        None => (t!("state-expired"), "off"),
    }
}

/// Table row of an API key.
#[derive(Serialize)]
pub(crate) struct KeyRow {
    id: String,
    name: String,
    prefix: String,
    owner: String,
    /// Page of the owner in the panel, for actors who can view it.
    owner_page: Option<String>,
    /// Who created the key; none for the command line.
    creator: Option<String>,
    /// Whether another account than the owner created it.
    is_by_other: bool,
    scopes: String,
    /// Number of collections that it is limited to, if it is.
    collections: Option<usize>,
    created: Time,
    expires: Option<Time>,
    last_used: Option<Time>,
    state: String,
    pill: &'static str,
    may_revoke: bool,
    /// Client of a connected application: its host, or its ID if it registered itself.
    application: Option<String>,
    /// What a connected application has access to.
    resource: Option<String>,
}

impl KeyRow {
    /// Adds a link to the page of the owner.
    pub(crate) fn with_owner_page(self, owner_page: Option<String>) -> Self {
        Self { owner_page, ..self }
    }

    pub(crate) fn of(key: &ApiKey, emails: &Emails, viewer: &SignedIn, now: DateTime<Utc>) -> Self {
        let (state, pill) = state(key.revoked_at.map(|_| t!("state-revoked")), key.is_valid(now));
        Self {
            id: key.id.to_string(),
            name: key.name.as_str().to_owned(),
            prefix: format!("{KEY_START}{}", key.prefix.as_str()),
            owner: email_of(emails, key.user),
            owner_page: None,
            creator: key.created_by.map(|creator| match emails.get(&creator) {
                Some(email) => email.as_str().to_owned(),
                None => t!("deleted-account"),
            }),
            is_by_other: key.created_by.is_some_and(|creator| creator != key.user),
            scopes: key.scopes.to_string(),
            collections: key.collections.as_ref().map(BTreeSet::len),
            created: Time::of(key.created_at, now),
            expires: key.expires_at.map(|at| Time::of(at, now)),
            last_used: key.last_used_at.map(|at| Time::of(at, now)),
            state,
            pill,
            may_revoke: key.revoked_at.is_none()
                && viewer.actor.authorize_for::<DeleteApiKeys>(Some(key.user)).is_ok(),
            application: (key.connection.as_ref())
                .map(|connection| connection.client_host().unwrap_or_else(|| connection.client.clone())),
            resource: key.connection.as_ref().map(|connection| match connection.resource {
                Resource::Mcp => t!("authorize-mcp"),
                Resource::Api => t!("authorize-api"),
            }),
        }
    }
}

/// Table row of a session.
#[derive(Serialize)]
pub(crate) struct SessionRow {
    id: String,
    owner: String,
    /// Page of the owner in the panel, for actors who can view it.
    owner_page: Option<String>,
    kind: String,
    from: String,
    /// Name of the client, such as `Firefox on Linux`.
    client: String,
    /// What the client calls itself.
    agent: String,
    started: Time,
    last_used: Time,
    /// `None` if it has ended.
    ends: Option<Time>,
    state: String,
    pill: &'static str,
    is_this: bool,
    may_end: bool,
}

impl SessionRow {
    /// Adds a link to the page of the owner.
    pub(crate) fn with_owner_page(self, owner_page: Option<String>) -> Self {
        Self { owner_page, ..self }
    }

    pub(crate) fn of(session: &Session, emails: &Emails, viewer: &SignedIn, now: DateTime<Utc>) -> Self {
        let (state, pill) = state(session.revoked_at.map(|_| t!("state-ended")), session.is_valid(now));
        Self {
            id: session.id.to_string(),
            owner: email_of(emails, session.user),
            owner_page: None,
            kind: match session.kind {
                SessionKind::Api => t!("session-api"),
                SessionKind::Panel => t!("session-browser"),
            },
            from: session.client_ip.map_or_else(String::new, |from| from.to_string()),
            client: session.user_agent.as_deref().map(client::name).unwrap_or_default(),
            agent: session.user_agent.clone().unwrap_or_default(),
            started: Time::of(session.started_at, now),
            last_used: Time::of(session.last_used_at, now),
            ends: session.is_valid(now).then(|| Time::of(session.expires_at, now)),
            state,
            pill,
            is_this: session.id == viewer.session,
            may_end: session.is_valid(now)
                && viewer.actor.authorize_for::<DeleteSessions>(Some(session.user)).is_ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl KeyRow {
        /// A key with all values, and one with none.
        pub(crate) fn samples() -> Vec<Self> {
            let row = |owner_page: Option<&str>, time: fn() -> Option<Time>, may_revoke| Self {
                id: "1".to_owned(),
                name: "Key".to_owned(),
                prefix: "dk_1".to_owned(),
                owner: "a@example.com".to_owned(),
                owner_page: owner_page.map(str::to_owned),
                creator: owner_page.map(|_| "b@example.com".to_owned()),
                is_by_other: may_revoke,
                collections: owner_page.map(|_| 2),
                scopes: "query".to_owned(),
                created: Time::sample(),
                expires: time(),
                last_used: time(),
                state: "active".to_owned(),
                pill: "ok",
                may_revoke,
                application: owner_page.map(|_| "example.org".to_owned()),
                resource: owner_page.map(|_| "API".to_owned()),
            };
            vec![row(Some("/admin/users/1"), || Some(Time::sample()), true), row(None, || None, false)]
        }
    }

    impl SessionRow {
        /// The current session with all values, and one with none.
        pub(crate) fn samples() -> Vec<Self> {
            let row = |owner_page: Option<&str>, from: &str, is_this: bool| Self {
                id: "1".to_owned(),
                owner: "a@example.com".to_owned(),
                owner_page: owner_page.map(str::to_owned),
                kind: "browser".to_owned(),
                from: from.to_owned(),
                client: from.to_owned(),
                agent: from.to_owned(),
                started: Time::sample(),
                last_used: Time::sample(),
                ends: is_this.then(Time::sample),
                state: "active".to_owned(),
                pill: "ok",
                is_this,
                may_end: is_this,
            };
            vec![row(Some("/admin/users/1"), "192.0.2.1", true), row(None, "", false)]
        }
    }
}
