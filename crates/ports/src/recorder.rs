//! Recording of events for metrics.

use docent_domain::chat::AgentName;
use docent_domain::fallback::FallbackCause;
use docent_domain::fault::{Component, FaultKind};
use docent_domain::metrics::{Cache, JobOutcome, Stage, SweepFinding};
use docent_domain::usage::TokenUsage;
use std::time::Duration;

/// Records events of this process. Methods are infallible, non-blocking and cheap.
pub trait Recorder: Send + Sync {
    /// Records the end of an attempt at a job, after it was stored.
    fn job_ended(&self, outcome: JobOutcome, took: Duration);

    /// Records the end of a stage, successful or not.
    fn stage_ended(&self, stage: Stage, took: Duration);

    /// Records the tokens that an answer of `agent` used in all calls of `model`.
    fn tokens_used(&self, agent: &AgentName, model: &str, tokens: TokenUsage);

    /// Records that citations of passages that were not found were removed from an answer of `agent`.
    fn citations_removed(&self, agent: &AgentName, count: u64);

    /// Records that an answer of `agent` quotes documents because the chat model could not answer.
    fn answered_by_fallback(&self, agent: &AgentName, cause: FallbackCause);

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

    fn citations_removed(&self, _agent: &AgentName, _count: u64) {}

    fn answered_by_fallback(&self, _agent: &AgentName, _cause: FallbackCause) {}

    fn fault(&self, _component: Component, _kind: FaultKind) {}

    fn counted_locally(&self) {}

    fn cache_lookups(&self, _cache: Cache, _hits: u64, _misses: u64) {}

    fn swept(&self, _is_complete: bool, _took: Duration) {}

    fn repaired(&self, _finding: SweepFinding) {}
}
