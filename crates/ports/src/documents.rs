//! Documents in the relational store.

use crate::{
    error::Result,
    page::{Page, PageRequest},
};
use async_trait::async_trait;
use chrono::{DateTime, NaiveDate, Utc};
use docent_domain::{
    document::{Deletion, Document},
    generation::IndexedRevision,
    id::{DocumentId, UserId},
    text::Title,
};
use std::collections::{HashMap, HashSet};

/// Which documents to list.
#[derive(Clone, Debug, Default)]
pub struct DocumentFilter {
    /// Only those in this state (`pending`, `ingested`, `failed`).
    pub status: Option<&'static str>,
    /// Only those whose title holds this text, without regard to the case of ASCII letters.
    pub title_contains: Option<String>,
    /// Only those that come after this one in the order of the list.
    pub after: Option<ListPosition>,
    /// At most this many; all when not given.
    pub limit: Option<u64>,
}

/// A place in a list ordered newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListPosition {
    /// When the document at that place was created.
    pub created_at: DateTime<Utc>,
    /// Its id.
    pub id: DocumentId,
}

/// Which documents are on a page for staff, and in which order.
#[derive(Clone, Debug, Default)]
pub struct DocumentQuery {
    /// Only those in this state (`pending`, `ingested`, `failed`).
    pub status: Option<&'static str>,
    /// Only those whose title holds this text, without regard to the case of ASCII letters.
    pub title_contains: Option<String>,
    /// Only those of this account.
    pub owner: Option<UserId>,
    /// In which order.
    pub order: DocumentOrder,
}

/// The order of documents on a page for staff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DocumentOrder {
    /// The one created last first.
    #[default]
    Newest,
    /// The one created first first.
    Oldest,
    /// By title, upper-case letters before lower-case ones.
    Title,
    /// The one with the largest file first, those without a file at the end.
    Largest,
}

/// What became of the documents that were created on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentDay {
    /// The day (UTC).
    pub day: NaiveDate,
    /// How many of them are in each state now.
    pub counts: DocumentCounts,
}

/// How many documents are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocumentCounts {
    /// Waiting.
    pub pending: u64,
    /// Searchable.
    pub ingested: u64,
    /// Given up.
    pub failed: u64,
}

/// Reads documents. One that was deleted is there no more, but for [`Self::deletion`].
#[async_trait]
pub trait DocumentReader: Send {
    /// The document with this id.
    async fn get(&mut self, id: DocumentId) -> Result<Option<Document>>;

    /// Documents, newest first (by creation, then id).
    async fn list(&mut self, filter: &DocumentFilter) -> Result<Vec<Document>>;

    /// A page of documents for staff.
    async fn page(&mut self, query: &DocumentQuery, page: PageRequest) -> Result<Page<Document>>;

    /// How many there are of each state.
    async fn counts(&mut self) -> Result<DocumentCounts>;

    /// How many were created on each day from `from` on, the first day first; days without any are left out.
    async fn days(&mut self, from: DateTime<Utc>) -> Result<Vec<DocumentDay>>;

    /// Those of these documents that are `ingested`.
    async fn ingested(&mut self, ids: &[DocumentId]) -> Result<HashSet<DocumentId>>;

    /// The titles of those of these documents that exist.
    async fn titles(&mut self, ids: &[DocumentId]) -> Result<HashMap<DocumentId, Title>>;

    /// What ingested documents were last indexed as, page by page: in the order of ids, after the one named, at
    /// most `limit`.
    async fn marks(&mut self, after: Option<DocumentId>, limit: u64) -> Result<Vec<IndexedRevision>>;

    /// What is left of a document that was deleted; none when it was not, or nothing is left.
    async fn deletion(&mut self, id: DocumentId) -> Result<Option<Deletion>>;

    /// Whether any document has a file with this SHA-256.
    async fn has_file(&mut self, sha256: &[u8; 32]) -> Result<bool>;
}

/// Reads and changes documents.
#[async_trait]
pub trait DocumentWriter: DocumentReader {
    /// Adds a document.
    ///
    /// # Errors
    /// When there is one with this id, or its owner does not exist.
    async fn insert(&mut self, document: &Document) -> Result<()>;

    /// Writes the document's present values; says whether there was one with its id.
    async fn update(&mut self, document: &Document) -> Result<bool>;

    /// Makes the document disappear for everybody but those who remove it; says whether there was one.
    async fn mark_deleted(&mut self, id: DocumentId, at: DateTime<Utc>) -> Result<bool>;

    /// Removes what is left of a document that was deleted, and all of its jobs; says whether anything was.
    async fn remove_deleted(&mut self, id: DocumentId) -> Result<bool>;
}
