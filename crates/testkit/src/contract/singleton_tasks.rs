//! What every keeper of duties does.

use crate::builders::{at, id};
use docent_domain::id::LeaseId;
use docent_ports::{
    singleton_tasks::SingletonTask,
    store::{Store, UnitOfWork},
};
use std::{collections::HashSet, sync::Arc};

crate::battery! {
    singleton_tasks_contract in singleton_tasks (Arc<dyn Store>);

    /// A duty that was never done is anybody's, and then belongs to one until its lease has run out.
    async fn one_at_a_time_holds_a_duty(store) {
        assert!(take(&*store, 1, 0, 10, 0).await);
        assert!(!take(&*store, 2, 9, 19, 9).await);
        assert!(!take(&*store, 1, 9, 19, 9).await, "not even its holder takes it twice");
        assert!(take(&*store, 2, 10, 20, 10).await, "whoever held it has died");
    }

    /// Whoever holds a duty may hold it for longer, and has nothing to say once another has it.
    async fn a_lease_is_held_on_to_until_it_is_lost(store) {
        assert!(take(&*store, 1, 0, 10, 0).await);
        assert!(changed(&*store, async |unit| unit.singleton_tasks().renew(SingletonTask::Sweep, id(1), at(30)).await).await);
        assert!(!take(&*store, 2, 29, 39, 29).await);
        assert!(take(&*store, 2, 30, 40, 30).await);
        assert!(!changed(&*store, async |unit| unit.singleton_tasks().renew(SingletonTask::Sweep, id(1), at(90)).await).await);
        assert!(!changed(&*store, async |unit| unit.singleton_tasks().complete(SingletonTask::Sweep, id(1), at(31)).await).await);
        assert!(!take(&*store, 3, 39, 49, 39).await);
        assert!(take(&*store, 3, 40, 50, 40).await, "nothing of the first one's changes was made");
    }

    /// What was done is left alone for as long as the next one asks, and then done again.
    async fn a_duty_is_not_done_again_too_soon(store) {
        assert!(take(&*store, 1, 0, 10, 0).await);
        assert!(changed(&*store, async |unit| unit.singleton_tasks().complete(SingletonTask::Sweep, id(1), at(5)).await).await);
        assert!(!take(&*store, 2, 6, 16, 4).await);
        assert!(take(&*store, 2, 6, 16, 5).await, "its lease ended with it");
        assert!(!take(&*store, 3, 20, 30, 4).await, "when it was last done stays, whatever became of the next try");
    }

    /// A unit of work that is dropped has taken nothing.
    async fn a_dropped_unit_takes_nothing(store) {
        let mut unit = store.begin().await.unwrap();
        assert!(unit.singleton_tasks().acquire(SingletonTask::Sweep, id(1), at(0), at(10), at(0)).await.unwrap());
        drop(unit);
        assert!(take(&*store, 2, 0, 10, 0).await);
    }

    /// However many ask at once, one gets it.
    async fn of_many_at_once_one_gets_it(store) {
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

async fn take(store: &dyn Store, lease: u32, now: i64, until: i64, done_by: i64) -> bool {
    let lease: LeaseId = id(lease);
    let mut unit = store.begin().await.unwrap();
    let taken = unit
        .singleton_tasks()
        .acquire(SingletonTask::Sweep, lease, at(now), at(until), at(done_by))
        .await
        .unwrap();
    unit.commit().await.unwrap();
    taken
}

async fn changed(
    store: &dyn Store,
    change: impl AsyncFnOnce(&mut dyn UnitOfWork) -> docent_ports::error::Result<bool>,
) -> bool {
    let mut unit = store.begin().await.unwrap();
    let changed = change(&mut *unit).await.unwrap();
    unit.commit().await.unwrap();
    changed
}
