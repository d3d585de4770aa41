//! The job queue in memory.

use super::{Tables, Transaction, insert_once, page_of, violation};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::{DocumentId, JobId, LeaseId};
use docent_domain::job::{Job, JobKind, JobState};
use docent_domain::listing::{JobFilter, JobStateName, Page, PageRequest};
use docent_ports::jobs::{JobCounts, JobReader, JobWriter, is_due};

#[async_trait]
impl JobReader for Transaction {
    async fn get(&mut self, id: JobId) -> Result<Option<Job>> {
        Ok(self.read()?.jobs.get(&id).cloned())
    }

    async fn of_document(&mut self, document: DocumentId) -> Result<Vec<Job>> {
        let mut jobs: Vec<_> =
            self.read()?.jobs.values().filter(|job| job.document == document).cloned().collect();
        jobs.sort_by_key(|job| std::cmp::Reverse((job.created_at, job.id)));
        Ok(jobs)
    }

    async fn counts(&mut self) -> Result<JobCounts> {
        let mut counts = JobCounts::default();
        for job in self.read()?.jobs.values() {
            match job.state {
                JobState::Queued => counts.queued += 1,
                JobState::Leased { .. } => counts.leased += 1,
                JobState::Done => continue,
            }
            counts.oldest = Some(counts.oldest.map_or(job.created_at, |oldest| oldest.min(job.created_at)));
        }
        Ok(counts)
    }

    async fn list(&mut self, filter: JobFilter, page: PageRequest) -> Result<Page<Job>> {
        let is_in = |job: &Job, state| match state {
            JobStateName::Queued => job.state == JobState::Queued,
            JobStateName::Leased => matches!(job.state, JobState::Leased { .. }),
            JobStateName::Done => job.state == JobState::Done,
            JobStateName::Succeeded => job.state == JobState::Done && !job.has_failed(),
            JobStateName::Failed => job.has_failed(),
        };
        let fits = |job: &&Job| {
            filter.state.is_none_or(|wanted| is_in(job, wanted))
                && filter.kind.is_none_or(|kind| job.kind == kind)
        };
        let mut jobs: Vec<Job> = self.read()?.jobs.values().filter(fits).cloned().collect();
        jobs.sort_by_key(|job| std::cmp::Reverse((job.updated_at, job.id)));
        Ok(page_of(jobs, page))
    }

    async fn next_due(&mut self) -> Result<Option<DateTime<Utc>>> {
        Ok(self.read()?.jobs.values().filter_map(due_at).min())
    }

    async fn has_waiting(&mut self, reason: &str, due_after: DateTime<Utc>) -> Result<bool> {
        let waits = |job: &Job| job.wait.as_ref().is_some_and(|wait| wait.reason == reason);
        let is_due = |job: &Job| due_at(job).is_some_and(|due| due > due_after);
        Ok(self.read()?.jobs.values().any(|job| is_due(job) && waits(job)))
    }
}

#[async_trait]
impl JobWriter for Transaction {
    async fn insert(&mut self, job: &Job) -> Result<()> {
        self.write(|tables| {
            if !tables.documents.contains_key(&job.document) && !tables.deleted.contains_key(&job.document) {
                return Err(violation("the job's document does not exist"));
            }
            if job.owner.is_some_and(|owner| !tables.users.contains_key(&owner)) {
                return Err(violation("the job's owner does not exist"));
            }
            let turn = turn(tables, job);
            tables.turns.insert(job.id, turn);
            insert_once(&mut tables.jobs, job.id, job)
        })
    }

    async fn lease(
        &mut self,
        lease: LeaseId,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<Job>> {
        self.write(|tables| {
            let turns = &tables.turns;
            let due = tables.jobs.values_mut().filter(|job| is_due(job, now));
            let Some(job) = due.min_by_key(|job| (turns.get(&job.id), due_at(job), job.id)) else {
                return Ok(None);
            };
            if matches!(job.state, JobState::Leased { .. }) {
                job.interruptions += 1;
            }
            job.state = JobState::Leased { lease, until };
            job.updated_at = now;
            Ok(Some(job.clone()))
        })
    }

    async fn renew(&mut self, job: JobId, lease: LeaseId, until: DateTime<Utc>) -> Result<bool> {
        self.write(|tables| {
            let job = tables.jobs.get_mut(&job).filter(|job| holds(job, lease));
            let held = job.is_some();
            if let Some(job) = job {
                job.state = JobState::Leased { lease, until };
            }
            Ok(held)
        })
    }

    async fn settle(&mut self, job: &Job, lease: LeaseId) -> Result<bool> {
        self.write(|tables| {
            if matches!(job.state, JobState::Leased { .. }) {
                return Err(violation("a job was settled that is neither queued nor done"));
            }
            let row = tables.jobs.get_mut(&job.id).filter(|row| holds(row, lease));
            let held = row.is_some();
            if let Some(row) = row {
                row.state = job.state;
                row.attempts = job.attempts;
                row.interruptions = job.interruptions;
                row.run_at = job.run_at;
                row.last_error.clone_from(&job.last_error);
                row.wait.clone_from(&job.wait);
                row.updated_at = job.updated_at;
            }
            Ok(held)
        })
    }

    async fn restart_ingestion(&mut self, document: DocumentId, now: DateTime<Utc>) -> Result<bool> {
        self.write(|tables| {
            let is_open = |job: &&mut Job| {
                job.document == document && job.kind == JobKind::Ingest && job.state != JobState::Done
            };
            let mut jobs = tables.jobs.values_mut().filter(is_open).peekable();
            let is_there = jobs.peek().is_some();
            for job in jobs {
                let new = Job::new(job.id, job.kind, document, job.owner, now);
                *job = Job { trace: job.trace.clone(), created_at: job.created_at, ..new };
            }
            Ok(is_there)
        })
    }

    async fn release_all(&mut self, now: DateTime<Utc>) -> Result<u64> {
        self.write(|tables| {
            let leased = |job: &&mut Job| matches!(job.state, JobState::Leased { .. });
            let mut released = 0;
            for job in tables.jobs.values_mut().filter(leased) {
                job.state = JobState::Queued;
                job.interruptions += 1;
                job.run_at = now;
                job.updated_at = now;
                released += 1;
            }
            Ok(released)
        })
    }

    async fn purge_done(&mut self, before: DateTime<Utc>) -> Result<u64> {
        self.write(|tables| {
            let jobs = tables.jobs.len();
            tables.jobs.retain(|_, job| job.state != JobState::Done || job.updated_at >= before);
            Ok((jobs - tables.jobs.len()) as u64)
        })
    }
}

/// Returns the position after the owner's last job, but not before the jobs waiting now.
fn turn(tables: &Tables, job: &Job) -> i64 {
    let waiting = || tables.jobs.values().filter(|job| job.state != JobState::Done);
    let turn = |job: &Job| tables.turns.get(&job.id).copied();
    let now = waiting().filter_map(turn).min().unwrap_or_default();
    let last = waiting().filter(|other| other.owner == job.owner).filter_map(turn).max();
    match job.kind {
        JobKind::Delete => now,
        JobKind::Ingest => last.map_or(now, |last| now.max(last + 1)),
    }
}

fn due_at(job: &Job) -> Option<DateTime<Utc>> {
    match job.state {
        JobState::Queued => Some(job.run_at),
        JobState::Leased { until, .. } => Some(until),
        JobState::Done => None,
    }
}

fn holds(job: &Job, lease: LeaseId) -> bool {
    matches!(job.state, JobState::Leased { lease: held, .. } if held == lease)
}
