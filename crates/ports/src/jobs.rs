//! The job queue in the relational store.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::{DocumentId, JobId, LeaseId};
use docent_domain::job::{Job, JobState};
use docent_domain::listing::{JobFilter, Page, PageRequest};

/// Number of unfinished jobs and the age of the oldest one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobCounts {
    /// Queued jobs, including those waiting for a retry.
    pub queued: u64,
    /// Leased jobs, including those with an expired lease.
    pub leased: u64,
    /// Creation time of the oldest unfinished job.
    pub oldest: Option<DateTime<Utc>>,
}

/// Reads jobs.
#[async_trait]
pub trait JobReader: Send {
    /// Returns the job with this ID.
    async fn get(&mut self, id: JobId) -> Result<Option<Job>>;

    /// Lists the jobs of a document, newest first.
    async fn of_document(&mut self, document: DocumentId) -> Result<Vec<Job>>;

    /// Counts unfinished jobs.
    async fn counts(&mut self) -> Result<JobCounts>;

    /// Lists jobs, last changed first.
    async fn list(&mut self, filter: JobFilter, page: PageRequest) -> Result<Page<Job>>;

    /// Returns when the next job is due: the earliest `run_at` of queued jobs and lease expiry of leased ones.
    async fn next_due(&mut self) -> Result<Option<DateTime<Utc>>>;

    /// Whether an unfinished job that is due after `due_after` waits for this reason. The bound keeps the
    /// query fast among many queued jobs.
    async fn has_waiting(&mut self, reason: &str, due_after: DateTime<Utc>) -> Result<bool>;
}

/// Reads and changes jobs.
///
/// Leases fence: changes name the lease and have no effect once it was lost.
#[async_trait]
pub trait JobWriter: JobReader {
    /// Adds a job to the end of its owner's queue. Owners take turns, however many jobs each has. Deletions go first.
    ///
    /// # Errors
    /// If the ID exists, or the document does not exist.
    async fn insert(&mut self, job: &Job) -> Result<()>;

    /// Leases the next due job: queued with `run_at` up to `now`, or with a lease that expired by `now`, which counts as
    /// an interruption. Every caller gets a different job.
    async fn lease(
        &mut self,
        lease: LeaseId,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<Job>>;

    /// Renews a lease. Returns `false` if it was lost.
    async fn renew(&mut self, job: JobId, lease: LeaseId, until: DateTime<Utc>) -> Result<bool>;

    /// Ends a lease and updates the job's state, counters, `run_at`, `last_error` and `updated_at`. Returns `false`
    /// without changing anything if the lease was lost.
    ///
    /// # Errors
    /// If the new state is leased: it must be queued or done.
    async fn settle(&mut self, job: &Job, lease: LeaseId) -> Result<bool>;

    /// Makes the unfinished ingestion job of a document due at `now`, as if it were new, and takes it from a runner that has it.
    /// Returns whether there is one.
    async fn restart_ingestion(&mut self, document: DocumentId, now: DateTime<Utc>) -> Result<bool>;

    /// Makes all leased jobs due at `now` and counts an interruption for each. Returns how many. Must only be called if
    /// no other process is running.
    async fn release_all(&mut self, now: DateTime<Utc>) -> Result<u64>;

    /// Removes jobs that finished before `before`. Returns how many.
    async fn purge_done(&mut self, before: DateTime<Utc>) -> Result<u64>;
}

/// Whether `job` can be leased at `now`.
pub fn is_due(job: &Job, now: DateTime<Utc>) -> bool {
    match job.state {
        JobState::Queued => job.run_at <= now,
        JobState::Leased { until, .. } => until <= now,
        JobState::Done => false,
    }
}
