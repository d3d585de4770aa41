//! What a caller can read.

use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::scope::Scope;

/// The permission to read, and the documents that it extends to.
#[derive(Clone)]
pub(super) struct Reader {
    pub(super) grant: Grant<ReadDocuments>,
    pub(super) scope: Scope,
}
