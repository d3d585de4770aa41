//! Documents and their states.
//!
//! A state is a value, and a transition consumes it: a document that is `ingested` without a
//! vector-store id, or one that leaves a final state by accident, cannot be written down.

use crate::{
    error::{IllegalTransition, ValidationError},
    extraction::{Coverage, IngestionStats},
    id::{DocumentId, UserId},
    text::{FileName, Title},
};
use chrono::{DateTime, Utc};
use std::fmt;

/// A stored document.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its id.
    pub id: DocumentId,
    /// Who created it; none once that account is gone.
    pub owner: Option<UserId>,
    /// What it is called.
    pub title: Title,
    /// The uploaded file; none for a record made without one.
    pub file: Option<StoredFile>,
    /// Where it is in its life.
    pub state: DocumentState,
    /// What extraction and chunking found; none before they ran.
    pub coverage: Option<Coverage>,
    /// What its ingestion took; none before it ended.
    pub effort: Option<IngestionStats>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}

/// The uploaded bytes of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// Where the blob store keeps them.
    pub blob: BlobKey,
    /// The name its uploader gave it.
    pub name: FileName,
    /// Their number.
    pub bytes: u64,
    /// Their SHA-256.
    pub sha256: [u8; 32],
}

/// The key of a blob: at most 1,000 characters of `a-z`, `0-9`, `-`, `.` and single slashes between them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlobKey(String);

impl BlobKey {
    /// The key of a document's uploaded file.
    pub fn of_document(id: DocumentId) -> Self {
        Self(format!("documents/{id}.pdf"))
    }

    /// The key of what was read out of the files with these bytes, which documents share.
    pub fn of_extraction(sha256: &[u8; 32]) -> Self {
        let digest: String = sha256.iter().map(|byte| format!("{byte:02x}")).collect();
        Self(format!("extractions/{digest}"))
    }

    /// Parses a stored key.
    ///
    /// # Errors
    /// When it is empty, too long, or could leave the blob store's root.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
        let part = |part: &str| !part.is_empty() && !part.starts_with('.') && part.chars().all(plain);
        if text.len() > 1000 || !text.split('/').all(part) {
            return Err(ValidationError::new("file_path", "is no blob key"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A document's state, with what each state knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentState {
    /// Waiting for its ingestion, or created without a file.
    Pending(Pending),
    /// Searchable.
    Ingested(Ingested),
    /// Its ingestion ended without success.
    Failed(Failed),
}

/// The state `pending`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending;

/// The state `ingested`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ingested {
    /// The document's id in the vector store.
    pub vector_doc_id: VectorDocId,
    /// Since when.
    pub at: DateTime<Utc>,
}

/// The state `failed`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Why.
    pub failure: Failure,
    /// Since when.
    pub at: DateTime<Utc>,
}

impl Pending {
    /// Ingestion succeeded.
    pub fn ingested(self, vector_doc_id: VectorDocId, at: DateTime<Utc>) -> Ingested {
        Ingested { vector_doc_id, at }
    }

    /// Ingestion ended without success.
    pub fn failed(self, failure: Failure, at: DateTime<Utc>) -> Failed {
        Failed { failure, at }
    }
}

impl Ingested {
    /// The vector store lost chunks of it: it is to be ingested again.
    pub fn lost(self) -> Pending {
        Pending
    }
}

impl Failed {
    /// Its ingestion is to be tried anew.
    pub fn retried(self) -> Pending {
        Pending
    }
}

impl DocumentState {
    /// The state's name on the wire.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pending(_) => "pending",
            Self::Ingested(_) => "ingested",
            Self::Failed(_) => "failed",
        }
    }

    /// The vector-store id, which only an ingested document has.
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
    /// A new document, `pending`.
    pub fn new(
        id: DocumentId,
        owner: UserId,
        title: Title,
        file: Option<StoredFile>,
        at: DateTime<Utc>,
    ) -> Self {
        let state = DocumentState::Pending(Pending);
        Self {
            id,
            owner: Some(owner),
            title,
            file,
            state,
            coverage: None,
            effort: None,
            created_at: at,
            updated_at: at,
        }
    }

    /// The document once its chunks are in the vector store.
    ///
    /// # Errors
    /// When it is not pending.
    pub fn ingested(self, coverage: Coverage, at: DateTime<Utc>) -> Result<Self, IllegalTransition> {
        let vector_doc_id = VectorDocId::of(self.id);
        let state = DocumentState::Ingested(self.state.into_pending("ingested")?.ingested(vector_doc_id, at));
        Ok(Self { state, coverage: Some(coverage), updated_at: at, ..self })
    }

    /// The document once its ingestion has been given up. What was learnt of its pages is kept.
    ///
    /// # Errors
    /// When it is not pending.
    pub fn failed(
        self,
        failure: Failure,
        coverage: Option<Coverage>,
        at: DateTime<Utc>,
    ) -> Result<Self, IllegalTransition> {
        let state = DocumentState::Failed(self.state.into_pending("failed")?.failed(failure, at));
        Ok(Self { state, coverage, updated_at: at, ..self })
    }

    /// The document once it is to be ingested again, since the vector store lost chunks of it.
    ///
    /// # Errors
    /// When it is not ingested.
    pub fn lost(self, at: DateTime<Utc>) -> Result<Self, IllegalTransition> {
        let state = match self.state {
            DocumentState::Ingested(ingested) => DocumentState::Pending(ingested.lost()),
            other => return Err(IllegalTransition { from: other.name(), to: "pending" }),
        };
        Ok(Self { state, coverage: None, effort: None, updated_at: at, ..self })
    }

    /// The document once its ingestion is to be tried anew; what was learnt in vain is forgotten.
    ///
    /// # Errors
    /// When it has not failed.
    pub fn retried(self, at: DateTime<Utc>) -> Result<Self, IllegalTransition> {
        let state = match self.state {
            DocumentState::Failed(failed) => DocumentState::Pending(failed.retried()),
            other => return Err(IllegalTransition { from: other.name(), to: "pending" }),
        };
        Ok(Self { state, coverage: None, effort: None, updated_at: at, ..self })
    }
}

/// Where a document is in its life, without what each state knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DocumentStatus {
    /// Waiting.
    Pending,
    /// Searchable.
    Ingested,
    /// Given up.
    Failed,
    /// Being removed.
    Deleted,
}

/// What is left of a document that was deleted and is being removed. Nobody sees it but who removes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// The document's id.
    pub document: DocumentId,
    /// The file that goes with it.
    pub blob: Option<BlobKey>,
    /// The SHA-256 of that file.
    pub sha256: Option<[u8; 32]>,
    /// Since when it is gone for everybody else.
    pub at: DateTime<Utc>,
}

/// A document's id in the vector store: the document id as text, at most 200 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorDocId(String);

impl VectorDocId {
    /// The id under which a document's chunks are stored.
    pub fn of(id: DocumentId) -> Self {
        Self(id.to_string())
    }

    /// Parses a stored id.
    ///
    /// # Errors
    /// When it is empty or over 200 characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        if text.is_empty() || text.chars().count() > 200 {
            return Err(ValidationError::new("vector_doc_id", "must have 1 to 200 characters"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why an ingestion ended without success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind of failure, stable for programs.
    pub code: FailureCode,
    /// A sentence for people; never text of the document.
    pub reason: String,
}

impl Failure {
    /// A failure with the standard sentence of its code.
    pub fn of(code: FailureCode) -> Self {
        Self { code, reason: code.sentence().to_owned() }
    }

    /// A failure with a sentence that tells more.
    pub fn because(code: FailureCode, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into() }
    }
}

macro_rules! failure_codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $sentence:literal;)*) => {
        /// The kinds of failure of an ingestion.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum FailureCode {
            $($(#[$doc])* $name,)*
        }

        impl FailureCode {
            /// Every code, for documents and tests.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The code as programs read it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }

            /// The code as people read it.
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$name => $sentence),* }
            }

            /// Reads [`Self::as_str`] back.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$name),)* _ => None }
            }
        }
    };
}

failure_codes! {
    /// The bytes are no PDF.
    NotAPdf = "not_a_pdf", "the file is not a PDF";
    /// The PDF is encrypted and does not open without a password.
    PasswordRequired = "password_required", "the PDF needs a password";
    /// The PDF is damaged beyond reading.
    Unreadable = "unreadable", "the PDF is damaged and cannot be read";
    /// No page holds text (a scan).
    NoText = "no_extractable_text", "no extractable text";
    /// Pages hold glyphs, but what characters they stand for is not known.
    UnmappedText = "unmapped_text", "the text cannot be read reliably: its fonts do not say which characters they show";
    /// It has more bytes than may be read.
    TooLarge = "too_large", "the file is larger than the limits allow";
    /// It has more pages than allowed.
    TooManyPages = "too_many_pages", "the document has more pages than the limits allow";
    /// Its text is longer than allowed.
    TooMuchText = "too_much_text", "the document has more text than the limits allow";
    /// It falls into more chunks than allowed.
    TooManyChunks = "too_many_chunks", "the document falls into more chunks than the limits allow";
    /// Reading it took more processor time than allowed.
    ExtractionTimeout = "extraction_timeout", "reading the PDF took too long";
    /// Reading it took more memory than allowed.
    ExtractionMemory = "extraction_memory", "reading the PDF took too much memory";
    /// The extraction worker died on it.
    ExtractionCrashed = "extraction_crashed", "reading the PDF crashed the extraction worker";
    /// The stored file is gone.
    FileMissing = "file_missing", "the stored file is missing";
    /// The blob store refused or stayed unreachable.
    Storage = "storage_failed", "the stored file could not be read";
    /// The embedding back end refused or stayed unreachable.
    Embedding = "embedding_failed", "the text could not be embedded";
    /// The vector store refused or stayed unreachable.
    Indexing = "indexing_failed", "the chunks could not be stored";
    /// The service was stopped in the middle of it again and again.
    Interrupted = "interrupted", "ingestion was interrupted too many times";
    /// A fault of ours.
    Internal = "internal", "an internal error stopped the ingestion";
}

impl fmt::Display for FailureCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending() -> Document {
        let id = DocumentId::generate(DateTime::UNIX_EPOCH, [1; 10]);
        let owner = UserId::generate(DateTime::UNIX_EPOCH, [2; 10]);
        Document::new(id, owner, Title::parse("t").unwrap(), None, DateTime::UNIX_EPOCH)
    }

    #[test]
    fn an_ingested_document_has_its_own_id_in_the_vector_store() {
        let document = pending();
        assert_eq!(document.state.vector_doc_id(), None);
        let id = document.id;
        let document = document.ingested(Coverage::default(), DateTime::UNIX_EPOCH).unwrap();
        assert_eq!(document.state.vector_doc_id().unwrap().as_str(), id.to_string());
        assert_eq!(document.state.name(), "ingested");
    }

    #[test]
    fn final_states_lead_nowhere_by_ingestion() {
        let at = DateTime::UNIX_EPOCH;
        let ingested = pending().ingested(Coverage::default(), at).unwrap();
        let refused = ingested.failed(Failure::of(FailureCode::Internal), None, at).unwrap_err();
        assert_eq!(refused, IllegalTransition { from: "ingested", to: "failed" });
        let failed = pending().failed(Failure::of(FailureCode::NoText), None, at).unwrap();
        assert_eq!(failed.state.vector_doc_id(), None);
        assert!(failed.ingested(Coverage::default(), at).is_err());
    }

    #[test]
    fn only_what_was_ingested_can_lose_its_chunks() {
        let at = DateTime::UNIX_EPOCH;
        let ingested = pending().ingested(Coverage { pages: 3, ..Coverage::default() }, at).unwrap();
        let lost = ingested.lost(at).unwrap();
        assert_eq!((lost.state.name(), lost.coverage.clone()), ("pending", None));
        assert_eq!(lost.lost(at).unwrap_err(), IllegalTransition { from: "pending", to: "pending" });
    }

    #[test]
    fn failure_codes_survive_storage() {
        for code in FailureCode::ALL {
            assert_eq!(FailureCode::parse(code.as_str()), Some(*code));
        }
        assert_eq!(FailureCode::parse("nonsense"), None);
    }

    #[test]
    fn blob_keys_stay_below_their_root() {
        let key = BlobKey::of_document(pending().id);
        assert_eq!(BlobKey::parse(key.as_str()).unwrap(), key);
        let shared = BlobKey::of_extraction(&[0xa0; 32]);
        assert_eq!(shared.as_str(), format!("extractions/{}", "a0".repeat(32)));
        assert_eq!(BlobKey::parse(shared.as_str()).unwrap(), shared);
        for wrong in ["", "/a", "a//b", "../a", "a/../b", "a/.b", "A", "a b", "a\\b"] {
            assert!(BlobKey::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
