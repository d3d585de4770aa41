//! Documents and their states.
//!
//! Transitions consume the state, so an `ingested` document without a vector store ID, or an accidental
//! transition out of a final state, does not compile.

pub use crate::failure::{Failure, FailureCode};

use crate::attributes::Attributes;
use crate::error::{IllegalTransition, ValidationError};
use crate::extraction::{Coverage, IngestionStats};
use crate::file_type::FileType;
use crate::id::{CollectionId, DocumentId, UserId, VersionId};
use crate::text::{FileName, Title};
use chrono::{DateTime, Utc};
use std::collections::BTreeSet;

/// A stored document.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// ID of the document.
    pub id: DocumentId,
    /// Account that created it; `None` once that account is deleted.
    pub owner: Option<UserId>,
    /// Collections that have it: at least one, unless they were deleted.
    pub collections: BTreeSet<CollectionId>,
    /// Title of the document.
    pub title: Title,
    /// Attributes that users gave it.
    pub attributes: Attributes,
    /// Number of the labels' last change; see [`DocumentLabels`](crate::labels::DocumentLabels).
    pub labels_revision: u32,
    /// ID of the version that is searched, or that is the first to be.
    pub version_id: VersionId,
    /// Number of that version, starting at 1.
    pub version: u32,
    /// Its file; `None` for a record created without one.
    pub file: Option<StoredFile>,
    /// New file that becomes the next version once it is ingested.
    pub replacement: Option<Replacement>,
    /// Current state.
    pub state: DocumentState,
    /// How much of the document is searchable; `None` before extraction and chunking.
    pub coverage: Option<Coverage>,
    /// Ingestion statistics; `None` before ingestion has ended.
    pub stats: Option<IngestionStats>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

/// The uploaded file of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// Key in the blob store.
    pub blob: BlobKey,
    /// File name given by the uploader.
    pub name: FileName,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 digest of the file.
    pub sha256: [u8; 32],
    /// Type of the file.
    pub file_type: FileType,
}

/// A file that is to replace the file of an ingested document, which is searched until then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// ID of its version.
    pub version_id: VersionId,
    /// Number of its version.
    pub version: u32,
    /// The file.
    pub file: StoredFile,
    /// Why its ingestion failed, if it did.
    pub failure: Option<Failure>,
    /// Time of the upload.
    pub at: DateTime<Utc>,
}

/// What the stores have of a version: chunks in the vector store and a file in the blob store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredVersion {
    /// ID of the version.
    pub id: VersionId,
    /// Its file, if any.
    pub file: Option<StoredFile>,
}

/// The key of a blob: at most 1,000 characters of `a-z`, `0-9`, `-`, `.` and single slashes between them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlobKey(String);

impl BlobKey {
    /// Returns the key of a version's file. The suffix is the same for files of all types.
    pub fn of_version(id: VersionId) -> Self {
        Self(format!("documents/{id}.pdf"))
    }

    /// Returns the key of the cached extraction of files with this digest. Documents with equal files share it.
    pub fn of_extraction(sha256: &[u8; 32]) -> Self {
        let digest: String = sha256.iter().map(|byte| format!("{byte:02x}")).collect();
        Self(format!("extractions/{digest}"))
    }

    /// Parses a stored key.
    ///
    /// # Errors
    /// If the key is empty, too long, or could point outside the blob store's root.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
        let part = |part: &str| !part.is_empty() && !part.starts_with('.') && part.chars().all(plain);
        if text.len() > 1000 || !text.split('/').all(part) {
            return Err(ValidationError::new("file_path", "is not a valid blob key"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The state of a document with the data of that state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentState {
    /// Waiting for ingestion, or created without a file.
    Pending(Pending),
    /// Searchable.
    Ingested(Ingested),
    /// Ingestion failed.
    Failed(Failed),
}

/// The state `pending`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending;

/// The state `ingested`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ingested {
    /// ID of the document in the vector store.
    pub vector_doc_id: VectorDocId,
    /// Time of the transition into this state.
    pub at: DateTime<Utc>,
}

/// The state `failed`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Cause of the failure.
    pub failure: Failure,
    /// Time of the transition into this state.
    pub at: DateTime<Utc>,
}

impl Pending {
    /// Marks ingestion as succeeded.
    pub fn ingested(self, vector_doc_id: VectorDocId, at: DateTime<Utc>) -> Ingested {
        Ingested { vector_doc_id, at }
    }

    /// Marks ingestion as failed.
    pub fn failed(self, failure: Failure, at: DateTime<Utc>) -> Failed {
        Failed { failure, at }
    }
}

impl Ingested {
    /// Queues the document for ingestion again because the vector store lost some of its chunks.
    pub fn requeued(self) -> Pending {
        Pending
    }
}

impl Failed {
    /// Queues the document for another ingestion attempt.
    pub fn retried(self) -> Pending {
        Pending
    }
}

impl DocumentState {
    /// Name of the state in the API.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pending(_) => "pending",
            Self::Ingested(_) => "ingested",
            Self::Failed(_) => "failed",
        }
    }

    /// Vector store ID, which only an ingested document has.
    pub fn vector_doc_id(&self) -> Option<&VectorDocId> {
        match self {
            Self::Ingested(ingested) => Some(&ingested.vector_doc_id),
            Self::Pending(_) | Self::Failed(_) => None,
        }
    }

    fn into_pending(self, to: &'static str) -> Result<Pending, IllegalTransition> {
        match self {
            Self::Pending(pending) => Ok(pending),
            other => Err(IllegalTransition { from: other.name(), to }),
        }
    }
}

impl Document {
    /// Creates a `pending` document in a collection.
    pub fn new(
        id: DocumentId,
        owner: UserId,
        collection: CollectionId,
        title: Title,
        file: Option<StoredFile>,
        at: DateTime<Utc>,
    ) -> Self {
        let state = DocumentState::Pending(Pending);
        Self {
            id,
            owner: Some(owner),
            collections: BTreeSet::from([collection]),
            title,
            attributes: Attributes::default(),
            labels_revision: 1,
            version_id: VersionId::first(id),
            version: 1,
            file,
            replacement: None,
            state,
            coverage: None,
            stats: None,
            created_at: at,
            updated_at: at,
        }
    }

    /// Returns the document in these collections and with these attributes.
    #[must_use]
    pub fn labelled(
        self,
        collections: BTreeSet<CollectionId>,
        attributes: Attributes,
        at: DateTime<Utc>,
    ) -> Self {
        let labels_revision = self.labels_revision.wrapping_add(1);
        Self { collections, attributes, labels_revision, updated_at: at, ..self }
    }

    /// Returns the document with a new file. A file that is searched stays until the new one is ingested; any other is
    /// replaced immediately. Also returns the versions that are no longer needed.
    #[must_use]
    pub fn with_file(
        self,
        version_id: VersionId,
        file: StoredFile,
        at: DateTime<Utc>,
    ) -> (Self, Vec<StoredVersion>) {
        let current = self.replacement.as_ref().map_or(self.version, |replacement| replacement.version);
        let version = if self.file.is_some() { current.saturating_add(1) } else { current };
        let mut superseded: Vec<StoredVersion> = self.replacement.iter().map(Replacement::stored).collect();
        if let DocumentState::Ingested(_) = self.state {
            let replacement = Some(Replacement { version_id, version, file, failure: None, at });
            return (Self { replacement, updated_at: at, ..self }, superseded);
        }
        if self.file.is_some() {
            superseded.push(self.stored());
        }
        let title = self.title_after(&file);
        let state = DocumentState::Pending(Pending);
        let file = Some(file);
        let changed = Self { title, version_id, version, file, replacement: None, state, ..self };
        (Self { coverage: None, stats: None, updated_at: at, ..changed }, superseded)
    }

    /// Returns the document as it is when the version that waits for ingestion has become the searched one; `None` if no
    /// version waits.
    pub fn upcoming(&self) -> Option<Self> {
        if let DocumentState::Pending(_) = self.state {
            return Some(self.clone());
        }
        let replacement = self.replacement.clone().filter(|replacement| replacement.failure.is_none())?;
        Some(Self {
            title: self.title_after(&replacement.file),
            version_id: replacement.version_id,
            version: replacement.version,
            file: Some(replacement.file),
            replacement: None,
            state: DocumentState::Pending(Pending),
            coverage: None,
            stats: None,
            ..self.clone()
        })
    }

    /// What the stores have of the current version.
    pub fn stored(&self) -> StoredVersion {
        StoredVersion { id: self.version_id, file: self.file.clone() }
    }

    /// A title that was taken from the name of the file follows the name of the new one.
    fn title_after(&self, file: &StoredFile) -> Title {
        let is_of_file = self.file.as_ref().is_none_or(|old| Title::of_file(&old.name) == self.title);
        if is_of_file && self.file.is_some() { Title::of_file(&file.name) } else { self.title.clone() }
    }

    /// Returns the document with its [upcoming](Self::upcoming) version as `ingested`, once its chunks are in the vector store.
    ///
    /// # Errors
    /// If no version waits for ingestion.
    pub fn ingested(self, coverage: Coverage, at: DateTime<Utc>) -> Result<Self, IllegalTransition> {
        self.upcoming().unwrap_or(self).pending_ingested(coverage, at)
    }

    fn pending_ingested(self, coverage: Coverage, at: DateTime<Utc>) -> Result<Self, IllegalTransition> {
        let vector_doc_id = VectorDocId::of(self.id);
        let state = DocumentState::Ingested(self.state.into_pending("ingested")?.ingested(vector_doc_id, at));
        Ok(Self { state, coverage: Some(coverage), updated_at: at, ..self })
    }

    /// Returns the document after the ingestion of its [upcoming](Self::upcoming) version failed. A document that was pending
    /// is `failed`, and coverage determined before the failure is kept. Any other is as before, with a failed replacement.
    ///
    /// # Errors
    /// If no version waits for ingestion.
    pub fn failed(
        mut self,
        failure: Failure,
        coverage: Option<Coverage>,
        at: DateTime<Utc>,
    ) -> Result<Self, IllegalTransition> {
        let is_pending = matches!(self.state, DocumentState::Pending(_));
        if let Some(replacement) = self.replacement.as_mut().filter(|it| !is_pending && it.failure.is_none())
        {
            replacement.failure = Some(failure);
            return Ok(Self { updated_at: at, ..self });
        }
        let state = DocumentState::Failed(self.state.into_pending("failed")?.failed(failure, at));
        Ok(Self { state, coverage, updated_at: at, ..self })
    }

    /// Returns the document as `pending` because the vector store lost some of its chunks.
    ///
    /// # Errors
    /// If the document is not ingested.
    pub fn requeued(self, at: DateTime<Utc>) -> Result<Self, IllegalTransition> {
        let state = match self.state {
            DocumentState::Ingested(ingested) => DocumentState::Pending(ingested.requeued()),
            other => return Err(IllegalTransition { from: other.name(), to: "pending" }),
        };
        Ok(Self { state, coverage: None, stats: None, updated_at: at, ..self })
    }

    /// Why the ingestion of its next version failed, if it did.
    pub fn failed_replacement(&self) -> Option<&Failure> {
        self.replacement.as_ref()?.failure.as_ref()
    }

    /// Returns the document with its failed replacement, or itself, waiting for another ingestion attempt. Coverage and
    /// statistics of a failed document are cleared.
    ///
    /// # Errors
    /// If neither the document nor its replacement has failed.
    pub fn retried(mut self, at: DateTime<Utc>) -> Result<Self, IllegalTransition> {
        if let Some(replacement) = self.replacement.as_mut().filter(|it| it.failure.is_some()) {
            replacement.failure = None;
            return Ok(Self { updated_at: at, ..self });
        }
        let state = match self.state {
            DocumentState::Failed(failed) => DocumentState::Pending(failed.retried()),
            other => return Err(IllegalTransition { from: other.name(), to: "pending" }),
        };
        Ok(Self { state, coverage: None, stats: None, updated_at: at, ..self })
    }
}

impl Replacement {
    /// What the stores have of its version.
    pub fn stored(&self) -> StoredVersion {
        StoredVersion { id: self.version_id, file: Some(self.file.clone()) }
    }
}

/// The status of a document: its state without the data, plus deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DocumentStatus {
    /// Waiting for ingestion.
    Pending,
    /// Searchable.
    Ingested,
    /// Ingestion failed.
    Failed,
    /// Deleted; its data is being removed.
    Deleted,
}

/// What remains to be removed of a deleted document. Only the removal job sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// ID of the document.
    pub document: DocumentId,
    /// Its versions.
    pub versions: Vec<StoredVersion>,
    /// Time of the deletion.
    pub at: DateTime<Utc>,
}

/// The ID of a document in the vector store: the document ID as text, at most 200 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorDocId(String);

impl VectorDocId {
    /// Returns the ID under which a document's chunks are stored.
    pub fn of(id: DocumentId) -> Self {
        Self(id.to_string())
    }

    /// Parses a stored ID.
    ///
    /// # Errors
    /// If it is empty or longer than 200 characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        if text.is_empty() || text.chars().count() > 200 {
            return Err(ValidationError::new("vector_doc_id", "must have 1 to 200 characters"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The ID as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending() -> Document {
        let id = DocumentId::generate(DateTime::UNIX_EPOCH, [1; 10]);
        let owner = UserId::generate(DateTime::UNIX_EPOCH, [2; 10]);
        Document::new(
            id,
            owner,
            CollectionId::EVERYONE,
            Title::parse("t").unwrap(),
            None,
            DateTime::UNIX_EPOCH,
        )
    }

    // Invariant: The `vector_doc_id` of an ingested document is its own ID.
    #[test]
    fn ingested_document_has_vector_store_id() {
        let document = pending();
        assert_eq!(document.state.vector_doc_id(), None);
        let id = document.id;
        let document = document.ingested(Coverage::default(), DateTime::UNIX_EPOCH).unwrap();
        assert_eq!(document.state.vector_doc_id().unwrap().as_str(), id.to_string());
        assert_eq!(document.state.name(), "ingested");
    }

    // Invariant: Ingestion does not change a document in a final status.
    #[test]
    fn final_states_reject_ingestion_results() {
        let at = DateTime::UNIX_EPOCH;
        let ingested = pending().ingested(Coverage::default(), at).unwrap();
        let error = ingested.failed(Failure::of(FailureCode::Internal), None, at).unwrap_err();
        assert_eq!(error, IllegalTransition { from: "ingested", to: "failed" });
        let failed = pending().failed(Failure::of(FailureCode::NoText), None, at).unwrap();
        assert_eq!(failed.state.vector_doc_id(), None);
        assert!(failed.ingested(Coverage::default(), at).is_err());
    }

    #[test]
    fn only_ingested_document_can_be_requeued() {
        let at = DateTime::UNIX_EPOCH;
        let ingested = pending().ingested(Coverage { pages: 3, ..Coverage::default() }, at).unwrap();
        let requeued = ingested.requeued(at).unwrap();
        assert_eq!((requeued.state.name(), requeued.coverage.clone()), ("pending", None));
        assert_eq!(requeued.requeued(at).unwrap_err(), IllegalTransition { from: "pending", to: "pending" });
    }

    fn file(n: u8) -> (VersionId, StoredFile) {
        let id = VersionId::generate(DateTime::UNIX_EPOCH, [n; 10]);
        let name = FileName::sanitize(&format!("{n}.pdf"));
        (
            id,
            StoredFile {
                blob: BlobKey::of_version(id),
                name,
                bytes: 1,
                sha256: [n; 32],
                file_type: FileType::Pdf,
            },
        )
    }

    #[test]
    fn file_of_ingested_document_is_replaced_once_the_new_one_is_ingested() {
        let at = DateTime::UNIX_EPOCH;
        let ((first, one), (second, two), (third, three)) = (file(1), file(2), file(3));
        let (document, superseded) = pending().with_file(first, one.clone(), at);
        assert_eq!((document.version, superseded), (1, Vec::new()), "a first file");
        let document = document.ingested(Coverage::default(), at).unwrap();

        let (document, superseded) = document.with_file(second, two.clone(), at);
        assert_eq!((document.version_id, superseded), (first, Vec::new()));
        assert_eq!(document.state.name(), "ingested", "the first version is still searched");
        let (document, superseded) = document.with_file(third, three.clone(), at);
        assert_eq!(superseded, [StoredVersion { id: second, file: Some(two) }]);
        let upcoming = document.upcoming().unwrap();
        assert_eq!((upcoming.version_id, upcoming.version, upcoming.file.as_ref()), (third, 3, Some(&three)));

        let switched = document.clone().ingested(Coverage::default(), at).unwrap();
        assert_eq!((switched.version_id, switched.version, &switched.replacement), (third, 3, &None));
        assert_eq!(switched.upcoming(), None);

        let failed = document.failed(Failure::of(FailureCode::NotAPdf), None, at).unwrap();
        assert_eq!((failed.version_id, failed.state.name(), failed.upcoming()), (first, "ingested", None));
        let retried = failed.clone().retried(at).unwrap();
        assert_eq!(retried.upcoming(), Some(upcoming));
        assert_eq!(
            failed.with_file(second, one, at).0.upcoming().unwrap().version,
            4,
            "numbers are not used again"
        );
    }

    #[test]
    fn file_that_is_not_searched_is_replaced_immediately() {
        let at = DateTime::UNIX_EPOCH;
        let ((first, one), (second, two)) = (file(1), file(2));
        let (document, _) = pending().with_file(first, one.clone(), at);
        let failed = document.clone().failed(Failure::of(FailureCode::NotAPdf), None, at).unwrap();
        for document in [document, failed] {
            let (document, superseded) = document.with_file(second, two.clone(), at);
            assert_eq!(superseded, [StoredVersion { id: first, file: Some(one.clone()) }]);
            assert_eq!(
                (document.state.name(), document.version_id, document.version),
                ("pending", second, 2)
            );
            assert_eq!((document.file, document.replacement), (Some(two.clone()), None));
        }
    }

    #[test]
    fn title_taken_from_the_file_name_follows_it() {
        let at = DateTime::UNIX_EPOCH;
        let ((first, one), (second, two)) = (file(1), file(2));
        let (named, _) = pending().with_file(first, one, at);
        let unnamed = Document { title: Title::parse("1.pdf").unwrap(), ..named.clone() };
        let title_after = |document: Document| document.with_file(second, two.clone(), at).0.title;
        assert_eq!(title_after(named).as_str(), "t");
        assert_eq!(title_after(unnamed).as_str(), "2.pdf");
    }

    // Invariant: No blob key escapes the blob store's folder.
    #[test]
    fn blob_key_outside_root_is_rejected() {
        let key = BlobKey::of_version(pending().version_id);
        assert_eq!(BlobKey::parse(key.as_str()).unwrap(), key);
        let shared = BlobKey::of_extraction(&[0xa0; 32]);
        assert_eq!(shared.as_str(), format!("extractions/{}", "a0".repeat(32)));
        assert_eq!(BlobKey::parse(shared.as_str()).unwrap(), shared);
        for wrong in ["", "/a", "a//b", "../a", "a/../b", "a/.b", "A", "a b", "a\\b"] {
            assert!(BlobKey::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
