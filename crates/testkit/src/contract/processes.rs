//! Contract of two processes on one relational store: two handles that share only the database.

use super::records::{add_documents, add_jobs};
use crate::builders::{at, document, id, job};
use docent_domain::id::{JobId, LeaseId};
use docent_ports::singleton_tasks::{SingletonTask, TaskClaim};
use docent_ports::store::Store;
use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;

crate::battery! {
    processes_contract in processes ([Arc<dyn Store>; 2]);

    async fn concurrent_processes_lease_distinct_jobs(stores) {
        for n in 1..=20 {
            add_documents(&*stores[0], &[document(n)]).await;
            add_jobs(&*stores[0], &[job(n, document(n).id)]).await;
        }
        let mut leased = HashSet::new();
        for job in at_once(&stores, 30, lease).await.into_iter().flatten() {
            assert!(leased.insert(job), "{job} was leased twice");
        }
        assert_eq!(leased.len(), 20);
    }

    // Invariant: Orphans of crashed runners are swept while the service runs, by one process at a time.
    async fn concurrent_processes_cannot_share_singleton_task(stores) {
        let taken = at_once(&stores, 8, take).await;
        assert_eq!(taken.into_iter().filter(|is_taken| *is_taken).count(), 1);
    }
}

/// Has so many callers, of one process and the other in turn, do something at the same time.
async fn at_once<T, F>(
    stores: &[Arc<dyn Store>; 2],
    callers: u32,
    work: fn(Arc<dyn Store>, LeaseId) -> F,
) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let call = |n: u32| tokio::spawn(work(Arc::clone(&stores[n as usize % 2]), id(100 + n)));
    let mut done = Vec::new();
    for caller in (0..callers).map(call).collect::<Vec<_>>() {
        done.push(caller.await.unwrap());
    }
    done
}

async fn lease(store: Arc<dyn Store>, lease: LeaseId) -> Option<JobId> {
    let mut unit = store.begin().await.unwrap();
    let job = unit.jobs().lease(lease, at(30), at(90)).await.unwrap();
    unit.commit().await.unwrap();
    job.map(|job| job.id)
}

async fn take(store: Arc<dyn Store>, lease: LeaseId) -> bool {
    let mut unit = store.begin().await.unwrap();
    let claim = TaskClaim { task: SingletonTask::Sweep, lease, now: at(30), until: at(90), done_by: at(30) };
    let is_taken = unit.singleton_tasks().acquire(claim).await.unwrap();
    unit.commit().await.unwrap();
    is_taken
}
