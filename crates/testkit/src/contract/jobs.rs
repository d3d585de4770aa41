//! Contract of every job ledger.

use super::records::{add_documents, add_jobs, add_users, first};
use crate::builders::{at, document, id, job, user};
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::id::{JobId, LeaseId};
use docent_domain::job::{Job, JobKind, JobState, Wait};
use docent_domain::listing::{JobFilter, JobStateName};
use docent_domain::trace::TraceParent;
use docent_ports::jobs::JobCounts;
use docent_ports::store::Store;
use std::collections::HashSet;
use std::sync::Arc;

crate::battery! {
    jobs_contract in jobs (Arc<dyn Store>);

    /// All fields and states are stored unchanged, times to the microsecond.
    async fn job_round_trips(store) {
        add_users(&*store, &[user(1)]).await;
        add_documents(&*store, &[document(1)]).await;
        let odd = |n| at(n) + TimeDelta::microseconds(123_457);
        let queued = Job {
            owner: Some(user(1).id),
            attempts: u32::MAX,
            interruptions: 7,
            run_at: odd(1),
            last_error: Some("größer als 50 MiB: “x”".into()),
            wait: Some(Wait { since: odd(5), reason: "the vector store cannot be reached".into() }),
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

    /// A waiting job is found by its reason, unless it has ended or was due before.
    async fn waiting_job_is_found_by_its_reason(store) {
        add_documents(&*store, &[document(1)]).await;
        let wait = Some(Wait { since: at(1), reason: "the vector store has no room left".into() });
        let waiting = Job { wait, run_at: at(60), ..job(1, document(1).id) };
        let done = Job { state: JobState::Done, wait: waiting.wait.clone(), ..job(3, document(1).id) };
        add_jobs(&*store, &[job(2, document(1).id), done]).await;
        let has = async |reason: &str, due_after| {
            store.read().await.unwrap().jobs().has_waiting(reason, due_after).await.unwrap()
        };
        assert!(!has("the vector store has no room left", at(0)).await);
        add_jobs(&*store, &[waiting]).await;
        assert!(has("the vector store has no room left", at(59)).await);
        assert!(!has("the vector store has no room left", at(60)).await);
        assert!(!has("the vector store cannot be reached", at(59)).await);
    }

    /// Lists are last changed first, filtered by state and kind.
    async fn list_filters_and_sorts_by_change(store) {
        add_documents(&*store, &[document(1)]).await;
        let queued = job(1, document(1).id);
        let leased = Job { state: JobState::Leased { lease: id(9), until: at(4) }, ..job(2, document(1).id) };
        let done = Job { state: JobState::Done, kind: JobKind::Delete, ..job(3, document(1).id) };
        let finished = Job { state: JobState::Done, last_error: None, ..job(4, document(1).id) };
        let failed = Job { state: JobState::Done, last_error: Some("no".into()), ..job(5, document(1).id) };
        let jobs = [&queued, &leased, &done, &finished, &failed].map(Job::clone);
        add_jobs(&*store, &jobs).await;
        let all = JobFilter::default();
        for (filter, expected) in [
            (all, vec![&failed, &finished, &done, &leased, &queued]),
            (JobFilter { state: Some(JobStateName::Succeeded), ..all }, vec![&finished, &done]),
            (JobFilter { state: Some(JobStateName::Failed), ..all }, vec![&failed]),
            (JobFilter { state: Some(JobStateName::Queued), ..all }, vec![&queued]),
            (JobFilter { state: Some(JobStateName::Leased), ..all }, vec![&leased]),
            (JobFilter { state: Some(JobStateName::Done), ..all }, vec![&failed, &finished, &done]),
            (JobFilter { kind: Some(JobKind::Ingest), ..all }, vec![&failed, &finished, &leased, &queued]),
        ] {
            let listed = store.read().await.unwrap().jobs().list(filter, first(9)).await.unwrap();
            assert_eq!(listed.records.iter().collect::<Vec<_>>(), expected, "{filter:?}");
            assert_eq!(listed.total, expected.len() as u64);
        }
    }

    async fn insert_rejects_used_id_and_unknown_document(store) {
        assert!(store.begin().await.unwrap().jobs().insert(&job(1, document(1).id)).await.is_err());
        ready(&*store, &[1]).await;
        assert!(store.begin().await.unwrap().jobs().insert(&job(1, document(1).id)).await.is_err());
        let orphan = Job { owner: Some(id(5)), ..job(2, document(1).id) };
        assert!(store.begin().await.unwrap().jobs().insert(&orphan).await.is_err());
        assert_eq!(counts(&*store).await.queued, 1);
    }

    async fn jobs_of_document_are_newest_first(store) {
        add_documents(&*store, &[document(1), document(2)]).await;
        let tied = |n| Job { created_at: at(50), ..job(n, document(1).id) };
        add_jobs(&*store, &[job(1, document(1).id), tied(2), tied(3), job(60, document(2).id)]).await;
        let mut view = store.read().await.unwrap();
        let jobs = view.jobs().of_document(document(1).id).await.unwrap();
        assert_eq!(jobs, [tied(3), tied(2), job(1, document(1).id)]);
        assert_eq!(view.jobs().of_document(id(3)).await.unwrap(), []);
    }

    async fn jobs_of_owner_are_leased_in_order(store) {
        add_documents(&*store, &[document(1)]).await;
        let due = |n, seconds| Job { run_at: at(seconds), ..job(n, document(1).id) };
        for job in [due(3, 30), due(1, 41), due(4, 10), due(2, 20)] {
            add_jobs(&*store, &[job]).await;
        }
        assert_eq!(lease_all(&*store, 40).await, [id(3), id(4), id(2)]);
    }

    /// However many jobs one owner has, at most one of them is leased before another owner's first job.
    // Invariant: Jobs of different owners are processed in turn, however many one owner has.
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

    async fn deletion_is_leased_before_ingestions(store) {
        add_documents(&*store, &[document(1)]).await;
        for n in 1..=3 {
            add_jobs(&*store, &[job(n, document(1).id)]).await;
        }
        add_jobs(&*store, &[Job { kind: JobKind::Delete, ..job(4, document(1).id) }]).await;
        let order = lease_all(&*store, 40).await;
        assert!(order[..2].contains(&id(4)), "{order:?}");
    }

    async fn lease_changes_only_state_and_time(store) {
        ready(&*store, &[1]).await;
        let leased = lease(&*store, 7, 5, 35).await.unwrap();
        let state = JobState::Leased { lease: id(7), until: at(35) };
        assert_eq!(leased, Job { state, updated_at: at(5), ..job(1, document(1).id) });
        assert_eq!(get(&*store, id(1)).await, Some(leased));
    }

    async fn job_is_not_leased_before_due(store) {
        add_documents(&*store, &[document(1)]).await;
        let run_at = at(10) + TimeDelta::microseconds(2);
        add_jobs(&*store, &[Job { run_at, ..job(1, document(1).id) }]).await;
        assert_eq!(lease_at(&*store, id(7), run_at - TimeDelta::microseconds(1), at(99)).await, None);
        assert!(lease_at(&*store, id(7), run_at, at(99)).await.is_some());
    }

    async fn expired_lease_counts_as_interruption(store) {
        ready(&*store, &[1]).await;
        assert_eq!(lease(&*store, 7, 5, 35).await.unwrap().interruptions, 0);
        assert_eq!(lease(&*store, 8, 34, 60).await, None);
        let taken = lease(&*store, 8, 35, 60).await.unwrap();
        assert_eq!(taken.state, JobState::Leased { lease: id(8), until: at(60) });
        assert_eq!((taken.interruptions, taken.attempts), (1, 0));
        assert_eq!(lease(&*store, 9, 60, 90).await.unwrap().interruptions, 2);
    }

    async fn expired_leases_are_queued_with_waiting_jobs(store) {
        add_documents(&*store, &[document(1)]).await;
        add_jobs(&*store, &[job(1, document(1).id), Job { run_at: at(20), ..job(2, document(1).id) }]).await;
        assert_eq!(lease(&*store, 7, 1, 30).await.unwrap().id, id(1));
        assert_eq!(lease(&*store, 8, 29, 90).await.unwrap().id, id(2), "it is held until then");
        assert_eq!(lease(&*store, 9, 40, 90).await.unwrap().id, id(1));
    }

    // Invariant: A job is leased to one runner at a time.
    async fn concurrent_callers_lease_distinct_jobs(store) {
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

    async fn uncommitted_lease_is_rolled_back(store) {
        ready(&*store, &[1]).await;
        let mut unit = store.begin().await.unwrap();
        assert!(unit.jobs().lease(id(7), at(5), at(35)).await.unwrap().is_some());
        drop(unit);
        assert_eq!(lease(&*store, 8, 5, 35).await.unwrap().interruptions, 0);
    }

    /// An expired lease can be renewed if no other caller has taken it.
    async fn renew_extends_lease(store) {
        ready(&*store, &[1]).await;
        lease(&*store, 7, 5, 35).await.unwrap();
        assert!(renew(&*store, 1, 7, 60).await);
        assert_eq!(lease(&*store, 8, 59, 90).await, None);
        assert!(renew(&*store, 1, 7, 120).await);
        let job = get(&*store, id(1)).await.unwrap();
        assert_eq!(job.state, JobState::Leased { lease: id(7), until: at(120) });
        assert_eq!(job.interruptions, 0);
    }

    // Invariant: A runner that has lost its lease cannot change anything.
    async fn lost_lease_cannot_renew_or_settle(store) {
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

    /// Owner and creation time do not change.
    async fn settle_writes_only_outcome(store) {
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

    async fn retried_job_waits_until_due(store) {
        ready(&*store, &[1]).await;
        let leased = lease(&*store, 7, 5, 35).await.unwrap();
        let retry = Job { state: JobState::Queued, attempts: 1, run_at: at(50), ..leased };
        assert!(settle(&*store, &retry, 7).await);
        assert_eq!(next_due(&*store).await, Some(at(50)));
        assert_eq!(lease(&*store, 8, 49, 90).await, None);
        let again = lease(&*store, 8, 50, 90).await.unwrap();
        assert_eq!((again.attempts, again.interruptions), (1, 0));
    }

    async fn settle_rejects_leased_state(store) {
        ready(&*store, &[1]).await;
        let leased = lease(&*store, 7, 5, 35).await.unwrap();
        assert!(store.begin().await.unwrap().jobs().settle(&leased, id(7)).await.is_err());
        assert_eq!(get(&*store, id(1)).await, Some(leased));
    }

    async fn release_all_makes_leased_jobs_due(store) {
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

    async fn restarted_ingestion_is_taken_from_its_runner(store) {
        add_documents(&*store, &[document(1), document(2)]).await;
        let done = Job { state: JobState::Done, ..job(2, document(1).id) };
        let delete = Job { kind: JobKind::Delete, run_at: at(500), ..job(3, document(1).id) };
        let wait = Some(Wait { since: at(1), reason: "it is down".into() });
        let failing = Job { attempts: 2, last_error: Some("no".into()), wait, ..job(1, document(1).id) };
        add_jobs(&*store, &[failing, done.clone(), delete.clone()]).await;
        lease(&*store, 7, 5, 300).await.unwrap();
        let mut unit = store.begin().await.unwrap();
        assert!(unit.jobs().restart_ingestion(document(1).id, at(10)).await.unwrap());
        assert!(!unit.jobs().restart_ingestion(document(2).id, at(10)).await.unwrap(), "it has no job");
        unit.commit().await.unwrap();
        let expected = Job { run_at: at(10), updated_at: at(10), ..job(1, document(1).id) };
        assert_eq!(get(&*store, id(1)).await, Some(expected));
        assert!(!renew(&*store, 1, 7, 400).await, "the lease is lost");
        assert_eq!((get(&*store, id(2)).await, get(&*store, id(3)).await), (Some(done), Some(delete)));
        assert_eq!(lease(&*store, 9, 10, 300).await.unwrap().id, id(1));
        let mut unit = store.begin().await.unwrap();
        let ended = Job { state: JobState::Done, ..job(1, document(1).id) };
        assert!(unit.jobs().settle(&ended, id(9)).await.unwrap());
        assert!(!unit.jobs().restart_ingestion(document(1).id, at(20)).await.unwrap(), "its job is done");
    }

    async fn purge_removes_only_old_finished_jobs(store) {
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

    async fn next_due_is_earliest_run_at_or_lease_expiry(store) {
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

    async fn counts_omit_finished_jobs(store) {
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
