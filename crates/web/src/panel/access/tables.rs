//! Table rows for keys, links, sessions and audit log entries.

use super::kinds;
use crate::panel::session::Staff;
use crate::panel::times::Time;
use chrono::{DateTime, Utc};
use docent_domain::access::{DeleteApiKeys, DeleteSessions, DeleteVerifications};
use docent_domain::api_key::ApiKey;
use docent_domain::audit::{AuditActor, AuditEntry};
use docent_domain::id::UserId;
use docent_domain::permission::RecordKind;
use docent_domain::session::Session;
use docent_domain::text::Email;
use docent_domain::verification::{VerificationPurpose, VerificationToken};
use serde::Serialize;
use std::collections::HashMap;

/// Email addresses of accounts, by ID.
pub(super) type Emails = HashMap<UserId, Email>;

fn email_of(emails: &Emails, user: UserId) -> String {
    emails.get(&user).map_or_else(|| user.to_string(), |email| email.as_str().to_owned())
}

fn page_of(staff: &Staff, user: UserId) -> Option<String> {
    kinds::page(RecordKind::User, &user.to_string(), &staff.actor)
}

/// State of a key, link or session, and the class of its pill.
fn state(revoked: Option<&'static str>, is_valid: bool) -> (&'static str, &'static str) {
    match revoked {
        Some(revoked) => (revoked, "bad"),
        None if is_valid => ("active", "ok"),
        None => ("expired", "off"),
    }
}

/// Table row of an API key.
#[derive(Serialize)]
pub(super) struct KeyRow {
    id: String,
    name: String,
    prefix: String,
    owner: String,
    owner_page: Option<String>,
    scopes: String,
    created: Time,
    expires: Option<Time>,
    last_used: Option<Time>,
    state: &'static str,
    pill: &'static str,
    may_revoke: bool,
}

impl KeyRow {
    pub(super) fn of(key: &ApiKey, emails: &Emails, staff: &Staff, now: DateTime<Utc>) -> Self {
        let (state, pill) = state(key.revoked_at.map(|_| "revoked"), key.is_valid(now));
        Self {
            id: key.id.to_string(),
            name: key.name.as_str().to_owned(),
            prefix: key.prefix.as_str().to_owned(),
            owner: email_of(emails, key.user),
            owner_page: page_of(staff, key.user),
            scopes: key.scopes.to_string(),
            created: Time::of(key.created_at, now),
            expires: key.expires_at.map(|at| Time::of(at, now)),
            last_used: key.last_used_at.map(|at| Time::of(at, now)),
            state,
            pill,
            may_revoke: key.revoked_at.is_none()
                && staff.actor.authorize_for::<DeleteApiKeys>(Some(key.user)).is_ok(),
        }
    }
}

/// Table row of a verification link.
#[derive(Serialize)]
pub(super) struct VerificationRow {
    id: String,
    owner: String,
    owner_page: Option<String>,
    purpose: &'static str,
    state: &'static str,
    pill: &'static str,
    created: Time,
    expires: Time,
    may_revoke: bool,
}

impl VerificationRow {
    pub(super) fn of(token: &VerificationToken, emails: &Emails, staff: &Staff, now: DateTime<Utc>) -> Self {
        let (state, pill) = state(None, token.is_valid(now));
        Self {
            id: token.id.to_string(),
            owner: email_of(emails, token.user),
            owner_page: page_of(staff, token.user),
            purpose: match token.purpose {
                VerificationPurpose::VerifyEmail => "email verification",
                VerificationPurpose::ResetPassword => "password reset",
            },
            state,
            pill,
            created: Time::of(token.created_at, now),
            expires: Time::of(token.expires_at, now),
            may_revoke: staff.actor.authorize::<DeleteVerifications>().is_ok(),
        }
    }
}

/// Table row of a session.
#[derive(Serialize)]
pub(super) struct SessionRow {
    id: String,
    owner: String,
    owner_page: Option<String>,
    kind: &'static str,
    from: String,
    agent: String,
    started: Time,
    last_used: Time,
    ends: Time,
    state: &'static str,
    pill: &'static str,
    is_this: bool,
    may_end: bool,
}

impl SessionRow {
    pub(super) fn of(session: &Session, emails: &Emails, staff: &Staff, now: DateTime<Utc>) -> Self {
        let (state, pill) = state(session.revoked_at.map(|_| "ended"), session.is_valid(now));
        Self {
            id: session.id.to_string(),
            owner: email_of(emails, session.user),
            owner_page: page_of(staff, session.user),
            kind: session.kind.name(),
            from: session.client_ip.map_or_else(String::new, |from| from.to_string()),
            agent: session.user_agent.clone().unwrap_or_default(),
            started: Time::of(session.started_at, now),
            last_used: Time::of(session.last_used_at, now),
            ends: Time::of(session.expires_at, now),
            state,
            pill,
            is_this: session.id == staff.session,
            may_end: session.is_valid(now)
                && staff.actor.authorize_for::<DeleteSessions>(Some(session.user)).is_ok(),
        }
    }
}

/// Table row of an audit log entry.
#[derive(Serialize)]
pub(super) struct EntryRow {
    id: String,
    at: Time,
    who: String,
    who_page: Option<String>,
    api_key: Option<String>,
    api_key_page: Option<String>,
    from: String,
    action: String,
    kind: &'static str,
    kind_name: &'static str,
    record: String,
    label: String,
    page: Option<String>,
}

impl EntryRow {
    pub(super) fn of(entry: &AuditEntry, staff: &Staff, now: DateTime<Utc>) -> Self {
        let (who, who_page, api_key) = match &entry.actor {
            AuditActor::User { id, email, api_key } => {
                (email.clone(), page_of(staff, *id), api_key.map(|key| key.to_string()))
            }
            AuditActor::CommandLine => ("command line".to_owned(), None, None),
            AuditActor::Unauthenticated => ("unauthenticated".to_owned(), None, None),
        };
        Self {
            id: entry.id.to_string(),
            at: Time::of(entry.at, now),
            who,
            who_page,
            api_key_page: api_key
                .as_ref()
                .and_then(|key: &String| kinds::page(RecordKind::ApiKey, key, &staff.actor)),
            api_key,
            from: entry.client_ip.map_or_else(String::new, |from| from.to_string()),
            action: entry.action.name().replace('_', " "),
            kind: kinds::title(entry.kind),
            kind_name: entry.kind.name(),
            record: entry.record.clone(),
            label: entry.label.clone(),
            page: kinds::page(entry.kind, &entry.record, &staff.actor),
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
                scopes: "query".to_owned(),
                created: Time::sample(),
                expires: time(),
                last_used: time(),
                state: "active",
                pill: "ok",
                may_revoke,
            };
            vec![row(Some("/admin/users/1"), || Some(Time::sample()), true), row(None, || None, false)]
        }
    }

    impl VerificationRow {
        pub(crate) fn samples() -> Vec<Self> {
            let row = |owner_page: Option<&str>, may_revoke| Self {
                id: "1".to_owned(),
                owner: "a@example.com".to_owned(),
                owner_page: owner_page.map(str::to_owned),
                purpose: "password reset",
                state: "active",
                pill: "ok",
                created: Time::sample(),
                expires: Time::sample(),
                may_revoke,
            };
            vec![row(Some("/admin/users/1"), true), row(None, false)]
        }
    }

    impl SessionRow {
        /// The current session with all values, and one with none.
        pub(crate) fn samples() -> Vec<Self> {
            let row = |owner_page: Option<&str>, from: &str, is_this| Self {
                id: "1".to_owned(),
                owner: "a@example.com".to_owned(),
                owner_page: owner_page.map(str::to_owned),
                kind: "panel",
                from: from.to_owned(),
                agent: from.to_owned(),
                started: Time::sample(),
                last_used: Time::sample(),
                ends: Time::sample(),
                state: "active",
                pill: "ok",
                is_this,
                may_end: is_this,
            };
            vec![row(Some("/admin/users/1"), "192.0.2.1", true), row(None, "", false)]
        }
    }

    impl EntryRow {
        /// Entries of an account by its session, of an API key, and of the command line.
        pub(crate) fn samples() -> Vec<Self> {
            let row = |who_page: Option<&str>, api_key: Option<&str>, record: &str| Self {
                id: "1".to_owned(),
                at: Time::sample(),
                who: "a@example.com".to_owned(),
                who_page: who_page.map(str::to_owned),
                api_key: api_key.map(str::to_owned),
                api_key_page: who_page.and(api_key).map(str::to_owned),
                from: record.to_owned(),
                action: "change user".to_owned(),
                kind: "Users",
                kind_name: "user",
                record: record.to_owned(),
                label: "b@example.com".to_owned(),
                page: who_page.map(str::to_owned),
            };
            vec![
                row(Some("/admin/users/1"), Some("/admin/api-keys/1"), "1"),
                row(None, Some("1"), "1"),
                row(None, None, ""),
            ]
        }
    }
}
