//! The vector store restarts, is down for long or has no room while documents are added, replaced and deleted. Nothing is lost, nothing of
//! other installations is touched, and the doctor finds nothing afterwards.

use crate::seconds;
use crate::service::Service;
use docent_app::Error;
use docent_app::documents::delete;
use docent_app::maintenance::sweep::sweep;
use docent_app::search::{self, SearchRequest};
use docent_domain::access::Actor;
use docent_domain::document::DocumentState;
use docent_domain::fault::FaultKind;
use docent_domain::id::{DocumentId, VersionId};
use docent_domain::job::JobState;
use docent_domain::retrieval::IndexedVersion;
use docent_domain::scope::Scope;
use docent_domain::selection::Selection;
use docent_domain::user::User;
use docent_ports::vector_index::VectorIndex;
use docent_testkit::builders;
use docent_testkit::retrieval::{entry, indexed};
use std::time::Duration;

/// A collection of another installation in the vector store.
const FOREIGN: &str = "other_chunks";

/// Longer than an upload takes.
const UPLOAD_MAX: Duration = Duration::from_secs(2 * 24 * 60 * 60);

/// A service with documents in each state of change. Each has a word of its own.
struct Library {
    service: Service,
    kept: DocumentId,
    replaced: DocumentId,
    deleted: DocumentId,
}

impl Library {
    /// Creates ingested documents, and the same ones in the collection of another installation.
    async fn new() -> Self {
        let service = Service::new();
        let kept = service.upload("zebras").await;
        let replaced = service.upload("antelopes").await;
        let deleted = service.upload("crocodiles").await;
        service.drain().await;
        for id in [kept, replaced, deleted] {
            let foreign = IndexedVersion { id: VersionId::first(id), ..indexed(1) };
            let entries = vec![entry(1, 0, "zebras antelopes crocodiles")];
            service.collections.get(FOREIGN).replace(&foreign, entries).await.unwrap();
        }
        Self { service, kept, replaced, deleted }
    }

    async fn replace(&self) {
        self.service.replace(self.replaced, "buffaloes").await;
    }

    async fn delete(&self) {
        delete::delete(&self.service.app, &root(), self.deleted).await.unwrap();
    }

    /// The documents that a search finds, with their versions.
    async fn find(&self, word: &str) -> Result<Vec<(DocumentId, u32)>, Error> {
        let (scope, selection) = (Scope::SERVICE, Selection::default());
        let request = SearchRequest { query: word, scope, selection: &selection, limit: 10 };
        let found = search::search(&self.service.app, root().authorize().unwrap(), request).await?;
        Ok(found.passages.into_iter().map(|chunk| (chunk.document_id, chunk.version)).collect())
    }

    /// What each of the words finds.
    async fn found(&self) -> [Vec<(DocumentId, u32)>; 4] {
        let mut all = <[Vec<_>; 4]>::default();
        for (found, word) in all.iter_mut().zip(["zebras", "antelopes", "buffaloes", "crocodiles"]) {
            *found = self.find(word).await.unwrap();
        }
        all
    }

    /// Runs the jobs that are due within the longest pause of one that waits.
    async fn recover(&self) {
        self.service.index_switch.clear();
        self.service.clock.advance(seconds(60));
        self.service.drain().await;
    }

    async fn assert_consistent(&self) {
        assert_eq!(self.service.codes().await, []);
        for id in [self.kept, self.replaced, self.deleted] {
            assert_eq!(self.service.collections.get(FOREIGN).entries(VersionId::first(id)).len(), 1);
        }
    }
}

/// What is done with a document.
#[derive(Clone, Copy)]
enum Change {
    Replacement,
    Deletion,
}

fn root() -> Actor {
    Actor::of(&User { is_superuser: true, ..builders::user(1) }).unwrap()
}

/// Interrupts the work on the jobs at each call of the vector store, before or after it took effect. Returns the number of interruptions.
async fn interrupt(change: Change, expected: impl Fn(&Library) -> [Vec<(DocumentId, u32)>; 4]) -> u64 {
    let mut interruptions = 0;
    for is_answer_lost in [false, true] {
        for calls in 0.. {
            let library = Library::new().await;
            match change {
                Change::Replacement => library.replace().await,
                Change::Deletion => library.delete().await,
            }
            let switch = &library.service.index_switch;
            let before = switch.calls();
            match is_answer_lost {
                true => switch.lose_answer_after(calls, FaultKind::Unavailable),
                false => switch.fail_after(calls, 1, FaultKind::Unavailable),
            }
            library.service.drain().await;
            if switch.calls() - before <= calls {
                break;
            }
            switch.clear();
            let [kept, old, new, deleted] = library.found().await;
            assert_eq!(kept, [(library.kept, 1)]);
            let versions = [old, new].concat();
            assert!(
                [[(library.replaced, 1)], [(library.replaced, 2)]].iter().any(|one| *one == *versions),
                "{versions:?} after {calls} calls"
            );
            assert!(deleted.len() <= 1);
            library.recover().await;
            assert_eq!(library.found().await, expected(&library), "{calls} calls");
            if let Change::Replacement = change {
                // The earlier version is left to a sweep if it cannot be removed at once.
                library.service.clock.advance(UPLOAD_MAX);
                assert!(sweep(&library.service.app).await.is_complete());
            }
            library.assert_consistent().await;
            interruptions += 1;
        }
    }
    interruptions
}

#[tokio::test]
async fn replacement_survives_an_interruption_at_each_call_of_the_vector_store() {
    let interruptions = interrupt(Change::Replacement, |library| {
        [vec![(library.kept, 1)], vec![], vec![(library.replaced, 2)], vec![(library.deleted, 1)]]
    });
    assert!(interruptions.await >= 4);
}

#[tokio::test]
async fn deletion_survives_an_interruption_at_each_call_of_the_vector_store() {
    let interruptions = interrupt(Change::Deletion, |library| {
        [vec![(library.kept, 1)], vec![(library.replaced, 1)], vec![], vec![]]
    });
    assert!(interruptions.await >= 2);
}

#[tokio::test]
async fn changes_of_documents_wait_while_the_vector_store_is_down_or_full() {
    for kind in [FaultKind::Unavailable, FaultKind::Full] {
        let library = Library::new().await;
        let Library { service, kept, replaced, .. } = &library;
        match kind {
            FaultKind::Full => service.index_switch.fail_writes(kind),
            _ => service.index_switch.fail_all(kind),
        }
        library.replace().await;
        library.delete().await;
        let added = service.upload("giraffes").await;
        // Half an hour.
        for _ in 0..180 {
            service.drain().await;
            match kind {
                FaultKind::Full => assert_eq!(
                    library.found().await,
                    [vec![(*kept, 1)], vec![(*replaced, 1)], vec![], vec![]],
                ),
                _ => assert!(
                    matches!(library.find("zebras").await, Err(Error::Fault(fault)) if fault.kind() == kind)
                ),
            }
            service.clock.advance(seconds(10));
        }
        let job = service.job(added).await;
        assert_eq!((job.state, job.attempts), (JobState::Queued, 0));
        assert!(job.wait.is_some());

        library.recover().await;
        assert_eq!(library.found().await, [vec![(*kept, 1)], vec![], vec![(*replaced, 2)], vec![]]);
        assert_eq!(library.find("giraffes").await.unwrap(), [(added, 1)]);
        assert!(matches!(service.document(added).await.state, DocumentState::Ingested(_)));
        library.assert_consistent().await;
    }
}
