//! Recording of events for metrics.

use crate::error::{Component, FaultKind};
use docent_domain::{chat::AgentName, document::FailureCode, usage::TokenUsage};
use std::time::Duration;

/// How an attempt at a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobOutcome {
    /// The document is searchable.
    Ingested,
    /// Ingestion failed.
    Failed(FailureCode),
    /// A fault occurred and the job will be retried.
    Retried,
    /// The lease was released because the process is stopping.
    Released,
    /// The data of the deleted document was removed.
    Deleted,
    /// The job waits for another job of the same document.
    Deferred,
    /// There was nothing left to do.
    Obsolete,
}

/// A stage of an ingestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Extracting the text of the file.
    Extract,
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
    /// Chunks of a missing or failed document.
    OrphanChunks,
    /// A file without a document.
    OrphanFile,
}

impl SweepFinding {
    /// All kinds of findings.
    pub const ALL: [Self; 4] = [Self::NotQueued, Self::NotRemoved, Self::OrphanChunks, Self::OrphanFile];

    /// Machine-readable name of the finding.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotQueued => "not_queued",
            Self::NotRemoved => "not_removed",
            Self::OrphanChunks => "orphan_chunks",
            Self::OrphanFile => "orphan_file",
        }
    }
}

/// Records events of this process. Methods are infallible, non-blocking and cheap.
pub trait Recorder: Send + Sync {
    /// Records the end of an attempt at a job, after it was stored.
    fn job_ended(&self, outcome: JobOutcome, took: Duration);

    /// Records the end of a stage, successful or not.
    fn stage_ended(&self, stage: Stage, took: Duration);

    /// Records the tokens that an answer of `agent` used in all calls of `model`.
    fn tokens_used(&self, agent: &AgentName, model: &str, tokens: TokenUsage);

    /// Records a fault of a component, once per fault, where it is handled.
    fn fault(&self, component: Component, kind: FaultKind);

    /// Records that a request was rate limited in this process because the key-value store was unavailable.
    fn counted_locally(&self);

    /// Records hits and misses of a cache.
    fn cache_lookups(&self, cache: Cache, hits: u64, misses: u64);

    /// Records the end of a sweep, and whether it was complete: everything was examined and all findings repaired.
    fn swept(&self, is_complete: bool, took: Duration);

    /// Records that a sweep repaired a finding.
    fn repaired(&self, finding: SweepFinding);
}

/// A recorder that ignores all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoopRecorder;

impl Recorder for NoopRecorder {
    fn job_ended(&self, _outcome: JobOutcome, _took: Duration) {}

    fn stage_ended(&self, _stage: Stage, _took: Duration) {}

    fn tokens_used(&self, _agent: &AgentName, _model: &str, _tokens: TokenUsage) {}

    fn fault(&self, _component: Component, _kind: FaultKind) {}

    fn counted_locally(&self) {}

    fn cache_lookups(&self, _cache: Cache, _hits: u64, _misses: u64) {}

    fn swept(&self, _is_complete: bool, _took: Duration) {}

    fn repaired(&self, _finding: SweepFinding) {}
}
