//! The document lifecycle under random sequences of events: runners proceed call by call, crash, or continue long after
//! their lease has expired; documents are uploaded, replaced, deleted and retried at any time; components fail.
//!
//! Every accepted document ends `ingested`, `failed` or deleted. An ingested one is always found, with the text of
//! its version, unless components fail. A deleted document is never found again, and in the end nothing of it, or of replaced versions, remains.

use crate::call_gate::CallGate;
use crate::service::Service;
use docent_app::documents;
use docent_app::documents::upload::{self, NewDocument, UploadTarget};
use docent_app::maintenance::sweep::sweep;
use docent_app::search::{self, SearchRequest};
use docent_domain::access::Actor;
use docent_domain::document::{BlobKey, Document, DocumentState};
use docent_domain::fault::FaultKind;
use docent_domain::id::{CollectionId, DocumentId};
use docent_domain::scope::Scope;
use docent_domain::selection::Selection;
use docent_domain::user::User;
use docent_ports::vector_index::VectorIndex;
use proptest::prelude::*;
use proptest::test_runner::Config;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

const WORKERS: usize = 3;
const OWNERS: u32 = 2;
/// Longer than a lease.
const LEASE: Duration = Duration::from_secs(40);

/// Longer than any step takes on a busy machine.
const STUCK: Duration = Duration::from_secs(20);

/// An event. Documents are numbered in the order of their uploads.
#[derive(Clone, Debug)]
enum Event {
    Upload {
        owner: u32,
    },
    /// A worker makes its next call; an idle one leases a job.
    Step {
        worker: usize,
    },
    /// A worker makes several calls.
    Steps {
        worker: usize,
        calls: usize,
    },
    /// A worker's process crashes.
    Crash {
        worker: usize,
    },
    /// A client uploads the next version of a document.
    Replace {
        document: usize,
    },
    Delete {
        document: usize,
    },
    Retry {
        document: usize,
    },
    Wait {
        seconds: u64,
    },
    /// The next call of a component fails.
    Fail {
        part: FaultyComponent,
        is_permanent: bool,
    },
}

#[derive(Clone, Copy, Debug)]
enum FaultyComponent {
    Index,
    Embedder,
}

/// The state that clients know: the accepted documents, and which of them were deleted.
#[derive(Clone, Debug, Default)]
struct ClientState {
    deleted: Vec<bool>,
}

struct Lifecycle;

/// The text of a document's version.
fn text(version: u32) -> String {
    format!("zebras {version}")
}

impl ReferenceStateMachine for Lifecycle {
    type State = ClientState;
    type Transition = Event;

    fn init_state() -> BoxedStrategy<ClientState> {
        Just(ClientState::default()).boxed()
    }

    fn transitions(expected: &ClientState) -> BoxedStrategy<Event> {
        let worker = 0..WORKERS;
        let always = prop_oneof![
            3 => (0..OWNERS).prop_map(|owner| Event::Upload { owner }),
            8 => worker.clone().prop_map(|worker| Event::Step { worker }),
            8 => (worker.clone(), 2..12_usize).prop_map(|(worker, calls)| Event::Steps { worker, calls }),
            2 => worker.prop_map(|worker| Event::Crash { worker }),
            3 => prop_oneof![Just(1), Just(5), Just(LEASE.as_secs())].prop_map(|seconds| Event::Wait { seconds }),
            2 => (prop_oneof![Just(FaultyComponent::Index), Just(FaultyComponent::Embedder)], any::<bool>())
                .prop_map(|(part, is_permanent)| Event::Fail { part, is_permanent }),
        ];
        match expected.deleted.len() {
            0 => always.boxed(),
            count => prop_oneof![
                6 => always,
                1 => (0..count).prop_map(|document| Event::Replace { document }),
                1 => (0..count).prop_map(|document| Event::Delete { document }),
                1 => (0..count).prop_map(|document| Event::Retry { document }),
            ]
            .boxed(),
        }
    }

    fn preconditions(expected: &ClientState, event: &Event) -> bool {
        match event {
            Event::Replace { document } | Event::Delete { document } | Event::Retry { document } => {
                *document < expected.deleted.len()
            }
            _ => true,
        }
    }

    fn apply(mut expected: ClientState, event: &Event) -> ClientState {
        match event {
            Event::Upload { .. } => expected.deleted.push(false),
            Event::Delete { document } => expected.deleted[*document] = true,
            _ => {}
        }
        expected
    }
}

/// A runner that proceeds call by call.
struct Worker {
    gate: Arc<CallGate>,
    task: JoinHandle<()>,
}

/// The service on a single-threaded runtime.
struct World {
    runtime: Runtime,
    service: Service,
    owners: Vec<User>,
    workers: Vec<Option<Worker>>,
    documents: Vec<DocumentId>,
    /// Number of versions of each document.
    versions: Vec<u32>,
    /// Whether a component has failed. A failing runner that outlives its lease can then remove chunks that another one wrote; they
    /// are written again.
    has_failed: bool,
}

impl World {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let service = Service::stepped();
        let owners = runtime.block_on(async {
            let owners: Vec<User> = (0..OWNERS).map(docent_testkit::builders::user).collect();
            let mut work = service.ports.store.begin().await.unwrap();
            for owner in &owners {
                work.users().insert(owner).await.unwrap();
            }
            work.commit().await.unwrap();
            owners
        });
        let workers = (0..WORKERS).map(|_| None).collect();
        Self {
            runtime,
            service,
            owners,
            workers,
            documents: Vec::new(),
            versions: Vec::new(),
            has_failed: false,
        }
    }

    /// Starts a worker or lets it make its next call.
    fn step(&mut self, worker: usize) {
        let Self { runtime, service, workers, .. } = self;
        runtime.block_on(async {
            let place = &mut workers[worker];
            let is_new = place.is_none();
            let Worker { gate, task, .. } = place.get_or_insert_with(|| {
                let (gate, runner) = (CallGate::new(), service.other_process());
                let task = async move {
                    runner.run_next().await.unwrap();
                };
                let task = tokio::spawn(Arc::clone(&gate).hold(task));
                Worker { task, gate }
            });
            let moved = async { if is_new { gate.reached().await } else { gate.step().await } };
            let ended = tokio::select! {
                () = moved => false,
                ended = task => { ended.unwrap(); true }
                () = tokio::time::sleep(STUCK) => panic!("a worker is stuck"),
            };
            if ended {
                *place = None;
            }
        });
    }

    /// Ends a worker, even one whose lease has expired; a sweep removes what it wrote since.
    fn crash(&mut self, worker: usize) {
        if let Some(Worker { task, .. }) = self.workers[worker].take() {
            self.runtime.block_on(async {
                task.abort();
                let _ = task.await;
            });
        }
    }

    fn upload(&mut self, owner: u32) {
        let grant = Actor::of(&self.owners[owner as usize]).unwrap().authorize().unwrap();
        let document = NewDocument::new(grant, CollectionId::EVERYONE);
        let id = self.runtime.block_on(self.store(document, 1)).unwrap();
        self.documents.push(id);
        self.versions.push(1);
    }

    /// Uploads the next version of a document, unless it is deleted.
    fn replace(&mut self, document: usize) {
        let (id, root, version) = (self.documents[document], self.root(), self.versions[document] + 1);
        let stored = self.runtime.block_on(async {
            let target = documents::replace::begin(&self.service.app, &root, id).await.ok()?;
            self.store(target, version).await
        });
        if stored.is_some() {
            self.versions[document] = version;
        }
    }

    /// Stores a file whose text names the version.
    async fn store(&self, target: impl Into<UploadTarget>, version: u32) -> Option<DocumentId> {
        let begun = upload::begin(&self.service.app, target, "a.pdf", "application/pdf", 0);
        let mut upload = begun.await.unwrap();
        upload.write(text(version).into()).await.unwrap();
        Some(upload.finish().await.ok()?.document.id)
    }

    fn root(&self) -> Actor {
        Actor::of(&User { is_superuser: true, ..self.owners[0].clone() }).unwrap()
    }

    /// Returns what a search finds of a document; `None` if a component failed. Each document is searched alone, since a search
    /// returns duplicates once.
    fn found(&self, id: DocumentId) -> Option<Vec<(u32, String)>> {
        let grant = self.root().authorize().unwrap();
        let alone = Selection { documents: Some(vec![id]), ..Selection::default() };
        let (query, scope) = ("zebras", Scope::SERVICE);
        let request = SearchRequest { query, scope, selection: &alone, limit: 50 };
        let search = search::search(&self.service.app, grant, request);
        let found = self.runtime.block_on(search).ok()?;
        Some(found.passages.into_iter().map(|chunk| (chunk.version, chunk.text)).collect())
    }

    fn document(&self, id: DocumentId) -> Option<Document> {
        let read = async { self.service.ports.store.read().await.unwrap().documents().get(id).await };
        self.runtime.block_on(read).unwrap()
    }

    /// Completes all work, without further crashes or faults.
    fn settle(&mut self) {
        self.service.index_switch.clear();
        self.service.embedder_switch.clear();
        for worker in 0..WORKERS {
            while self.workers[worker].is_some() {
                self.step(worker);
            }
        }
        for _ in 0..20 {
            self.service.clock.advance(LEASE);
            self.runtime.block_on(self.service.drain());
        }
        let repaired = self.runtime.block_on(sweep(&self.service.app));
        assert!(repaired.is_complete());
        assert!(repaired.wrong_chunks == 0 || self.has_failed, "chunks of a searched version are missing");
        // Documents whose chunks were missing were queued again.
        self.runtime.block_on(self.service.drain());
        let rest = self.runtime.block_on(sweep(&self.service.app));
        assert!(rest.is_complete() && rest.repaired() == 0, "a second sweep finds something: {rest:?}");
    }
}

impl StateMachineTest for Lifecycle {
    type SystemUnderTest = World;
    type Reference = Self;

    fn init_test(_: &ClientState) -> World {
        World::new()
    }

    fn apply(mut world: World, _: &ClientState, event: Event) -> World {
        match event {
            Event::Upload { owner } => world.upload(owner),
            Event::Step { worker } => world.step(worker),
            Event::Steps { worker, calls } => (0..calls).for_each(|_| world.step(worker)),
            Event::Crash { worker } => world.crash(worker),
            Event::Wait { seconds } => world.service.clock.advance(Duration::from_secs(seconds)),
            Event::Replace { document } => world.replace(document),
            Event::Delete { document } => {
                let (id, root) = (world.documents[document], world.root());
                // An error is expected if it was deleted before.
                let _ = world.runtime.block_on(documents::delete::delete(&world.service.app, &root, id));
            }
            Event::Retry { document } => {
                let (id, root) = (world.documents[document], world.root());
                // An error is expected unless the document has failed.
                let _ = world.runtime.block_on(documents::retry::retry(&world.service.app, &root, id));
            }
            Event::Fail { part, is_permanent } => {
                world.has_failed = true;
                let kind = if is_permanent { FaultKind::Rejected } else { FaultKind::Unavailable };
                match part {
                    FaultyComponent::Index => world.service.index_switch.fail_next(1, kind),
                    FaultyComponent::Embedder => world.service.embedder_switch.fail_next(1, kind),
                }
            }
        }
        world
    }

    fn check_invariants(world: &World, expected: &ClientState) {
        for (id, is_deleted) in world.documents.iter().zip(&expected.deleted) {
            let Some(found) = world.found(*id) else { continue };
            match world.document(*id).filter(|document| document.state.vector_doc_id().is_some()) {
                Some(_) if found.is_empty() && world.has_failed => {}
                Some(document) => assert_eq!(found, [(document.version, text(document.version))]),
                None => assert_eq!(found, [], "a document that is not ingested is found"),
            }
            assert!(!is_deleted || found.is_empty(), "a deleted document is found");
        }
    }

    fn teardown(mut world: World, expected: ClientState) {
        world.settle();
        let World { runtime, service, documents, versions, .. } = &world;
        let (mut searched, mut files) = (BTreeSet::new(), BTreeSet::new());
        for ((id, is_deleted), version) in documents.iter().zip(&expected.deleted).zip(versions) {
            runtime.block_on(async {
                let mut view = service.ports.store.read().await.unwrap();
                let document = view.documents().get(*id).await.unwrap();
                let jobs = view.jobs().of_document(*id).await.unwrap();
                let deletion = view.documents().deletion(*id).await.unwrap();
                let Some(document) = document else {
                    assert!(is_deleted, "an accepted document is lost");
                    assert!(deletion.is_none() && jobs.is_empty(), "something is left");
                    return;
                };
                assert_eq!(document.upcoming(), None, "a version is pending for ever: {jobs:?}");
                let last = document.replacement.as_ref().map_or(document.version, |it| it.version);
                assert_eq!(last, *version, "an accepted version is lost");
                files.insert(BlobKey::of_version(document.version_id).as_str().to_owned());
                let replacement = document.replacement.as_ref();
                files.extend(replacement.map(|it| it.file.blob.as_str().to_owned()));
                if let DocumentState::Ingested(_) = document.state {
                    searched.insert(document.version_id);
                }
            });
        }
        let index = VectorIndex::versions(&*service.index, None, 1000);
        let indexed = runtime.block_on(index).unwrap().versions;
        assert_eq!(
            indexed.into_iter().collect::<BTreeSet<_>>(),
            searched,
            "chunks of the searched versions alone"
        );
        let stored = service.blobs.keys().into_iter().filter(|key| key.starts_with("documents/"));
        assert_eq!(stored.collect::<BTreeSet<_>>(), files, "files of the recorded versions alone");
    }
}

prop_state_machine! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    // Invariant: Every accepted upload ends `ingested`, `failed` or deleted, and a deletion leaves nothing,
    // whichever processes crash or are delayed.
    #[test]
    fn every_upload_reaches_a_final_status_and_deletions_leave_nothing(sequential 1..60 => Lifecycle);
}
