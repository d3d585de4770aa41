//! Identifiers: one type per kind of record, all of them UUIDs.

use chrono::{DateTime, Utc};
use std::{fmt, str::FromStr};
use uuid::{Builder, Uuid};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// Makes a time-ordered (version 7) id from an instant and 10 random bytes.
            pub fn generate(at: DateTime<Utc>, random: [u8; 10]) -> Self {
                let millis = u64::try_from(at.timestamp_millis()).unwrap_or(0);
                Self(Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
            }

            /// Wraps a UUID read from elsewhere.
            pub const fn from_uuid(id: Uuid) -> Self {
                Self(id)
            }

            /// The UUID itself.
            pub const fn as_uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self)
            }
        }
    )*};
}

ids! {
    /// Identifies a document.
    DocumentId;
    /// Identifies a chunk of a document; see [`ChunkId::of`].
    ChunkId;
    /// Identifies a generation of the index.
    GenerationId;
    /// Identifies an account.
    UserId;
    /// Identifies an API key.
    ApiKeyId;
    /// Identifies a conversation.
    ConversationId;
    /// Identifies a background job.
    JobId;
    /// Identifies one lease of a job; a later lease of the same job has another one.
    LeaseId;
    /// Identifies a family of refresh tokens: all that descend from one login.
    FamilyId;
    /// Identifies one issued token (its `jti`).
    TokenId;
    /// Identifies a row of the usage ledger.
    UsageId;
    /// Identifies a group of accounts.
    GroupId;
    /// Identifies a login that lasts; that of a client has the id of its family of refresh tokens.
    SessionId;
    /// Identifies a verification token.
    VerificationId;
    /// Identifies an entry of the audit log.
    AuditId;
    /// Identifies a message of a conversation.
    MessageId;
    /// Identifies an answer that a client may come back to while it is being streamed.
    StreamId;
    /// Identifies a webhook.
    WebhookId;
    /// Identifies an event on its way to a webhook: the id of its message.
    WebhookDeliveryId;
}

impl ChunkId {
    /// The id of the `ordinal`th chunk of a document: always the same, so that indexing a document
    /// again overwrites its chunks and never doubles them.
    pub fn of(document: DocumentId, ordinal: u32) -> Self {
        Self(Uuid::new_v5(&document.0, &ordinal.to_be_bytes()))
    }
}

impl SessionId {
    /// The session of a client whose login began this family.
    pub const fn of_family(family: FamilyId) -> Self {
        Self(family.0)
    }

    /// The family of refresh tokens that the session of a client is.
    pub const fn family(self) -> FamilyId {
        FamilyId(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_survive_text() {
        let early = DocumentId::generate(DateTime::UNIX_EPOCH, [9; 10]);
        let late = DocumentId::generate(DateTime::UNIX_EPOCH + chrono::TimeDelta::milliseconds(1), [0; 10]);
        assert!(early < late);
        assert_eq!(early.to_string().parse::<DocumentId>().unwrap(), early);
    }

    #[test]
    fn chunk_ids_are_a_function_of_document_and_ordinal() {
        let a = DocumentId::generate(DateTime::UNIX_EPOCH, [1; 10]);
        let b = DocumentId::generate(DateTime::UNIX_EPOCH, [2; 10]);
        assert_eq!(ChunkId::of(a, 3), ChunkId::of(a, 3));
        assert_ne!(ChunkId::of(a, 3), ChunkId::of(a, 4));
        assert_ne!(ChunkId::of(a, 3), ChunkId::of(b, 3));
    }
}
