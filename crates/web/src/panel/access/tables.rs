//! Table rows for links and audit log entries.

use super::kinds;
use crate::language::t;
use crate::signed_in::rows::{Emails, email_of, state};
use crate::signed_in::session::Staff;
use crate::times::Time;
use chrono::{DateTime, Utc};
use docent_domain::access::DeleteVerifications;
use docent_domain::audit::{AuditActor, AuditEntry};
use docent_domain::id::UserId;
use docent_domain::permission::RecordKind;
use docent_domain::verification::{VerificationPurpose, VerificationToken};
use serde::Serialize;

/// Page of an account, if the actor can view it.
pub(super) fn page_of(staff: &Staff, user: UserId) -> Option<String> {
    kinds::page(RecordKind::User, &user.to_string(), &staff.actor)
}

/// Table row of a verification link.
#[derive(Serialize)]
pub(super) struct VerificationRow {
    id: String,
    owner: String,
    owner_page: Option<String>,
    purpose: String,
    state: String,
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
                VerificationPurpose::VerifyEmail => t!("link-purpose-verify-email"),
                VerificationPurpose::ResetPassword => t!("link-purpose-reset-password"),
                VerificationPurpose::ChangeEmail => t!("link-purpose-change-email"),
            },
            state,
            pill,
            created: Time::of(token.created_at, now),
            expires: Time::of(token.expires_at, now),
            may_revoke: staff.can::<DeleteVerifications>(),
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
    kind: String,
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
            AuditActor::CommandLine => (t!("key-by-command-line"), None, None),
            AuditActor::Unauthenticated => (t!("audit-unauthenticated"), None, None),
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
            action: kinds::action(entry.action),
            kind: kinds::title(entry.kind),
            kind_name: entry.kind.name(),
            record: entry.record.clone(),
            // The list of answers has no record, and the log names it in English.
            label: if entry.kind == RecordKind::Conversation && entry.record.is_empty() {
                t!("audit-answers")
            } else {
                entry.label.clone()
            },
            page: kinds::page(entry.kind, &entry.record, &staff.actor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl VerificationRow {
        pub(crate) fn samples() -> Vec<Self> {
            let row = |owner_page: Option<&str>, may_revoke| Self {
                id: "1".to_owned(),
                owner: "a@example.com".to_owned(),
                owner_page: owner_page.map(str::to_owned),
                purpose: "password reset".to_owned(),
                state: "active".to_owned(),
                pill: "ok",
                created: Time::sample(),
                expires: Time::sample(),
                may_revoke,
            };
            vec![row(Some("/admin/users/1"), true), row(None, false)]
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
                kind: "Users".to_owned(),
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
