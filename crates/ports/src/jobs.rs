//! The job ledger in the relational store.

use crate::{
    error::Result,
    page::{Page, PageRequest},
};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::{
    id::{DocumentId, JobId, LeaseId},
    job::{Job, JobKind, JobState},
};

/// How many jobs there are, and how old the oldest waiting one is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobCounts {
    /// Waiting, also those that wait for a retry.
    pub queued: u64,
    /// Leased, also those whose lease ran out.
    pub leased: u64,
    /// When the oldest job that is not done was created.
    pub oldest: Option<DateTime<Utc>>,
}

/// Which jobs to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct JobFilter {
    /// Only those in this state.
    pub state: Option<JobStateName>,
    /// Only those of this kind.
    pub kind: Option<JobKind>,
}

/// The states of jobs, without what each of them knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobStateName {
    /// Waiting.
    Queued,
    /// Being run, or its runner died.
    Leased,
    /// Over.
    Done,
}

/// Reads jobs.
#[async_trait]
pub trait JobReader: Send {
    /// The job with this id.
    async fn get(&mut self, id: JobId) -> Result<Option<Job>>;

    /// A document's jobs, newest first.
    async fn of_document(&mut self, document: DocumentId) -> Result<Vec<Job>>;

    /// How many there are.
    async fn counts(&mut self) -> Result<JobCounts>;

    /// Jobs of a kind, the one that changed last first.
    async fn list(&mut self, filter: JobFilter, page: PageRequest) -> Result<Page<Job>>;

    /// When the next job can be run: the earliest `run_at` of queued ones and end of leased ones.
    async fn next_due(&mut self) -> Result<Option<DateTime<Utc>>>;
}

/// Reads and changes jobs.
///
/// A lease fences: every change by its holder names it, and does nothing once it was lost.
#[async_trait]
pub trait JobWriter: JobReader {
    /// Adds a job, behind those of its owner and beside those of others: owners take turns, however many
    /// jobs one of them has. A deletion is next.
    ///
    /// # Errors
    /// When there is one with this id, or its document does not exist.
    async fn insert(&mut self, job: &Job) -> Result<()>;

    /// Leases the job whose turn it is among those that are due: queued with `run_at` at or before `now`, or
    /// leased until `now` or before. The latter counts as an interruption. No two callers get the same one.
    async fn lease(
        &mut self,
        lease: LeaseId,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<Job>>;

    /// Renews a lease; `false` when it was lost.
    async fn renew(&mut self, job: JobId, lease: LeaseId, until: DateTime<Utc>) -> Result<bool>;

    /// Ends a lease and writes what became of the job: its state, counters, `run_at`, `last_error`
    /// and `updated_at`; `false`, and nothing written, when the lease was lost.
    ///
    /// # Errors
    /// When its state is leased: what became of a job is that it is queued again or done.
    async fn settle(&mut self, job: &Job, lease: LeaseId) -> Result<bool>;

    /// Makes every leased job due at `now`, counting an interruption each, and says how many there
    /// were. Only for a process that knows no other one to be running.
    async fn release_all(&mut self, now: DateTime<Utc>) -> Result<u64>;

    /// Removes jobs that were done before `before`; says how many.
    async fn purge_done(&mut self, before: DateTime<Utc>) -> Result<u64>;
}

/// Whether `job` may be leased at `now`.
pub fn is_due(job: &Job, now: DateTime<Utc>) -> bool {
    match job.state {
        JobState::Queued => job.run_at <= now,
        JobState::Leased { until, .. } => until <= now,
        JobState::Done => false,
    }
}
