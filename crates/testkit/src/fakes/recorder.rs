//! Recorder whose events tests can read.

use docent_domain::chat::AgentName;
use docent_domain::fallback::FallbackCause;
use docent_domain::fault::{Component, FaultKind};
use docent_domain::metrics::{Cache, JobOutcome, Stage, SweepFinding};
use docent_domain::usage::TokenUsage;
use docent_ports::recorder::Recorder;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A recorded event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Noted {
    /// [`Recorder::job_ended`]
    JobEnded(JobOutcome, Duration),
    /// [`Recorder::stage_ended`]
    StageEnded(Stage, Duration),
    /// [`Recorder::tokens_used`]
    TokensUsed(AgentName, String, TokenUsage),
    /// [`Recorder::citations_removed`]
    CitationsRemoved(AgentName, u64),
    /// [`Recorder::answered_by_fallback`]
    AnsweredByFallback(AgentName, FallbackCause),
    /// [`Recorder::fault`]
    Fault(Component, FaultKind),
    /// [`Recorder::counted_locally`]
    CountedLocally,
    /// [`Recorder::cache_lookups`]
    LookedUp(Cache, u64, u64),
    /// [`Recorder::swept`]
    Swept(bool, Duration),
    /// [`Recorder::repaired`]
    Repaired(SweepFinding),
}

/// Stores events in order.
#[derive(Debug, Default)]
pub struct FakeRecorder {
    noted: Mutex<Vec<Noted>>,
}

impl FakeRecorder {
    /// Returns the events so far.
    pub fn noted(&self) -> Vec<Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, noted: Noted) {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).push(noted);
    }
}

impl Recorder for FakeRecorder {
    fn job_ended(&self, end: JobOutcome, took: Duration) {
        self.note(Noted::JobEnded(end, took));
    }

    fn stage_ended(&self, stage: Stage, took: Duration) {
        self.note(Noted::StageEnded(stage, took));
    }

    fn tokens_used(&self, agent: &AgentName, model: &str, tokens: TokenUsage) {
        self.note(Noted::TokensUsed(agent.clone(), model.to_owned(), tokens));
    }

    fn citations_removed(&self, agent: &AgentName, count: u64) {
        self.note(Noted::CitationsRemoved(agent.clone(), count));
    }

    fn answered_by_fallback(&self, agent: &AgentName, cause: FallbackCause) {
        self.note(Noted::AnsweredByFallback(agent.clone(), cause));
    }

    fn fault(&self, part: Component, kind: FaultKind) {
        self.note(Noted::Fault(part, kind));
    }

    fn counted_locally(&self) {
        self.note(Noted::CountedLocally);
    }

    fn cache_lookups(&self, cache: Cache, hits: u64, misses: u64) {
        self.note(Noted::LookedUp(cache, hits, misses));
    }

    fn swept(&self, is_whole: bool, took: Duration) {
        self.note(Noted::Swept(is_whole, took));
    }

    fn repaired(&self, finding: SweepFinding) {
        self.note(Noted::Repaired(finding));
    }
}
