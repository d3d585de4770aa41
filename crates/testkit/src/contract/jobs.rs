//! What every job ledger does.

use super::records::{add_documents, add_jobs, add_users, first};
use crate::builders::{at, document, id, job, user};
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::{
    id::{JobId, LeaseId},
    job::{Job, JobKind, JobState},
    trace::TraceParent,
};
use docent_ports::{
    jobs::{JobCounts, JobFilter, JobStateName},
    store::Store,
};
use std::{collections::HashSet, sync::Arc};

crate::battery! {
    jobs_contract in jobs (Arc<dyn Store>);

    /// Every field and state comes back as it was, instants to the microsecond.
    async fn every_field_survives(store) {
        add_users(&*store, &[user(1)]).await;
        add_documents(&*store, &[document(1)]).await;
        let odd = |n| at(n) + TimeDelta::microseconds(123_457);
        let queued = Job {
            owner: Some(user(1).id),
            attempts: u32::MAX,
            interruptions: 7,
            run_at: odd(1),
            last_error: Some("größer als 50 MiB: “x”".into()),
            trace: TraceParent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
            created_at: odd(2),
            updated_at: odd(3),
            ..job(1, document(1).id)
        };
        let leased = Job { state: JobState::Leased { lease: id(9), until: odd(4) }, ..job(2, document(1).id) };
        let done = Job { state: JobState::Done, ..job(3, document(1).id) };
        let jobs = [queued, leased, done];
        add_jobs(&*store, &jobs).await;
        for job in jobs {
            assert_eq!(get(&*store, job.id).await, Some(job));
        }
        assert_eq!(get(&*store, id(4)).await, None);
    }

    /// Lists are by the last change, of a state or of a kind.
    async fn lists_are_filtered(store) {
        add_documents(&*store, &[document(1)]).await;
        let queued = job(1, document(1).id);
        let leased = Job { state: JobState::Leased { lease: id(9), until: at(4) }, ..job(2, document(1).id) };
        let done = Job { state: JobState::Done, kind: JobKind::Delete, ..job(3, document(1).id) };
        add_jobs(&*store, &[queued.clone(), leased.clone(), done.clone()]).await;
        let all = JobFilter::default();
        for (filter, expected) in [
            (all, vec![&done, &leased, &queued]),
            (JobFilter { state: Some(JobStateName::Queued), ..all }, vec![&queued]),
            (JobFilter { state: Some(JobStateName::Leased), ..all }, vec![&leased]),
            (JobFilter { state: Some(JobStateName::Done), ..all }, vec![&done]),
            (JobFilter { kind: Some(JobKind::Ingest), ..all }, vec![&leased, &queued]),
        ] {
            let listed = store.read().await.unwrap().jobs().list(filter, first(9)).await.unwrap();
            assert_eq!(listed.records.iter().collect::<Vec<_>>(), expected, "{filter:?}");
            assert_eq!(listed.total, expected.len() as u64);
        }
    }

    /// A job is about a document that exists, and two jobs never share an id.
    async fn impossible_jobs_are_refused(store) {
        assert!(store.begin().await.unwrap().jobs().insert(&job(1, document(1).id)).await.is_err());
        ready(&*store, &[1]).await;
        assert!(store.begin().await.unwrap().jobs().insert(&job(1, document(1).id)).await.is_err());
        let orphan = Job { owner: Some(id(5)), ..job(2, document(1).id) };
        assert!(store.begin().await.unwrap().jobs().insert(&orphan).await.is_err());
        assert_eq!(counts(&*store).await.queued, 1);
    }

    /// A document's jobs come newest first, those of one instant by id, and others' not at all.
    async fn jobs_of_a_document_are_newest_first(store) {
        add_documents(&*store, &[document(1), document(2)]).await;
        let tied = |n| Job { created_at: at(50), ..job(n, document(1).id) };
        add_jobs(&*store, &[job(1, document(1).id), tied(2), tied(3), job(60, document(2).id)]).await;
        let mut view = store.read().await.unwrap();
        let jobs = view.jobs().of_document(document(1).id).await.unwrap();
        assert_eq!(jobs, [tied(3), tied(2), job(1, document(1).id)]);
        assert_eq!(view.jobs().of_document(id(3)).await.unwrap(), []);
    }

    /// One owner's jobs are leased in the order in which they came, as far as they are due.
    async fn the_job_that_came_first_is_leased_first(store) {
        add_documents(&*store, &[document(1)]).await;
        let due = |n, seconds| Job { run_at: at(seconds), ..job(n, document(1).id) };
        for job in [due(3, 30), due(1, 41), due(4, 10), due(2, 20)] {
            add_jobs(&*store, &[job]).await;
        }
        assert_eq!(lease_all(&*store, 40).await, [id(3), id(4), id(2)]);
    }

    /// However many jobs one owner has, another's first one is leased after at most one more of them.
    async fn owners_take_turns(store) {
        add_users(&*store, &[user(1), user(2), user(3)]).await;
        add_documents(&*store, &[document(1)]).await;
        let of = |owner: u32, n| Job { owner: Some(user(owner).id), ..job(n, document(1).id) };
        for n in 1..=6 {
            add_jobs(&*store, &[of(1, n)]).await;
        }
        assert_eq!(lease(&*store, 50, 10, 90).await.unwrap().id, id(1));
        let lease_of_first = id(50);
        let done = Job { state: JobState::Done, ..of(1, 1) };
        let mut unit = store.begin().await.unwrap();
        assert!(unit.jobs().settle(&done, lease_of_first).await.unwrap());
        unit.commit().await.unwrap();
        add_jobs(&*store, &[of(2, 7), of(2, 8), of(3, 9)]).await;
        let order = lease_all(&*store, 10).await;
        let place = |n| order.iter().position(|other| *other == id::<JobId>(n)).unwrap();
        assert!(place(7) <= 2 && place(9) <= 2, "{order:?}");
        assert!(place(8) <= 4, "{order:?}");
        assert!(place(2) < place(3) && place(3) < place(4) && place(7) < place(8), "{order:?}");
    }

    /// A deletion does not wait behind what its owner has uploaded.
    async fn a_deletion_is_next(store) {
        add_documents(&*store, &[document(1)]).await;
        for n in 1..=3 {
            add_jobs(&*store, &[job(n, document(1).id)]).await;
        }
        add_jobs(&*store, &[Job { kind: JobKind::Delete, ..job(4, document(1).id) }]).await;
        let order = lease_all(&*store, 40).await;
        assert!(order[..2].contains(&id(4)), "{order:?}");
    }

    /// A lease shows in the job, and nothing else of it changes but when it last did.
    async fn a_lease_is_written_into_the_job(store) {
        ready(&*store, &[1]).await;
        let leased = lease(&*store, 7, 5, 35).await.unwrap();
        let state = JobState::Leased { lease: id(7), until: at(35) };
        assert_eq!(leased, Job { state, updated_at: at(5), ..job(1, document(1).id) });
        assert_eq!(get(&*store, id(1)).await, Some(leased));
    }

    /// A job is due from its very instant, to the microsecond, and not before.
    async fn nothing_is_leased_before_it_is_due(store) {
        add_documents(&*store, &[document(1)]).await;
        let run_at = at(10) + TimeDelta::microseconds(2);
        add_jobs(&*store, &[Job { run_at, ..job(1, document(1).id) }]).await;
        assert_eq!(lease_at(&*store, id(7), run_at - TimeDelta::microseconds(1), at(99)).await, None);
        assert!(lease_at(&*store, id(7), run_at, at(99)).await.is_some());
    }

    /// A leased job is nobody else's until its lease has run out; that counts as an interruption.
    async fn an_expired_lease_counts_as_an_interruption(store) {
        ready(&*store, &[1]).await;
        assert_eq!(lease(&*store, 7, 5, 35).await.unwrap().interruptions, 0);
        assert_eq!(lease(&*store, 8, 34, 60).await, None);
        let taken = lease(&*store, 8, 35, 60).await.unwrap();
        assert_eq!(taken.state, JobState::Leased { lease: id(8), until: at(60) });
        assert_eq!((taken.interruptions, taken.attempts), (1, 0));
        assert_eq!(lease(&*store, 9, 60, 90).await.unwrap().interruptions, 2);
    }

    /// An expired lease and a waiting job stand in one line.
    async fn expired_leases_wait_their_turn(store) {
        add_documents(&*store, &[document(1)]).await;
        add_jobs(&*store, &[job(1, document(1).id), Job { run_at: at(20), ..job(2, document(1).id) }]).await;
        assert_eq!(lease(&*store, 7, 1, 30).await.unwrap().id, id(1));
        assert_eq!(lease(&*store, 8, 29, 90).await.unwrap().id, id(2), "it is held until then");
        assert_eq!(lease(&*store, 9, 40, 90).await.unwrap().id, id(1));
    }

    /// Fifty callers at once share out twenty jobs: each goes to one of them.
    async fn no_job_is_leased_twice(store) {
        ready(&*store, &(1..=20).collect::<Vec<_>>()).await;
        let callers = (0..50).map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { lease(&*store, 100 + n, 30, 90).await })
        });
        let (mut leased, mut refused) = (HashSet::new(), 0);
        for caller in callers.collect::<Vec<_>>() {
            match caller.await.unwrap() {
                Some(job) => assert!(leased.insert(job.id), "{} was leased twice", job.id),
                None => refused += 1,
            }
        }
        assert_eq!((leased.len(), refused), (20, 30));
    }

    /// A lease that is not committed was never given.
    async fn an_uncommitted_lease_is_not_given(store) {
        ready(&*store, &[1]).await;
        let mut unit = store.begin().await.unwrap();
        assert!(unit.jobs().lease(id(7), at(5), at(35)).await.unwrap().is_some());
        drop(unit);
        assert_eq!(lease(&*store, 8, 5, 35).await.unwrap().interruptions, 0);
    }

    /// Renewing moves the end of a lease; an expired one can be renewed while nobody took it.
    async fn a_renewed_lease_lasts_longer(store) {
        ready(&*store, &[1]).await;
        lease(&*store, 7, 5, 35).await.unwrap();
        assert!(renew(&*store, 1, 7, 60).await);
        assert_eq!(lease(&*store, 8, 59, 90).await, None);
        assert!(renew(&*store, 1, 7, 120).await);
        let job = get(&*store, id(1)).await.unwrap();
        assert_eq!(job.state, JobState::Leased { lease: id(7), until: at(120) });
        assert_eq!(job.interruptions, 0);
    }

    /// Who lost a lease can neither renew nor settle, and changes nothing by trying.
    async fn a_lost_lease_is_powerless(store) {
        ready(&*store, &[1]).await;
        let mine = lease(&*store, 7, 5, 35).await.unwrap();
        let theirs = lease(&*store, 8, 35, 60).await.unwrap();
        assert!(!renew(&*store, 1, 7, 99).await);
        let outcome = Job { state: JobState::Done, attempts: 9, last_error: Some("late".into()), ..mine };
        assert!(!settle(&*store, &outcome, 7).await);
        assert_eq!(get(&*store, id(1)).await, Some(theirs));
        assert!(!settle(&*store, &Job { id: id(2), ..outcome.clone() }, 7).await);
        assert!(settle(&*store, &outcome, 8).await);
        assert!(!settle(&*store, &outcome, 8).await);
        assert!(!renew(&*store, 1, 8, 99).await);
    }

    /// Settling writes the outcome and only that: not whose job it is, or when it was created.
    async fn settling_writes_the_outcome(store) {
        add_users(&*store, &[user(1)]).await;
        add_documents(&*store, &[document(1), document(2)]).await;
        let before = Job { owner: Some(user(1).id), ..job(1, document(1).id) };
        add_jobs(&*store, std::slice::from_ref(&before)).await;
        lease(&*store, 7, 5, 35).await.unwrap();
        let outcome = Job {
            state: JobState::Done,
            attempts: 2,
            interruptions: 3,
            run_at: at(8),
            last_error: Some("the back end refused".into()),
            updated_at: at(9),
            ..before.clone()
        };
        let written = Job { document: document(2).id, owner: None, created_at: at(77), ..outcome.clone() };
        assert!(settle(&*store, &written, 7).await);
        assert_eq!(get(&*store, id(1)).await, Some(outcome));
        assert_eq!(lease(&*store, 8, 1000, 1001).await, None);
    }

    /// A job that goes back into the queue waits for its new time.
    async fn a_retry_waits_for_its_time(store) {
        ready(&*store, &[1]).await;
        let leased = lease(&*store, 7, 5, 35).await.unwrap();
        let retry = Job { state: JobState::Queued, attempts: 1, run_at: at(50), ..leased };
        assert!(settle(&*store, &retry, 7).await);
        assert_eq!(next_due(&*store).await, Some(at(50)));
        assert_eq!(lease(&*store, 8, 49, 90).await, None);
        let again = lease(&*store, 8, 50, 90).await.unwrap();
        assert_eq!((again.attempts, again.interruptions), (1, 0));
    }

    /// A settled job is queued or done: a lease cannot be handed on.
    async fn settling_to_a_lease_is_refused(store) {
        ready(&*store, &[1]).await;
        let leased = lease(&*store, 7, 5, 35).await.unwrap();
        assert!(store.begin().await.unwrap().jobs().settle(&leased, id(7)).await.is_err());
        assert_eq!(get(&*store, id(1)).await, Some(leased));
    }

    /// Releasing all makes what was leased due at once, and leaves the rest alone.
    async fn releasing_all_frees_what_was_leased(store) {
        add_documents(&*store, &[document(1)]).await;
        let waiting = Job { run_at: at(500), ..job(3, document(1).id) };
        let done = Job { state: JobState::Done, ..job(4, document(1).id) };
        add_jobs(&*store, &[job(1, document(1).id), job(2, document(1).id), waiting.clone(), done.clone()]).await;
        lease(&*store, 7, 5, 300).await.unwrap();
        lease(&*store, 8, 5, 300).await.unwrap();
        let mut unit = store.begin().await.unwrap();
        assert_eq!(unit.jobs().release_all(at(10)).await.unwrap(), 2);
        unit.commit().await.unwrap();
        let freed = get(&*store, id(1)).await.unwrap();
        let expected = Job { interruptions: 1, run_at: at(10), updated_at: at(10), ..job(1, document(1).id) };
        assert_eq!(freed, expected);
        assert!(!renew(&*store, 1, 7, 400).await);
        assert_eq!(get(&*store, id(3)).await, Some(waiting));
        assert_eq!(get(&*store, id(4)).await, Some(done));
        assert_eq!(lease(&*store, 9, 10, 300).await.unwrap().interruptions, 1);
    }

    /// Jobs that were done long enough ago go; all others stay.
    async fn purging_removes_old_finished_jobs_alone(store) {
        add_documents(&*store, &[document(1)]).await;
        let done = |n| Job { state: JobState::Done, updated_at: at(i64::from(n)), ..job(n, document(1).id) };
        let lease = JobState::Leased { lease: id(7), until: at(1) };
        let leased = Job { state: lease, updated_at: at(1), ..job(4, document(1).id) };
        add_jobs(&*store, &[job(1, document(1).id), done(2), done(3), leased, done(5)]).await;
        let mut unit = store.begin().await.unwrap();
        assert_eq!(unit.jobs().purge_done(at(3)).await.unwrap(), 1);
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        let left: Vec<_> =
            view.jobs().of_document(document(1).id).await.unwrap().iter().map(|job| job.id).collect();
        assert_eq!(left, [id(5), id(4), id(3), id(1)]);
    }

    /// The next job is due when a queued one may run or a lease ends, whichever comes first.
    async fn the_next_due_time_is_known(store) {
        assert_eq!(next_due(&*store).await, None);
        add_documents(&*store, &[document(1)]).await;
        let done = Job { state: JobState::Done, ..job(1, document(1).id) };
        add_jobs(&*store, &[done]).await;
        assert_eq!(next_due(&*store).await, None);
        add_jobs(&*store, &[job(2, document(1).id), Job { run_at: at(50), ..job(3, document(1).id) }]).await;
        assert_eq!(next_due(&*store).await, Some(at(2)));
        lease(&*store, 7, 5, 60).await.unwrap();
        assert_eq!(next_due(&*store).await, Some(at(50)));
        lease(&*store, 8, 50, 70).await.unwrap();
        assert_eq!(next_due(&*store).await, Some(at(60)));
    }

    /// Waiting and leased jobs are counted, and the oldest of both is known; done ones are not.
    async fn counts_leave_out_what_is_done(store) {
        assert_eq!(counts(&*store).await, JobCounts::default());
        add_documents(&*store, &[document(1)]).await;
        let done = Job { state: JobState::Done, ..job(1, document(1).id) };
        add_jobs(&*store, &[done, job(2, document(1).id), job(3, document(1).id), job(4, document(1).id)]).await;
        assert_eq!(counts(&*store).await, JobCounts { queued: 3, leased: 0, oldest: Some(at(2)) });
        lease(&*store, 7, 5, 6).await.unwrap();
        assert_eq!(counts(&*store).await, JobCounts { queued: 2, leased: 1, oldest: Some(at(2)) });
    }
}

/// Document 1 and queued jobs of these numbers for it.
async fn ready(store: &dyn Store, jobs: &[u32]) {
    add_documents(store, &[document(1)]).await;
    let jobs: Vec<_> = jobs.iter().map(|n| job(*n, document(1).id)).collect();
    add_jobs(store, &jobs).await;
}

async fn get(store: &dyn Store, id: JobId) -> Option<Job> {
    store.read().await.unwrap().jobs().get(id).await.unwrap()
}

async fn counts(store: &dyn Store) -> JobCounts {
    store.read().await.unwrap().jobs().counts().await.unwrap()
}

async fn next_due(store: &dyn Store) -> Option<DateTime<Utc>> {
    store.read().await.unwrap().jobs().next_due().await.unwrap()
}

async fn lease(store: &dyn Store, lease: u32, now: i64, until: i64) -> Option<Job> {
    lease_at(store, id(lease), at(now), at(until)).await
}

/// Leases all that is due, and gives the order.
async fn lease_all(store: &dyn Store, now: i64) -> Vec<JobId> {
    let mut order = Vec::new();
    while let Some(job) = lease(store, 100, now, 90).await {
        order.push(job.id);
    }
    order
}

async fn lease_at(
    store: &dyn Store,
    lease: LeaseId,
    now: DateTime<Utc>,
    until: DateTime<Utc>,
) -> Option<Job> {
    let mut unit = store.begin().await.unwrap();
    let job = unit.jobs().lease(lease, now, until).await.unwrap();
    unit.commit().await.unwrap();
    job
}

async fn renew(store: &dyn Store, job: u32, lease: u32, until: i64) -> bool {
    let mut unit = store.begin().await.unwrap();
    let held = unit.jobs().renew(id(job), id(lease), at(until)).await.unwrap();
    unit.commit().await.unwrap();
    held
}

async fn settle(store: &dyn Store, job: &Job, lease: u32) -> bool {
    let mut unit = store.begin().await.unwrap();
    let held = unit.jobs().settle(job, id(lease)).await.unwrap();
    unit.commit().await.unwrap();
    held
}
