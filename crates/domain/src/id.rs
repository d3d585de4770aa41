//! Identifiers: one UUID type per kind of record.

use chrono::{DateTime, Utc};
use std::fmt;
use std::str::FromStr;
use uuid::{Builder, Uuid};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// Creates a time-ordered (version 7) ID from a time and 10 random bytes.
            pub fn generate(at: DateTime<Utc>, random: [u8; 10]) -> Self {
                let millis = u64::try_from(at.timestamp_millis()).unwrap_or(0);
                Self(Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
            }

            /// The creation time of a time-ordered (version 7) ID; `None` for any other.
            pub fn created_at(self) -> Option<DateTime<Utc>> {
                let (seconds, nanoseconds) = self.0.get_timestamp()?.to_unix();
                DateTime::from_timestamp(i64::try_from(seconds).ok()?, nanoseconds)
                    .filter(|_| self.0.get_version_num() == 7)
            }

            /// Wraps an existing UUID.
            pub const fn from_uuid(id: Uuid) -> Self {
                Self(id)
            }

            /// The UUID.
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
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self).map_err(|_| InvalidId)
            }
        }
    )*};
}

/// A text that is not an ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an ID such as 067e6162-3b6f-4ae2-a171-2470b63dff00")]
pub struct InvalidId;

ids! {
    /// Identifies a document.
    DocumentId;
    /// Identifies a version of a document: its file in the blob store and its chunks in the vector store. The first
    /// version has the document's ID.
    VersionId;
    /// Identifies a chunk of a version; see [`ChunkId::of`].
    ChunkId;
    /// Identifies an index generation.
    GenerationId;
    /// Identifies an account.
    UserId;
    /// Identifies an API key.
    ApiKeyId;
    /// Identifies a conversation.
    ConversationId;
    /// Identifies a background job.
    JobId;
    /// Identifies a lease. Every lease of the same job has its own ID.
    LeaseId;
    /// Identifies a refresh token family: all refresh tokens that descend from one login.
    FamilyId;
    /// Identifies one issued token (its `jti`).
    TokenId;
    /// Identifies a row of the usage ledger.
    UsageId;
    /// Identifies a group of accounts.
    GroupId;
    /// Identifies a session. The session of an API client has the ID of its refresh token family.
    SessionId;
    /// Identifies a verification token.
    VerificationId;
    /// Identifies an invitation.
    InvitationId;
    /// Identifies an audit log entry.
    AuditId;
    /// Identifies a message of a conversation.
    MessageId;
    /// Identifies a streamed answer that a client can resume.
    StreamId;
    /// Identifies a collection of documents.
    CollectionId;
    /// Identifies a batch of files.
    FileBatchId;
    /// Identifies a stored response of the OpenAI API.
    ResponseId;
    /// Identifies an OAuth client that registered itself.
    OAuthClientId;
    /// Identifies an authorization code.
    AuthorizationCodeId;
    /// Identifies a webhook.
    WebhookId;
    /// Identifies a webhook delivery; also sent as the message ID.
    WebhookDeliveryId;
}

impl ChunkId {
    /// Returns the ID of the `ordinal`th chunk of a version. It is deterministic, so indexing a version again
    /// overwrites its chunks instead of duplicating them.
    pub fn of(version: VersionId, ordinal: u32) -> Self {
        Self(Uuid::new_v5(&version.0, &ordinal.to_be_bytes()))
    }
}

impl VersionId {
    /// Returns the ID of a document's first version.
    pub const fn first(document: DocumentId) -> Self {
        Self(document.0)
    }
}

impl CollectionId {
    /// The collection that every installation has from the beginning.
    pub const EVERYONE: Self = Self(Uuid::from_u128(1));

    /// Returns the ID of an account's personal collection.
    pub const fn personal(owner: UserId) -> Self {
        Self(owner.0)
    }
}

impl SessionId {
    /// Returns the session ID of an API client with this token family.
    pub const fn of_family(family: FamilyId) -> Self {
        Self(family.0)
    }

    /// Returns the refresh token family of an API client's session.
    pub const fn family(self) -> FamilyId {
        FamilyId(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_round_trip_through_text() {
        let early = DocumentId::generate(DateTime::UNIX_EPOCH, [9; 10]);
        let late = DocumentId::generate(DateTime::UNIX_EPOCH + chrono::TimeDelta::milliseconds(1), [0; 10]);
        assert!(early < late);
        assert_eq!(early.to_string().parse::<DocumentId>().unwrap(), early);
        assert_eq!(early.created_at(), Some(DateTime::UNIX_EPOCH));
        assert_eq!(CollectionId::EVERYONE.created_at(), None);
    }

    // Invariant: A chunk's ID is derived from its document and ordinal, so indexing again overwrites.
    #[test]
    fn chunk_id_depends_only_on_version_and_ordinal() {
        let a = VersionId::generate(DateTime::UNIX_EPOCH, [1; 10]);
        let b = VersionId::generate(DateTime::UNIX_EPOCH, [2; 10]);
        assert_eq!(ChunkId::of(a, 3), ChunkId::of(a, 3));
        assert_ne!(ChunkId::of(a, 3), ChunkId::of(a, 4));
        assert_ne!(ChunkId::of(a, 3), ChunkId::of(b, 3));
    }
}
