//! What a request limits its search or its list to, within the scope of its actor.

use crate::condition::Condition;
use crate::id::{CollectionId, DocumentId};

/// Which documents of its scope a request is about; all by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Only documents of these collections.
    pub collections: Option<Vec<CollectionId>>,
    /// Only these documents.
    pub documents: Option<Vec<DocumentId>>,
    /// Only documents that meet this condition.
    pub condition: Option<Condition>,
}
