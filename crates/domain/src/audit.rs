//! Who did what to which record.

use crate::{
    id::{ApiKeyId, AuditId, UserId},
    permission::RecordKind,
};
use chrono::{DateTime, Utc};
use std::{collections::BTreeMap, net::IpAddr};

/// An entry of the audit log. Entries are added and never changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its id.
    pub id: AuditId,
    /// When it happened.
    pub at: DateTime<Utc>,
    /// Who did it.
    pub by: AuditActor,
    /// Where the request came from; none from the command line.
    pub from: Option<IpAddr>,
    /// What was done.
    pub deed: AuditAction,
    /// To what kind of record.
    pub kind: RecordKind,
    /// The record's id, as it is shown.
    pub record: String,
    /// What the record is called, at most 500 characters.
    pub label: String,
    /// The fields that changed, by name, as texts. Secrets are never among them.
    pub changes: BTreeMap<String, Change>,
}

/// What a field was before and after; none when there was no record, or no value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Before.
    pub before: Option<String>,
    /// After.
    pub after: Option<String>,
}

/// Who did something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditActor {
    /// An account, perhaps with one of its API keys. The address is kept as it was then.
    User {
        /// The account.
        id: UserId,
        /// Its address.
        email: String,
        /// The key that was used, if any.
        api_key: Option<ApiKeyId>,
    },
    /// An operator, by the program's command line.
    CommandLine,
    /// Nobody who has proved who they are, such as somebody with a wrong password.
    Unauthenticated,
}

macro_rules! deeds {
    ($($(#[$doc:meta])* $deed:ident $name:literal;)+) => {
        /// What was done.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum AuditAction {
            $($(#[$doc])* $deed,)+
        }

        impl AuditAction {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$deed),+];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$deed => $name,)+ }
            }

            /// The deed with this name.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|deed| deed.name() == name)
            }
        }
    };
}

deeds! {
    /// A record was added.
    Add "add";
    /// A record was changed.
    Change "change";
    /// A record was removed.
    Delete "delete";
    /// A key or a session was made void.
    Revoke "revoke";
    /// A document's ingestion was asked for anew.
    Retry "retry";
    /// Somebody proved who they are.
    Login "login";
    /// Somebody claimed to be an account and could not prove it.
    LoginFailed "login_failed";
    /// Somebody ended their session.
    Logout "logout";
    /// A password was set.
    SetPassword "set_password";
    /// An address was shown to be right.
    VerifyEmail "verify_email";
    /// A list was taken away as a file.
    Export "export";
}
