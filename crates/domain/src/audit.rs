//! Audit log entries.

use crate::id::{ApiKeyId, AuditId, UserId};
use crate::permission::RecordKind;
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// An audit log entry. Entries are append-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// ID of the entry.
    pub id: AuditId,
    /// Time of the action.
    pub at: DateTime<Utc>,
    /// Who performed the action.
    pub actor: AuditActor,
    /// IP address of the client; `None` for the command line.
    pub client_ip: Option<IpAddr>,
    /// The action.
    pub action: AuditAction,
    /// Kind of the affected record.
    pub kind: RecordKind,
    /// ID of the affected record, as text.
    pub record: String,
    /// Display name of the record, at most 500 characters.
    pub label: String,
    /// Changed fields by name, with values as text. Never contains secrets.
    pub changes: BTreeMap<String, Change>,
}

/// Value of a field before and after a change; `None` if there was no record or no value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Value before the change.
    pub before: Option<String>,
    /// Value after the change.
    pub after: Option<String>,
}

/// Who performed an audited action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditActor {
    /// An account, with its email address at the time of the action.
    User {
        /// The account.
        id: UserId,
        /// Its email address.
        email: String,
        /// The API key used, if any.
        api_key: Option<ApiKeyId>,
    },
    /// An operator on the command line.
    CommandLine,
    /// An unauthenticated client, for example after a failed login.
    Unauthenticated,
}

macro_rules! audit_actions {
    ($($(#[$doc:meta])* $action:ident $name:literal;)+) => {
        /// An audited action.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum AuditAction {
            $($(#[$doc])* $action,)+
        }

        impl AuditAction {
            /// All actions.
            pub const ALL: &[Self] = &[$(Self::$action),+];

            /// Name of the action as stored.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$action => $name,)+ }
            }

            /// Returns the action with this name.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|action| action.name() == name)
            }
        }
    };
}

audit_actions! {
    /// A record was added.
    Add "add";
    /// A record was changed.
    Change "change";
    /// A record was removed.
    Delete "delete";
    /// An API key or a session was revoked.
    Revoke "revoke";
    /// Ingestion of a document was retried.
    Retry "retry";
    /// A user signed in.
    Login "login";
    /// A sign-in was rejected.
    LoginFailed "login_failed";
    /// A user signed out.
    Logout "logout";
    /// A password was set.
    SetPassword "set_password";
    /// An invitation was accepted.
    Accept "accept";
    /// An email address was verified.
    VerifyEmail "verify_email";
    /// A list was exported as a file.
    Export "export";
    /// A private record of another account was read.
    View "view";
    /// The installation was saved to an archive.
    Backup "backup";
}
