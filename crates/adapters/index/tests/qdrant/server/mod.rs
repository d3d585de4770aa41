//! A server for the part of Qdrant's protocol that the adapter uses, over real connections.
//!
//! It validates what the adapter could get wrong: collections, vector names, dimensions, indices of sparse vectors.
//! It rejects unsupported requests.

mod filter;
mod service;
mod stored;

pub(crate) use stored::Stored;

use ::qdrant_client::qdrant::collections_server::CollectionsServer;
use ::qdrant_client::qdrant::points_server::PointsServer;
use ::qdrant_client::qdrant::qdrant_server::QdrantServer;
use docent_testkit::fakes::store::FakeStore;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tonic::codegen::tokio_stream::StreamExt;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

/// How far a call has come when the server restarts. Its caller loses the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Restart {
    /// It has changed nothing.
    Before,
    /// Half of the points that it writes or deletes are saved.
    During,
    /// It is done, but not answered.
    After,
}

/// A restart during a later call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedRestart {
    /// Number of calls that are answered before.
    pub(crate) calls: usize,
    /// How far the next call comes.
    pub(crate) moment: Restart,
}

/// The state of a server, which tests may read and change.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) collections: HashMap<String, Stored>,
    /// The outcomes of the next calls: an answer, or a fault instead.
    pub(crate) outcomes: VecDeque<Result<(), Status>>,
    /// Whether calls get no answer.
    pub(crate) silent: bool,
    /// Whether the disk is full: the server refuses writes and answers reads.
    pub(crate) is_full: bool,
    /// The next restart, until it happens.
    pub(crate) restart: Option<PlannedRestart>,
    /// Whether the current write is saved by half.
    halves: bool,
    /// The open connections, and earlier ones.
    connections: Vec<std::net::TcpStream>,
    /// The required API key.
    pub(crate) key: Option<&'static str>,
    /// The trace context of the last call.
    pub(crate) traceparent: Option<String>,
    /// The names of the calls so far.
    pub(crate) calls: Vec<&'static str>,
    /// The version that the server reports.
    pub(crate) version: &'static str,
}

/// A running server; it stops when dropped.
pub(crate) struct Fake {
    pub(crate) url: String,
    pub(crate) state: Arc<Mutex<State>>,
    /// The store of term statistics.
    pub(crate) statistics: Arc<FakeStore>,
    // Its own, so that stopping the server ends its connections too. `None` once it is stopped.
    runtime: Option<Runtime>,
}

impl Fake {
    pub(crate) fn start() -> Self {
        Self::at("127.0.0.1:0", Arc::default())
    }

    /// Starts a server at an address with the state of an earlier one.
    pub(crate) fn at(address: &str, state: Arc<Mutex<State>>) -> Self {
        let listener = std::net::TcpListener::bind(address).unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let service = Service(Arc::clone(&state));
        let accepting = Arc::clone(&state);
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.spawn(async move {
            let listener = TcpIncoming::from(TcpListener::from_std(listener).unwrap());
            let connections = listener.map(move |connection| remember(connection?, &accepting));
            Server::builder()
                .add_service(PointsServer::new(service.clone()))
                .add_service(QdrantServer::new(service.clone()))
                .add_service(CollectionsServer::new(service))
                .serve_with_incoming(connections)
                .await
                .unwrap();
        });
        Self { url, state, statistics: Arc::default(), runtime: Some(runtime) }
    }

    /// Stops the server and waits until its connections are closed.
    pub(crate) async fn stop(mut self) -> Arc<Mutex<State>> {
        let runtime = self.runtime.take();
        tokio::task::spawn_blocking(|| drop(runtime)).await.unwrap();
        // The kept handles would leave them open.
        self.state.lock().unwrap().close_connections();
        Arc::clone(&self.state)
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Keeps a handle of a connection, by which a restart closes it.
fn remember(connection: TcpStream, state: &Mutex<State>) -> std::io::Result<TcpStream> {
    let connection = connection.into_std()?;
    state.lock().unwrap().connections.push(connection.try_clone()?);
    TcpStream::from_std(connection)
}

#[derive(Clone)]
struct Service(Arc<Mutex<State>>);

impl Service {
    async fn answer<Q, A>(
        &self,
        name: &'static str,
        request: Request<Q>,
        answer: impl FnOnce(&mut State, Q) -> Result<A, Status>,
    ) -> Result<Response<A>, Status> {
        if self.0.lock().unwrap().silent {
            std::future::pending::<()>().await;
        }
        let state = &mut *self.0.lock().unwrap();
        state.calls.push(name);
        let text = |name| request.metadata().get(name).and_then(|value| value.to_str().ok());
        let key = text("api-key");
        state.traceparent = text("traceparent").map(str::to_owned);
        if state.key.is_some() && key != state.key {
            return Err(Status::unauthenticated("Must provide an API key"));
        }
        state.outcomes.pop_front().unwrap_or(Ok(()))?;
        let restart = state.begin_restart();
        state.halves = restart == Some(Restart::During);
        let answered = match restart {
            Some(Restart::Before) => Err(Status::unavailable("not answered")),
            Some(Restart::During | Restart::After) | None => answer(state, request.into_inner()),
        };
        if restart.is_some() {
            state.restart();
            state.close_connections();
        }
        answered.map(Response::new)
    }
}

impl State {
    /// Ends and starts again; see [`Stored::restart`].
    pub(crate) fn restart(&mut self) {
        self.collections.values_mut().for_each(Stored::restart);
    }

    fn close_connections(&mut self) {
        for connection in self.connections.drain(..) {
            // The client may have closed it already.
            let _ = connection.shutdown(std::net::Shutdown::Both);
        }
    }

    /// Counts a call. Returns the restart that happens during it, if any.
    fn begin_restart(&mut self) -> Option<Restart> {
        let planned = self.restart.as_mut()?;
        if planned.calls > 0 {
            planned.calls -= 1;
            return None;
        }
        self.restart.take().map(|planned| planned.moment)
    }

    /// Refuses a write as the server does while its disk is full.
    fn check_disk(&self) -> Result<(), Status> {
        match self.is_full {
            true => Err(Status::internal(
                "Service internal error: No space left on device: WAL buffer size exceeds available disk space",
            )),
            false => Ok(()),
        }
    }

    /// The part of a write that is saved.
    fn saved<T>(&self, mut items: Vec<T>) -> Vec<T> {
        if self.halves {
            items.truncate(items.len() / 2);
        }
        items
    }

    fn collection(&mut self, name: &str) -> Result<&mut Stored, Status> {
        let absent = || Status::not_found(format!("Not found: Collection `{name}` doesn't exist!"));
        self.collections.get_mut(name).ok_or_else(absent)
    }
}
