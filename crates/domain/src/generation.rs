//! Generations of the index: each is a collection of chunks that one embedding model made.
//!
//! One of them serves. Another may be being built beside it, and takes its place all at once.

use crate::id::{DocumentId, GenerationId};
use chrono::{DateTime, Utc};

/// A collection of the vector store, and what its chunks were embedded with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexGeneration {
    /// Identifies it.
    pub id: GenerationId,
    /// The name of the embedding model.
    pub model: String,
    /// The name of the collection.
    pub collection: String,
    /// Of the model's dense vectors, as far as that is known; none for a model without any.
    pub dimensions: Option<u32>,
    /// Where it is in its life.
    pub state: GenerationState,
    /// When it was begun.
    pub created_at: DateTime<Utc>,
}

/// Where a generation is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GenerationState {
    /// It is being filled; nobody searches it.
    Building,
    /// It serves.
    Active {
        /// Since when.
        since: DateTime<Utc>,
    },
    /// Another one has taken its place; its collection is to be removed.
    Retired {
        /// Since when.
        since: DateTime<Utc>,
    },
}

impl GenerationState {
    /// Its name, for records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Building => "building",
            Self::Active { .. } => "active",
            Self::Retired { .. } => "retired",
        }
    }
}

impl IndexGeneration {
    /// The first generation of an installation, which serves from the beginning.
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

    /// A later generation, which is to be filled. Its collection has the name of the first one's with a part of
    /// its id.
    pub fn begun(id: GenerationId, model: &str, first: &str, at: DateTime<Utc>) -> Self {
        let digits = id.as_uuid().simple().to_string();
        // The beginning is the time, which others may have in common; the end is chance.
        let tail = digits.get(20..).unwrap_or(&digits);
        let collection = format!("{first}-{tail}");
        Self { state: GenerationState::Building, collection, ..Self::first(id, model, "", at) }
    }

    /// The generation once it serves.
    #[must_use]
    pub fn active(self, since: DateTime<Utc>) -> Self {
        Self { state: GenerationState::Active { since }, ..self }
    }

    /// The generation once another one serves in its place, or it was abandoned.
    #[must_use]
    pub fn retired(self, since: DateTime<Utc>) -> Self {
        Self { state: GenerationState::Retired { since }, ..self }
    }
}

/// What an ingested document was last indexed as: another one each time that it is ingested anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedRevision {
    /// The document.
    pub document: DocumentId,
    /// When it was ingested.
    pub at: DateTime<Utc>,
    /// Its chunks.
    pub chunks: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_that_begin_at_one_instant_have_collections_of_their_own() {
        let at = DateTime::UNIX_EPOCH;
        let begun =
            |random| IndexGeneration::begun(GenerationId::generate(at, [random; 10]), "m", "chunks", at);
        assert_ne!(begun(1).collection, begun(2).collection);
        assert!(begun(1).collection.starts_with("chunks-"), "{}", begun(1).collection);
        assert_eq!(begun(1).collection.len(), "chunks-".len() + 12);
        assert_eq!(begun(1).state, GenerationState::Building);
    }
}
