//! Random histories of a job queue compared with a simple model.

use super::records::add_documents;
use crate::builders::{at, document, id, job};
use crate::entropy::TestEntropy;
use chrono::{DateTime, Utc};
use docent_domain::id::{JobId, LeaseId};
use docent_domain::job::{Job, JobState};
use docent_ports::entropy::Entropy;
use docent_ports::jobs::JobCounts;
use docent_ports::store::{Store, UnitOfWork};
use std::collections::BTreeMap;
use std::sync::Arc;

const STEPS: u32 = 250;

crate::battery! {
    job_ledger_contract in job_ledger (Arc<dyn Store>);

    /// Whatever runners do, crash or stall, the queue agrees with the model.
    async fn random_history_matches_model(store) {
        random_history(store, 1).await;
    }

    async fn another_random_history_matches_model(store) {
        random_history(store, 2).await;
    }
}

async fn random_history(store: Arc<dyn Store>, seed: u64) {
    add_documents(&*store, &[document(0)]).await;
    let mut history = History {
        jobs: Vec::new(),
        leases: Vec::new(),
        turns: BTreeMap::new(),
        now: 0,
        chance: TestEntropy::seeded(seed),
    };
    for step in 0..STEPS {
        let mut unit = store.begin().await.unwrap();
        let commit = history.chance_in(8, 7);
        let before = (history.jobs.clone(), history.leases.clone());
        history.step(step, &mut *unit).await;
        if commit {
            unit.commit().await.unwrap();
        } else {
            drop(unit);
            (history.jobs, history.leases) = before;
        }
        history.compare(step, &*store).await;
    }
    assert!(history.leases.len() > 30, "a history in which something happens");
}

/// The model: all jobs and all leases ever given.
struct History {
    jobs: Vec<Job>,
    leases: Vec<(JobId, LeaseId)>,
    /// Queue position of each job; all have the same owner.
    turns: BTreeMap<JobId, i64>,
    now: i64,
    chance: TestEntropy,
}

impl History {
    async fn step(&mut self, step: u32, unit: &mut dyn UnitOfWork) {
        self.now += i64::from(self.below(3));
        match self.below(20) {
            0..=4 => self.insert(step, unit).await,
            5..=10 => self.lease(step, unit).await,
            11..=13 => self.renew(unit).await,
            14..=17 => self.settle(unit).await,
            18 => self.purge(unit).await,
            _ => self.release_all(unit).await,
        }
    }

    async fn insert(&mut self, step: u32, unit: &mut dyn UnitOfWork) {
        let run_at = at(self.now + i64::from(self.below(10)) - 3);
        let new = Job { run_at, created_at: at(self.now), updated_at: at(self.now), ..job(step, id(0)) };
        unit.jobs().insert(&new).await.unwrap();
        let waiting =
            || self.jobs.iter().filter(|job| job.state != JobState::Done).map(|job| self.turns[&job.id]);
        let turn = waiting().max().map_or(0, |last| last + 1);
        self.turns.insert(new.id, turn);
        self.jobs.push(new);
    }

    async fn lease(&mut self, step: u32, unit: &mut dyn UnitOfWork) {
        let (lease, now, until) = (id(step), at(self.now), at(self.now + 1 + i64::from(self.below(6))));
        let mut due: Vec<&mut Job> =
            self.jobs.iter_mut().filter(|job| due_at(job).is_some_and(|due| due <= now)).collect();
        let turns = &self.turns;
        due.sort_by_key(|job| (turns[&job.id], due_at(job), job.id));
        let expected = due.into_iter().next().map(|job| {
            job.interruptions += u32::from(job.state != JobState::Queued);
            job.state = JobState::Leased { lease, until };
            job.updated_at = now;
            job.clone()
        });
        self.leases.extend(expected.as_ref().map(|job| (job.id, lease)));
        assert_eq!(unit.jobs().lease(lease, now, until).await.unwrap(), expected, "step {step}");
    }

    async fn renew(&mut self, unit: &mut dyn UnitOfWork) {
        let Some((job, lease)) = self.any_lease() else { return };
        let until = at(self.now + 1 + i64::from(self.below(6)));
        let held = self.holder(job, lease).map(|job| job.state = JobState::Leased { lease, until });
        assert_eq!(unit.jobs().renew(job, lease, until).await.unwrap(), held.is_some());
    }

    async fn settle(&mut self, unit: &mut dyn UnitOfWork) {
        let Some((job, lease)) = self.any_lease() else { return };
        let (retry, run_at, now) = (self.chance_in(2, 1), at(self.now + 2), at(self.now));
        let Some(known) = self.jobs.iter().find(|known| known.id == job) else { return };
        let outcome = Job {
            state: if retry { JobState::Queued } else { JobState::Done },
            attempts: known.attempts + u32::from(retry),
            run_at: if retry { run_at } else { known.run_at },
            last_error: retry.then(|| "a fault".to_owned()),
            updated_at: now,
            ..known.clone()
        };
        let held = self.holder(job, lease).map(|job| *job = outcome.clone());
        assert_eq!(unit.jobs().settle(&outcome, lease).await.unwrap(), held.is_some());
    }

    async fn purge(&mut self, unit: &mut dyn UnitOfWork) {
        let (before, jobs) = (at(self.now - 3), self.jobs.len());
        self.jobs.retain(|job| job.state != JobState::Done || job.updated_at >= before);
        assert_eq!(unit.jobs().purge_done(before).await.unwrap(), (jobs - self.jobs.len()) as u64);
    }

    async fn release_all(&mut self, unit: &mut dyn UnitOfWork) {
        let now = at(self.now);
        let mut released = 0;
        for job in self.jobs.iter_mut().filter(|job| matches!(job.state, JobState::Leased { .. })) {
            *job = Job {
                state: JobState::Queued,
                interruptions: job.interruptions + 1,
                run_at: now,
                updated_at: now,
                ..job.clone()
            };
            released += 1;
        }
        assert_eq!(unit.jobs().release_all(now).await.unwrap(), released);
    }

    async fn compare(&self, step: u32, store: &dyn Store) {
        let mut view = store.read().await.unwrap();
        let mut expected = self.jobs.clone();
        expected.sort_by_key(|job| std::cmp::Reverse((job.created_at, job.id)));
        assert_eq!(view.jobs().of_document(id(0)).await.unwrap(), expected, "step {step}");
        let count = |leased: bool| {
            let open = self.jobs.iter().filter(|job| job.state != JobState::Done);
            open.filter(|job| (job.state != JobState::Queued) == leased).count() as u64
        };
        let open = self.jobs.iter().filter(|job| job.state != JobState::Done);
        let oldest = open.map(|job| job.created_at).min();
        let counts = JobCounts { queued: count(false), leased: count(true), oldest };
        assert_eq!(view.jobs().counts().await.unwrap(), counts, "step {step}");
        let next = self.jobs.iter().filter_map(due_at).min();
        assert_eq!(view.jobs().next_due().await.unwrap(), next, "step {step}");
    }

    fn holder(&mut self, job: JobId, lease: LeaseId) -> Option<&mut Job> {
        let holds = |job: &Job| matches!(job.state, JobState::Leased { lease: held, .. } if held == lease);
        self.jobs.iter_mut().find(|known| known.id == job && holds(known))
    }

    /// A recent lease, which may have been lost.
    fn any_lease(&mut self) -> Option<(JobId, LeaseId)> {
        let back = self.below(6) as usize;
        self.leases.iter().rev().nth(back).copied()
    }

    fn below(&self, n: u32) -> u32 {
        let mut bytes = [0; 4];
        self.chance.fill(&mut bytes);
        u32::from_le_bytes(bytes) % n
    }

    /// True `n` times of `of`.
    fn chance_in(&self, of: u32, n: u32) -> bool {
        self.below(of) < n
    }
}

fn due_at(job: &Job) -> Option<DateTime<Utc>> {
    match job.state {
        JobState::Queued => Some(job.run_at),
        JobState::Leased { until, .. } => Some(until),
        JobState::Done => None,
    }
}
