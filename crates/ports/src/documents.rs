//! Documents in the relational store.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDate, Utc};
use docent_domain::document::{Deletion, Document};
use docent_domain::external_file::{ExternalFile, ExternalId};
use docent_domain::fault::Result;
use docent_domain::file_batch::FilePurpose;
use docent_domain::generation::IndexedRevision;
use docent_domain::id::{CollectionId, DocumentId, UserId, VersionId};
use docent_domain::listing::{DocumentFilter, DocumentQuery, Page, PageRequest};
use docent_domain::retrieval::SearchedVersion;
use docent_domain::scope::Scope;
use docent_domain::summary::DocumentSummary;
use docent_domain::text::Title;
use std::collections::{HashMap, HashSet};

/// Number of documents created on a day, by status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentDay {
    /// The day (UTC).
    pub day: NaiveDate,
    /// Numbers by current status.
    pub counts: DocumentCounts,
}

/// Number of documents by status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocumentCounts {
    /// Waiting for ingestion.
    pub pending: u64,
    /// Searchable.
    pub ingested: u64,
    /// Failed.
    pub failed: u64,
}

/// Number and size of the files of a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCounts {
    /// Numbers by status.
    pub documents: DocumentCounts,
    /// Sum of their sizes in bytes.
    pub bytes: u64,
}

/// Reads documents. Deleted documents are visible only to [`Self::deletion`].
#[async_trait]
pub trait DocumentReader: Send {
    /// Returns the document with this ID.
    async fn get(&mut self, id: DocumentId) -> Result<Option<Document>>;

    /// Lists documents by creation time, then ID.
    async fn list(&mut self, filter: &DocumentFilter) -> Result<Vec<Document>>;

    /// Lists documents for staff.
    async fn page(&mut self, query: &DocumentQuery, page: PageRequest) -> Result<Page<Document>>;

    /// Counts documents by status.
    async fn counts(&mut self) -> Result<DocumentCounts>;

    /// Counts the files of these collections by status, of these documents only if any are given. Collections without files are
    /// left out. A file with [stale labels](Self::stale_labels) counts as pending: searches of a collection can miss it.
    async fn file_counts(
        &mut self,
        collections: &[CollectionId],
        documents: Option<&[DocumentId]>,
    ) -> Result<HashMap<CollectionId, FileCounts>>;

    /// Returns the stored purposes of these documents.
    async fn purposes(&mut self, ids: &[DocumentId]) -> Result<HashMap<DocumentId, FilePurpose>>;

    /// Lists the files to which another program gave one of these IDs, of all accounts, the oldest document first.
    async fn external_files(&mut self, ids: &[ExternalId]) -> Result<Vec<ExternalFile>>;

    /// Returns the ID that another program gave to a document's file, if one did.
    async fn external_file(&mut self, id: DocumentId) -> Result<Option<ExternalFile>>;

    /// Counts documents created since `from` by day, oldest day first; days without documents are omitted.
    async fn days(&mut self, from: DateTime<Utc>) -> Result<Vec<DocumentDay>>;

    /// Returns which of these versions are those of `ingested` documents in the scope.
    async fn searchable(
        &mut self,
        ids: &[VersionId],
        scope: &Scope,
    ) -> Result<HashMap<VersionId, SearchedVersion>>;

    /// Returns the searched versions of those of these documents that are `ingested` and in the scope.
    async fn versions(&mut self, ids: &[DocumentId], scope: &Scope) -> Result<Vec<VersionId>>;

    /// Returns the oldest document in the scope whose file has this SHA-256.
    async fn with_equal_file(&mut self, sha256: &[u8; 32], scope: &Scope) -> Result<Option<Document>>;

    /// Returns which of these documents exist and are in the scope.
    async fn readable(&mut self, ids: &[DocumentId], scope: &Scope) -> Result<HashSet<DocumentId>>;

    /// Lists ingested documents whose labels in the vector store are not current, in the order of their IDs: at most
    /// `limit`.
    async fn stale_labels(&mut self, limit: u64) -> Result<Vec<Document>>;

    /// Returns which of these documents have [stale labels](Self::stale_labels).
    async fn with_stale_labels(&mut self, ids: &[DocumentId]) -> Result<HashSet<DocumentId>>;

    /// Returns the titles of these documents, as far as they exist.
    async fn titles(&mut self, ids: &[DocumentId]) -> Result<HashMap<DocumentId, Title>>;

    /// Lists the indexed revisions of ingested documents in the order of their IDs: at most `limit` after `after`.
    async fn indexed_revisions(
        &mut self,
        after: Option<DocumentId>,
        limit: u64,
    ) -> Result<Vec<IndexedRevision>>;

    /// Returns what remains to be removed of a deleted document, if anything.
    async fn deletion(&mut self, id: DocumentId) -> Result<Option<Deletion>>;

    /// Sums the sizes of the files and replacements of an account's documents in bytes.
    async fn stored_bytes(&mut self, owner: UserId) -> Result<u64>;

    /// Returns the stored summary of a document. It can be of an earlier version.
    async fn summary(&mut self, id: DocumentId) -> Result<Option<DocumentSummary>>;

    /// Whether any document has a file or a replacement with this SHA-256.
    async fn has_file(&mut self, sha256: &[u8; 32]) -> Result<bool>;
}

/// Reads and changes documents.
#[async_trait]
pub trait DocumentWriter: DocumentReader {
    /// Adds a document.
    ///
    /// # Errors
    /// If the ID exists, or the owner or a collection does not exist.
    async fn insert(&mut self, document: &Document) -> Result<()>;

    /// Updates a document. Returns whether it existed.
    ///
    /// # Errors
    /// If a collection does not exist.
    async fn update(&mut self, document: &Document) -> Result<bool>;

    /// Stores the summary of a document, which replaces any other, or removes it. Removing a document removes it too.
    ///
    /// # Errors
    /// If there is no such document.
    async fn set_summary(&mut self, id: DocumentId, summary: Option<&DocumentSummary>) -> Result<()>;

    /// Stores the purpose of a document's file. Removing the document removes it too.
    ///
    /// # Errors
    /// If there is no such document, or it has a purpose.
    async fn set_purpose(&mut self, id: DocumentId, purpose: FilePurpose) -> Result<()>;

    /// Stores the ID that another program gave to a document's file, which replaces any other. Marking the document as deleted removes
    /// it.
    ///
    /// # Errors
    /// If there is no such document.
    async fn set_external_file(&mut self, file: &ExternalFile) -> Result<()>;

    /// Records the revision of the labels that the vector store has of a document.
    async fn set_indexed_labels(&mut self, id: DocumentId, revision: u32) -> Result<()>;

    /// Records that the vector store has no current labels of any document.
    async fn forget_indexed_labels(&mut self) -> Result<()>;

    /// Marks a document as deleted, which hides it from everything but the removal. Returns whether it existed.
    async fn mark_deleted(&mut self, id: DocumentId, at: DateTime<Utc>) -> Result<bool>;

    /// Removes a deleted document and all of its jobs. Returns whether it existed.
    async fn remove_deleted(&mut self, id: DocumentId) -> Result<bool>;
}
