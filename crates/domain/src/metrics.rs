//! What metrics count: outcomes of jobs, stages of ingestions, caches and findings of sweeps.

use crate::document::FailureCode;

/// How an attempt at a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobOutcome {
    /// The document is searchable.
    Ingested,
    /// Ingestion failed.
    Failed(FailureCode),
    /// A fault occurred and the job will be retried.
    Retried,
    /// A component is unavailable, and the job waits for it.
    Waiting,
    /// The lease was released because the process is stopping.
    Released,
    /// The data of the deleted document was removed.
    Deleted,
    /// The job waits for another job of the same document, or for its turn at the recognizer.
    Deferred,
    /// There was nothing left to do.
    Obsolete,
}

/// A stage of an ingestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Extracting the text of the file.
    Extract,
    /// Recognising the text on images of its pages.
    Recognize,
    /// Splitting it into chunks.
    Chunk,
    /// Embedding the chunks.
    Embed,
    /// Writing the chunks to the vector store.
    Index,
}

impl Stage {
    /// Machine-readable name of the stage.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Extract => "extract",
            Self::Recognize => "recognize",
            Self::Chunk => "chunk",
            Self::Embed => "embed",
            Self::Index => "index",
        }
    }
}

/// A cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cache {
    /// Embedding vectors.
    Embeddings,
    /// Extracted text of files.
    Extractions,
}

impl Cache {
    /// Machine-readable name of the cache.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Embeddings => "embeddings",
            Self::Extractions => "extractions",
        }
    }
}

/// An inconsistency found by a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SweepFinding {
    /// A pending document without an ingestion job.
    NotQueued,
    /// A deleted document without a removal job.
    NotRemoved,
    /// A document whose chunks are not the recorded number.
    WrongChunks,
    /// Chunks of a missing or failed document.
    OrphanChunks,
    /// A file without a document.
    OrphanFile,
}

impl SweepFinding {
    /// All kinds of findings.
    pub const ALL: [Self; 5] =
        [Self::NotQueued, Self::NotRemoved, Self::WrongChunks, Self::OrphanChunks, Self::OrphanFile];

    /// Machine-readable name of the finding.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotQueued => "not_queued",
            Self::NotRemoved => "not_removed",
            Self::WrongChunks => "wrong_chunks",
            Self::OrphanChunks => "orphan_chunks",
            Self::OrphanFile => "orphan_file",
        }
    }
}
