//! Contract of every relational store about units of work and views.

use super::records::add_documents;
use crate::builders::{document, id, job, user};
use docent_domain::fault::{Component, FaultKind, Result};
use docent_domain::id::DocumentId;
use docent_domain::listing::DocumentFilter;
use docent_domain::scope::Scope;
use docent_domain::text::Title;
use docent_ports::store::{Schema, Store};
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

crate::battery! {
    store_contract in store (Arc<dyn Store>);

    async fn check_succeeds(store) {
        store.check().await.unwrap();
    }

    /// Also when nothing was written before.
    async fn writing_is_possible(store) {
        store.check_writable().await.unwrap();
    }

    async fn schema_is_current(store) {
        assert_eq!(store.schema().await.unwrap(), Schema::Current);
    }

    /// A document and its job become visible together.
    async fn commit_is_atomic(store) {
        let document = document(1);
        add_with_job(&*store, 1).await.unwrap();
        let mut view = store.read().await.unwrap();
        assert_eq!(view.documents().get(document.id).await.unwrap(), Some(document.clone()));
        assert_eq!(view.jobs().get(id(1)).await.unwrap(), Some(job(1, document.id)));
    }

    /// A dropped unit changes nothing and releases its locks.
    // Invariant: A dropped unit of work changes nothing.
    async fn dropped_unit_is_rolled_back(store) {
        let mut unit = store.begin().await.unwrap();
        unit.documents().insert(&document(1)).await.unwrap();
        unit.jobs().insert(&job(1, document(1).id)).await.unwrap();
        drop(unit);
        let mut unit = store.begin().await.unwrap();
        assert_eq!(unit.documents().get(document(1).id).await.unwrap(), None);
        assert_eq!(unit.jobs().get(id(1)).await.unwrap(), None);
        unit.documents().insert(&document(1)).await.unwrap();
        unit.commit().await.unwrap();
    }

    /// A unit sees its own changes; others neither see them nor wait for them.
    async fn uncommitted_changes_are_invisible(store) {
        let mut unit = store.begin().await.unwrap();
        unit.documents().insert(&document(1)).await.unwrap();
        assert!(unit.documents().get(document(1).id).await.unwrap().is_some());
        let mut view = store.read().await.unwrap();
        assert_eq!(view.documents().get(document(1).id).await.unwrap(), None);
        drop(view);
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        assert!(view.documents().get(document(1).id).await.unwrap().is_some());
    }

    async fn read_view_is_consistent(store) {
        add_documents(&*store, &[document(1)]).await;
        let mut view = store.read().await.unwrap();
        assert_eq!(view.documents().counts().await.unwrap().pending, 1);
        add_documents(&*store, &[document(2)]).await;
        assert_eq!(view.documents().counts().await.unwrap().pending, 1);
        assert_eq!(view.documents().list(&DocumentFilter::of(Scope::SERVICE.clone())).await.unwrap().len(), 1);
        let mut later = store.read().await.unwrap();
        assert_eq!(later.documents().counts().await.unwrap().pending, 2);
    }

    async fn read_latest_sees_committed_changes(store) {
        add_documents(&*store, &[document(1)]).await;
        let mut unit = store.begin().await.unwrap();
        unit.documents().insert(&document(2)).await.unwrap();
        let seen = store.read_latest().await.unwrap().documents().counts().await.unwrap();
        assert_eq!(seen.pending, 1);
        unit.commit().await.unwrap();
        let seen = store.read_latest().await.unwrap().documents().get(document(2).id).await.unwrap();
        assert_eq!(seen, Some(document(2)));
    }

    async fn concurrent_latest_reads_return_their_own_records(store) {
        let mut unit = store.begin().await.unwrap();
        for n in 0..100 {
            unit.documents().insert(&document(n)).await.unwrap();
        }
        for n in 0..3 {
            assert!(unit.users().insert(&user(n)).await.unwrap());
        }
        unit.commit().await.unwrap();
        let read_latest = |n: u32| {
            let store = Arc::clone(&store);
            async move {
                let user = store.read_latest().await.unwrap().users().get(id(n % 4)).await.unwrap();
                let document = store.read_latest().await.unwrap().documents().get(id(n % 110)).await.unwrap();
                (n, user, document)
            }
        };
        let glances = (0..300).map(|n| tokio::spawn(read_latest(n))).collect::<Vec<_>>();
        for seen in glances {
            let (n, seen, found) = seen.await.unwrap();
            assert_eq!(seen, (n % 4 < 3).then(|| user(n % 4)), "{n}");
            assert_eq!(found, (n % 110 < 100).then(|| document(n % 110)), "{n}");
        }
    }

    /// After a failed call a unit is unusable and changes nothing.
    async fn failed_call_ends_unit(store) {
        let mut unit = store.begin().await.unwrap();
        unit.documents().insert(&document(1)).await.unwrap();
        let fault = unit.documents().insert(&document(1)).await.unwrap_err();
        assert_eq!((fault.component(), fault.kind()), (Component::Database, FaultKind::Internal));
        assert!(unit.documents().get(document(1).id).await.is_err());
        assert!(unit.commit().await.is_err());
        assert_eq!(store.read().await.unwrap().documents().counts().await.unwrap().pending, 0);
        add_documents(&*store, &[document(1)]).await;
    }

    /// Units that change records they have read run one after the other.
    // Invariant: Concurrent units of work do not lose updates.
    async fn concurrent_units_lose_no_update(store) {
        add_documents(&*store, &[document(0)]).await;
        let units = (0..20).map(|_| tokio::spawn(count_up(Arc::clone(&store)))).collect::<Vec<_>>();
        for unit in units {
            unit.await.unwrap();
        }
        let document = store.read().await.unwrap().documents().get(id(0)).await.unwrap().unwrap();
        assert_eq!(document.title.as_str(), "20");
    }

    async fn aborted_task_is_rolled_back(store) {
        let (wrote, written) = tokio::sync::oneshot::channel();
        let task = tokio::spawn({
            let store = Arc::clone(&store);
            async move {
                let mut unit = store.begin().await.unwrap();
                unit.documents().insert(&document(1)).await.unwrap();
                wrote.send(()).unwrap();
                std::future::pending::<()>().await;
                unit.commit().await.unwrap();
            }
        });
        written.await.unwrap();
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        add_documents(&*store, &[document(1)]).await;
    }

    /// Wherever a unit is cancelled, it is applied completely or not at all, and locks are released.
    async fn cancelled_unit_is_complete_or_rolled_back(store) {
        for polls in 1..=12 {
            let finished = cut_short(add_with_job(&*store, polls), polls).await;
            let found = settled(&*store, polls).await;
            assert!(found.is_some(), "applied in part: cut after {polls} polls");
            if let Some(finished) = finished {
                finished.unwrap();
                assert_eq!(found, Some(true), "finished within {polls} polls");
            }
        }
        let mut unit = store.begin().await.unwrap();
        unit.documents().insert(&document(99)).await.unwrap();
        unit.commit().await.unwrap();
    }
}

async fn add_with_job(store: &dyn Store, n: u32) -> Result<()> {
    let document = document(n);
    let mut unit = store.begin().await?;
    unit.documents().insert(&document).await?;
    unit.jobs().insert(&job(n, document.id)).await?;
    unit.commit().await
}

/// Whether the unit of [`add_with_job`] was applied; `None` if it stays applied in part. A server may still carry out the
/// COMMIT of a dropped unit, even between the two reads, so they are repeated until they agree.
async fn settled(store: &dyn Store, n: u32) -> Option<bool> {
    for _ in 0..100 {
        let document = store.begin().await.unwrap().documents().get(id(n)).await.unwrap();
        let job = store.read().await.unwrap().jobs().get(id(n)).await.unwrap();
        if document.is_some() == job.is_some() {
            return Some(document.is_some());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    None
}

/// Raises the number that document 0 has for a title.
async fn count_up(store: Arc<dyn Store>) {
    let mut unit = store.begin().await.unwrap();
    let id: DocumentId = id(0);
    let mut document = unit.documents().get(id).await.unwrap().unwrap();
    let number: u32 = document.title.as_str().parse().unwrap_or(0);
    tokio::task::yield_now().await;
    document.title = Title::parse(&(number + 1).to_string()).unwrap();
    assert!(unit.documents().update(&document).await.unwrap());
    unit.commit().await.unwrap();
}

/// Polls a future so often at most, then drops it; gives its output if it came to that.
async fn cut_short<F: Future>(future: F, polls: u32) -> Option<F::Output> {
    let mut future = Box::pin(future);
    let mut left = polls;
    poll_fn(move |context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => {
            left -= 1;
            if left == 0 { Poll::Ready(None) } else { Poll::Pending }
        }
    })
    .await
}
