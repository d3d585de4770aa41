//! What clients of the OpenAI API store about files and collections: purposes, metadata and batches.

use crate::error::ValidationError;
use crate::id::{CollectionId, DocumentId, FileBatchId};
use chrono::{DateTime, TimeDelta, Utc};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of files of a [`FileBatch`].
pub const BATCH_FILES_MAX: usize = 2000;
/// Maximum number of entries of a [`Metadata`].
pub const METADATA_MAX: usize = 16;
/// Maximum length of a key of a [`Metadata`] in characters.
pub const METADATA_KEY_MAX: usize = 64;
/// Maximum length of a value of a [`Metadata`] in characters.
pub const METADATA_VALUE_MAX: usize = 512;
/// Maximum number of days after which an unused collection expires.
pub const EXPIRY_DAYS_MAX: u32 = 365;

/// What a client said that a file is for. The service treats both alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FilePurpose {
    /// For searches.
    #[default]
    Assistants,
    /// For any use.
    UserData,
}

impl FilePurpose {
    /// All purposes.
    pub const ALL: &[Self] = &[Self::Assistants, Self::UserData];

    /// Name of the purpose.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Assistants => "assistants",
            Self::UserData => "user_data",
        }
    }

    /// Parses a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|purpose| purpose.name() == name)
    }
}

/// Texts that a client stores with a collection, by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata(BTreeMap<String, String>);

impl Metadata {
    /// Checks the entries.
    ///
    /// # Errors
    /// If there are too many, or a key or a value is empty, too long or has a zero byte.
    pub fn new(entries: BTreeMap<String, String>) -> Result<Self, ValidationError> {
        let invalid = |reason: String| Err(ValidationError::new("metadata", reason));
        if entries.len() > METADATA_MAX {
            return invalid(format!("must have at most {METADATA_MAX} entries"));
        }
        for (key, value) in &entries {
            if key.is_empty() || key.chars().count() > METADATA_KEY_MAX || key.contains('\0') {
                return invalid(format!("must have keys of 1 to {METADATA_KEY_MAX} characters"));
            }
            if value.chars().count() > METADATA_VALUE_MAX || value.contains('\0') {
                return invalid(format!("must have values of at most {METADATA_VALUE_MAX} characters"));
            }
        }
        Ok(Self(entries))
    }

    /// The entries in the order of their keys.
    pub const fn entries(&self) -> &BTreeMap<String, String> {
        &self.0
    }
}

/// What clients of the OpenAI API store about a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionMetadata {
    /// Texts of the client.
    pub entries: Metadata,
    /// Number of days without use after which the collection expires for these clients.
    pub expires_after_days: Option<u32>,
    /// Time of the last use that was recorded.
    pub last_active_at: DateTime<Utc>,
}

impl CollectionMetadata {
    /// No texts and no expiry.
    pub fn new(last_active_at: DateTime<Utc>) -> Self {
        Self { entries: Metadata::default(), expires_after_days: None, last_active_at }
    }

    /// When the collection expires, if it does.
    pub fn expires_at(&self) -> Option<DateTime<Utc>> {
        let days = TimeDelta::days(i64::from(self.expires_after_days?));
        Some(self.last_active_at.checked_add_signed(days).unwrap_or(DateTime::<Utc>::MAX_UTC))
    }

    /// Whether the collection has expired.
    pub fn is_expired(&self, now: DateTime<Utc>) -> bool {
        self.expires_at().is_some_and(|at| at <= now)
    }
}

/// Files that were added to a collection together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileBatch {
    /// ID of the batch.
    pub id: FileBatchId,
    /// The collection.
    pub collection: CollectionId,
    /// The files, each once: at most [`BATCH_FILES_MAX`].
    pub files: Vec<DocumentId>,
    /// Files that were still waiting for ingestion when the batch was cancelled, and were taken out of the collection.
    pub cancelled: BTreeSet<DocumentId>,
    /// Whether the batch was cancelled.
    pub is_cancelled: bool,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(entries: &[(&str, &str)]) -> Result<Metadata, ValidationError> {
        Metadata::new(entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn metadata_is_bounded() {
        assert!(metadata(&[("k", ""), ("ü b", "any text\n")]).is_ok());
        assert!(metadata(&[(&"k".repeat(64), &"ü".repeat(512))]).is_ok());
        for wrong in [("", "a"), ("k", "a\0"), (&*"k".repeat(65), "a"), ("k", &*"v".repeat(513))] {
            assert!(metadata(&[wrong]).is_err(), "{wrong:?}");
        }
        let many: Vec<String> = (0..=METADATA_MAX).map(|n| n.to_string()).collect();
        let many: Vec<_> = many.iter().map(|key| (key.as_str(), "v")).collect();
        assert!(metadata(&many[1..]).is_ok() && metadata(&many).is_err());
    }

    #[test]
    fn collection_expires_after_days_without_use() {
        let at = DateTime::UNIX_EPOCH;
        let never = CollectionMetadata::new(at);
        assert!(!never.is_expired(at + TimeDelta::days(10_000)));
        let soon = CollectionMetadata { expires_after_days: Some(2), ..never };
        assert!(!soon.is_expired(at + TimeDelta::hours(47)) && soon.is_expired(at + TimeDelta::hours(48)));
    }

    #[test]
    fn purposes_round_trip_through_their_names() {
        for purpose in FilePurpose::ALL {
            assert_eq!(FilePurpose::parse(purpose.name()), Some(*purpose));
        }
        assert_eq!(FilePurpose::parse("fine-tune"), None);
    }
}
