//! Contract of every repository of singleton tasks.

use crate::builders::{at, id};
use docent_domain::id::LeaseId;
use docent_ports::singleton_tasks::{SingletonTask, TaskClaim};
use docent_ports::store::{Store, UnitOfWork};
use std::collections::HashSet;
use std::sync::Arc;

crate::battery! {
    singleton_tasks_contract in singleton_tasks (Arc<dyn Store>);

    async fn task_has_one_holder_until_lease_expires(store) {
        assert!(take(&*store, 1, 0, 10, 0).await);
        assert!(!take(&*store, 2, 9, 19, 9).await);
        assert!(!take(&*store, 1, 9, 19, 9).await, "not even its holder takes it twice");
        assert!(take(&*store, 2, 10, 20, 10).await, "the holder crashed");
    }

    async fn renew_fails_after_takeover(store) {
        assert!(take(&*store, 1, 0, 10, 0).await);
        assert!(changed(&*store, async |unit| unit.singleton_tasks().renew(SingletonTask::Sweep, id(1), at(30)).await).await);
        assert!(!take(&*store, 2, 29, 39, 29).await);
        assert!(take(&*store, 2, 30, 40, 30).await);
        assert!(!changed(&*store, async |unit| unit.singleton_tasks().renew(SingletonTask::Sweep, id(1), at(90)).await).await);
        assert!(!changed(&*store, async |unit| unit.singleton_tasks().complete(SingletonTask::Sweep, id(1), at(31)).await).await);
        assert!(!take(&*store, 3, 39, 49, 39).await);
        assert!(take(&*store, 3, 40, 50, 40).await, "nothing of the first one's changes was made");
    }

    async fn completed_task_is_not_acquired_too_soon(store) {
        assert!(take(&*store, 1, 0, 10, 0).await);
        assert!(changed(&*store, async |unit| unit.singleton_tasks().complete(SingletonTask::Sweep, id(1), at(5)).await).await);
        assert!(!take(&*store, 2, 6, 16, 4).await);
        assert!(take(&*store, 2, 6, 16, 5).await, "its lease ended with it");
        assert!(!take(&*store, 3, 20, 30, 4).await, "when it was last done stays, whatever became of the next try");
    }

    async fn dropped_unit_does_not_acquire(store) {
        let mut unit = store.begin().await.unwrap();
        assert!(unit.singleton_tasks().acquire(claim(id(1), 0, 10, 0)).await.unwrap());
        drop(unit);
        assert!(take(&*store, 2, 0, 10, 0).await);
    }

    async fn concurrent_callers_have_one_winner(store) {
        for round in 0..5_u32 {
            let now = i64::from(round) * 100;
            let callers = (0..8).map(|n| {
                let store = Arc::clone(&store);
                tokio::spawn(async move { (n, take(&*store, round * 8 + n, now, now + 50, now).await) })
            });
            let mut winners = HashSet::new();
            for caller in callers.collect::<Vec<_>>() {
                let (n, is_taken) = caller.await.unwrap();
                winners.extend(is_taken.then_some(n));
            }
            assert_eq!(winners.len(), 1, "{winners:?}");
        }
    }
}

fn claim(lease: LeaseId, now: i64, until: i64, done_by: i64) -> TaskClaim {
    TaskClaim { task: SingletonTask::Sweep, lease, now: at(now), until: at(until), done_by: at(done_by) }
}

async fn take(store: &dyn Store, lease: u32, now: i64, until: i64, done_by: i64) -> bool {
    let mut unit = store.begin().await.unwrap();
    let taken = unit.singleton_tasks().acquire(claim(id(lease), now, until, done_by)).await.unwrap();
    unit.commit().await.unwrap();
    taken
}

async fn changed(
    store: &dyn Store,
    change: impl AsyncFnOnce(&mut dyn UnitOfWork) -> docent_domain::fault::Result<bool>,
) -> bool {
    let mut unit = store.begin().await.unwrap();
    let changed = change(&mut *unit).await.unwrap();
    unit.commit().await.unwrap();
    changed
}
