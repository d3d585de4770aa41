//! Keeps the collections that are open to all as of one version.

use docent_domain::scope::OpenCollections;
use std::sync::{Arc, Mutex, PoisonError};
use uuid::Uuid;

/// The collections of one version. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenCache(Arc<Mutex<Option<Versioned>>>);

/// The collections, and their version.
type Versioned = (Uuid, Arc<OpenCollections>);

impl OpenCache {
    pub(super) fn get(&self, version: Uuid) -> Option<Arc<OpenCollections>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().filter(|(of, _)| *of == version).map(|(_, open)| Arc::clone(open))
    }

    pub(super) fn put(&self, version: Uuid, open: Arc<OpenCollections>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((version, open));
    }
}
