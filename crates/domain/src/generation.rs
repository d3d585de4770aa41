//! Index generations: each is one vector collection whose chunks were embedded by one model.
//!
//! One generation is active. Another can be built next to it and then replaces it atomically.

use crate::id::{DocumentId, GenerationId, VersionId};
use chrono::{DateTime, Utc};

/// A vector collection and the model that embedded its chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexGeneration {
    /// ID of the generation.
    pub id: GenerationId,
    /// Name of the embedding model.
    pub model: String,
    /// Name of the vector collection.
    pub collection: String,
    /// Dimensions of the dense vectors; `None` if unknown or if the model has none.
    pub dimensions: Option<u32>,
    /// Current state.
    pub state: GenerationState,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

/// The state of an index generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GenerationState {
    /// Being filled; not searched.
    Building,
    /// Used for searches.
    Active {
        /// Time of the transition into this state.
        since: DateTime<Utc>,
    },
    /// Replaced or abandoned; its vector collection is to be removed.
    Retired {
        /// Time of the transition into this state.
        since: DateTime<Utc>,
    },
}

impl GenerationState {
    /// Name of the state as stored.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Building => "building",
            Self::Active { .. } => "active",
            Self::Retired { .. } => "retired",
        }
    }
}

impl IndexGeneration {
    /// Creates the first generation of an installation, which is active from the start.
    pub fn first(id: GenerationId, model: &str, collection: &str, at: DateTime<Utc>) -> Self {
        Self {
            id,
            model: model.to_owned(),
            collection: collection.to_owned(),
            dimensions: None,
            state: GenerationState::Active { since: at },
            created_at: at,
        }
    }

    /// Creates a generation to be filled. Its vector collection is named after the first one with a suffix from
    /// the ID.
    pub fn building(id: GenerationId, model: &str, first: &str, at: DateTime<Utc>) -> Self {
        let digits = id.as_uuid().simple().to_string();
        // An ID starts with a timestamp, which others may share, and ends with random digits.
        let tail = digits.get(20..).unwrap_or(&digits);
        let collection = format!("{first}-{tail}");
        Self { state: GenerationState::Building, collection, ..Self::first(id, model, "", at) }
    }

    /// Returns the generation as active.
    #[must_use]
    pub fn active(self, since: DateTime<Utc>) -> Self {
        Self { state: GenerationState::Active { since }, ..self }
    }

    /// Returns the generation as retired: replaced or abandoned.
    #[must_use]
    pub fn retired(self, since: DateTime<Utc>) -> Self {
        Self { state: GenerationState::Retired { since }, ..self }
    }
}

/// The revision of a document that was last indexed. It changes with every ingestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedRevision {
    /// The document.
    pub document: DocumentId,
    /// Its searched version.
    pub version: VersionId,
    /// Time of the ingestion.
    pub at: DateTime<Utc>,
    /// Number of chunks.
    pub chunks: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_created_at_the_same_time_have_distinct_collections() {
        let at = DateTime::UNIX_EPOCH;
        let building =
            |random| IndexGeneration::building(GenerationId::generate(at, [random; 10]), "m", "chunks", at);
        assert_ne!(building(1).collection, building(2).collection);
        assert!(building(1).collection.starts_with("chunks-"), "{}", building(1).collection);
        assert_eq!(building(1).collection.len(), "chunks-".len() + 12);
        assert_eq!(building(1).state, GenerationState::Building);
    }
}
