//! The document lifecycle under random sequences of events: runners proceed call by call, crash, or continue long after
//! their lease has expired; documents are uploaded, deleted and retried at any time; components fail.
//!
//! Every accepted document ends `ingested`, `failed` or deleted. A deleted document is never found again, and in the end
//! nothing of it remains.

use crate::call_gate::CallGate;
use crate::service::Service;
use docent_app::maintenance::sweep::sweep;
use docent_app::{documents, search};
use docent_domain::access::Actor;
use docent_domain::document::{BlobKey, DocumentState};
use docent_domain::fault::FaultKind;
use docent_domain::id::{CollectionId, DocumentId};
use docent_domain::scope::Scope;
use docent_domain::selection::Selection;
use docent_domain::user::User;
use proptest::prelude::*;
use proptest::test_runner::Config;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};
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
                1 => (0..count).prop_map(|document| Event::Delete { document }),
                1 => (0..count).prop_map(|document| Event::Retry { document }),
            ]
            .boxed(),
        }
    }

    fn preconditions(expected: &ClientState, event: &Event) -> bool {
        match event {
            Event::Delete { document } | Event::Retry { document } => *document < expected.deleted.len(),
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
        Self { runtime, service, owners, workers, documents: Vec::new() }
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
        let id = self.runtime.block_on(async {
            let app = &self.service.app;
            let mut upload =
                documents::upload::begin(app, grant, CollectionId::EVERYONE, "a.pdf", "application/pdf", 0)
                    .await
                    .unwrap();
            upload.write(bytes::Bytes::from_static(b"zebras")).await.unwrap();
            upload.finish().await.unwrap().id
        });
        self.documents.push(id);
    }

    fn root(&self) -> Actor {
        Actor::of(&User { is_superuser: true, ..self.owners[0].clone() }).unwrap()
    }

    /// Returns the documents that a search finds. Each is searched alone, since a search returns duplicates once.
    fn found(&self) -> Vec<DocumentId> {
        let grant = self.root().authorize().unwrap();
        let is_found = |id: &&DocumentId| {
            let alone = Selection { documents: Some(vec![**id]), ..Selection::default() };
            let search = search::search(&self.service.app, grant, Scope::SERVICE, "zebras", &alone, 50);
            let chunks = self.runtime.block_on(search);
            chunks.is_ok_and(|chunks| !chunks.is_empty())
        };
        self.documents.iter().filter(is_found).copied().collect()
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
        assert!(self.runtime.block_on(sweep(&self.service.app)).is_complete());
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
        for id in world.found() {
            let place = world.documents.iter().position(|other| *other == id).unwrap();
            assert!(!expected.deleted[place], "a deleted document is found");
        }
    }

    fn teardown(mut world: World, expected: ClientState) {
        world.settle();
        let World { runtime, service, documents, .. } = &world;
        for (id, is_deleted) in documents.iter().zip(&expected.deleted) {
            let chunks = service.index.entries(*id).len();
            runtime.block_on(async {
                let mut view = service.ports.store.read().await.unwrap();
                let document = view.documents().get(*id).await.unwrap();
                let jobs = view.jobs().of_document(*id).await.unwrap();
                let file = service.ports.blobs.open(&BlobKey::of_document(*id)).await.unwrap();
                let deletion = view.documents().deletion(*id).await.unwrap();
                match document.map(|document| document.state) {
                    None => {
                        assert!(is_deleted, "an accepted document is lost");
                        assert_eq!(chunks, 0, "chunks of a deleted document are left");
                        assert!(deletion.is_none() && jobs.is_empty() && file.is_none(), "something is left");
                    }
                    Some(DocumentState::Ingested(_)) => assert_eq!(chunks, 1),
                    Some(DocumentState::Failed(_)) => {
                        assert_eq!(chunks, 0, "chunks of a failed one are left")
                    }
                    Some(DocumentState::Pending(_)) => panic!("a document is pending for ever: {jobs:?}"),
                }
            });
        }
    }
}

prop_state_machine! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    #[test]
    fn every_upload_reaches_a_final_status_and_deletions_leave_nothing(sequential 1..60 => Lifecycle);
}
