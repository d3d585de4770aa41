//! What happens in the service, told to whoever counts it.

use crate::error::{Component, FaultKind};
use docent_domain::{chat::AgentName, document::FailureCode, usage::TokenUsage};
use std::time::Duration;

/// How one try at a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobEnd {
    /// Its document is searchable.
    Ingested,
    /// Its document is given up.
    Failed(FailureCode),
    /// It will be tried again after a fault.
    Retried,
    /// It was given back without a fault: the process is stopping.
    Released,
    /// What was left of its document is removed.
    Deleted,
    /// It has to wait for another job of its document.
    Waited,
    /// There was nothing to do any more.
    Obsolete,
}

/// A step of an ingestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Reading the pages of the file.
    Extract,
    /// Cutting them into chunks.
    Chunk,
    /// Embedding the chunks.
    Embed,
    /// Writing them into the vector store.
    Index,
}

impl Stage {
    /// The step's name for programs.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Extract => "extract",
            Self::Chunk => "chunk",
            Self::Embed => "embed",
            Self::Index => "index",
        }
    }
}

/// What is kept so that it need not be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cache {
    /// Vectors of texts.
    Embeddings,
    /// The text of files.
    Extractions,
}

impl Cache {
    /// Its name for programs.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Embeddings => "embeddings",
            Self::Extractions => "extractions",
        }
    }
}

/// What a sweep finds that nobody else would ever see to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SweepFinding {
    /// A document waits for an ingestion that no job would do.
    NotQueued,
    /// What is left of a deleted document waits for a removal that no job would do.
    NotRemoved,
    /// Chunks of a document that does not exist or that failed.
    OrphanChunks,
    /// A file that no document has.
    OrphanFile,
}

impl SweepFinding {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::NotQueued, Self::NotRemoved, Self::OrphanChunks, Self::OrphanFile];

    /// Its name for programs.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotQueued => "not_queued",
            Self::NotRemoved => "not_removed",
            Self::OrphanChunks => "orphan_chunks",
            Self::OrphanFile => "orphan_file",
        }
    }
}

/// Takes note of what happens. No method fails, waits, or costs more than a count; what is noted holds
/// for this process alone and for as long as it runs.
pub trait Recorder: Send + Sync {
    /// One try at a job ended, and its end was written down.
    fn job_ended(&self, end: JobEnd, took: Duration);

    /// A step of an ingestion ended, well or not.
    fn stage_ended(&self, stage: Stage, took: Duration);

    /// An answer of `agent` cost so much, over all of its calls of `model`.
    fn tokens_used(&self, agent: &AgentName, model: &str, tokens: TokenUsage);

    /// A call of a part did not work. Told once per fault, where it is dealt with.
    fn fault(&self, part: Component, kind: FaultKind);

    /// A request was counted in this process, since the key-value store was away.
    fn counted_locally(&self);

    /// So many things were looked for in a cache and found there, or not.
    fn looked_up(&self, cache: Cache, hits: u64, misses: u64);

    /// A sweep ended; whether it has seen everything, and mended all that it found.
    fn swept(&self, is_whole: bool, took: Duration);

    /// A sweep mended something.
    fn mended(&self, leftover: SweepFinding);
}

/// Takes note of nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoopRecorder;

impl Recorder for NoopRecorder {
    fn job_ended(&self, _end: JobEnd, _took: Duration) {}

    fn stage_ended(&self, _stage: Stage, _took: Duration) {}

    fn tokens_used(&self, _agent: &AgentName, _model: &str, _tokens: TokenUsage) {}

    fn fault(&self, _part: Component, _kind: FaultKind) {}

    fn counted_locally(&self) {}

    fn looked_up(&self, _cache: Cache, _hits: u64, _misses: u64) {}

    fn swept(&self, _is_whole: bool, _took: Duration) {}

    fn mended(&self, _leftover: SweepFinding) {}
}
