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
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

/// The state of a server, which tests may read and change.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) collections: HashMap<String, Stored>,
    /// The outcomes of the next calls: an answer, or a fault instead.
    pub(crate) outcomes: VecDeque<Result<(), Status>>,
    /// Whether calls get no answer.
    pub(crate) silent: bool,
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
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            Server::builder()
                .add_service(PointsServer::new(service.clone()))
                .add_service(QdrantServer::new(service.clone()))
                .add_service(CollectionsServer::new(service))
                .serve_with_incoming(TcpIncoming::from(listener))
                .await
                .unwrap();
        });
        Self { url, state, statistics: Arc::default(), runtime: Some(runtime) }
    }

    /// Stops the server and waits until its connections are closed.
    pub(crate) async fn stop(mut self) -> Arc<Mutex<State>> {
        let runtime = self.runtime.take();
        tokio::task::spawn_blocking(|| drop(runtime)).await.unwrap();
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
        answer(state, request.into_inner()).map(Response::new)
    }
}

impl State {
    /// Ends and starts again; see [`Stored::restart`].
    pub(crate) fn restart(&mut self) {
        self.collections.values_mut().for_each(Stored::restart);
    }

    fn collection(&mut self, name: &str) -> Result<&mut Stored, Status> {
        let absent = || Status::not_found(format!("Not found: Collection `{name}` doesn't exist!"));
        self.collections.get_mut(name).ok_or_else(absent)
    }
}
