//! A back end on the wire: chat completions, embeddings and reranking over real HTTP on a local port.
//!
//! Left alone, [`FakeLlm`] behaves as a small model would (see [`model`]): it asks for `search_docs`,
//! answers from what the tool gave, and embeds and ranks text by its words. A test scripts the answers it wants
//! otherwise, byte by byte, one [`Reply`] for each request to come, or has it play what a
//! [`ScriptedChatModel`] says. Nothing in it waits for time to pass, unless a benchmark asks for that: what
//! is to come later waits at a [`Gate`].
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use docent_testkit::wire::{FakeLlm, Gate, Reply};
//!
//! let fake = FakeLlm::start().await;
//! let gate = Gate::default();
//! fake.script(Reply::events(&[r#"{"choices": []}"#]).wait(&gate).piece("data: [DONE]\n\n"));
//! fake.script(Reply::json(429, "{}").header("Retry-After", "1"));
//! assert!(fake.base_url().starts_with("http://127.0.0.1:"));
//! # });
//! ```

mod http;
pub mod model;
mod play;
mod quirks;
mod reply;
pub mod smtp;
mod trouble;

pub use http::Request;
pub use quirks::{ContextLimit, Quirks};
pub use reply::{Gate, Reply};
pub use trouble::{Failing, RateLimit, Refusals};

use crate::fakes::chat_model::ScriptedChatModel;
use crate::wait;
use http::{Connection, Ended};
use model::Model;
use reply::Steps;
use std::collections::{HashSet, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Requests that are kept for tests to look at; older ones are forgotten.
const KEPT_REQUESTS: usize = 1024;

/// Clients that may wait to be accepted. Over the usual 1024 the system drops their first packets.
const WAITING_CLIENTS: u32 = 4096;

/// What has happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections that were opened.
    pub connections: u64,
    /// Requests for chat completions.
    pub chats: u64,
    /// Requests for embeddings.
    pub embeddings: u64,
    /// Those of them that were answered with vectors.
    pub embedded: u64,
    /// Texts among these that had been embedded before.
    pub embedded_again: u64,
    /// Requests for reranking.
    pub reranks: u64,
    /// Replies during which the client closed the connection.
    pub hang_ups: u64,
}

#[derive(Debug)]
struct State {
    scripted: Mutex<VecDeque<Reply>>,
    requests: Mutex<VecDeque<Request>>,
    model: Mutex<Model>,
    script: Mutex<Option<Arc<ScriptedChatModel>>>,
    /// Hashes of the texts that were answered with vectors.
    embedded: Mutex<HashSet<u64>>,
    counts: watch::Sender<Counts>,
}

/// A running back end. Dropping it stops it and closes its connections.
#[derive(Debug)]
pub struct FakeLlm {
    address: SocketAddr,
    state: Arc<State>,
    stop: watch::Sender<()>,
    listener: JoinHandle<()>,
}

impl FakeLlm {
    /// Starts one on a free port.
    pub async fn start() -> Self {
        Self::start_on("127.0.0.1:0").await
    }

    /// Starts one on an IPv4 address of one's own, such as that of one that was stopped.
    ///
    /// # Panics
    /// When the address is taken.
    pub async fn start_on(address: &str) -> Self {
        let listener = listen(address).expect("a free address");
        let address = listener.local_addr().expect("a bound listener has an address");
        let state = Arc::new(State {
            scripted: Mutex::default(),
            requests: Mutex::default(),
            model: Mutex::default(),
            script: Mutex::default(),
            embedded: Mutex::default(),
            counts: watch::Sender::default(),
        });
        let stop = watch::Sender::new(());
        let listener = tokio::spawn(accept(listener, Arc::clone(&state), stop.subscribe()));
        Self { address, state, stop, listener }
    }

    /// What clients are configured with.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers the next request that has no reply yet with `reply`.
    pub fn script(&self, reply: Reply) {
        self.state.scripted.lock().unwrap().push_back(reply);
    }

    /// Replies that were not requested yet.
    pub fn unused(&self) -> usize {
        self.state.scripted.lock().unwrap().len()
    }

    /// Changes how requests without a scripted reply are answered.
    pub fn configure(&self, change: impl FnOnce(&mut Model)) {
        change(&mut self.state.model.lock().unwrap());
    }

    /// Answers chats by what `script` says, from now on. It is asked what has come over the wire, and
    /// an answer during which the client closes the connection is dropped.
    pub fn play(&self, script: Arc<ScriptedChatModel>) {
        *self.state.script.lock().unwrap() = Some(script);
    }

    /// The requests so far, oldest first; the last thousand of them.
    pub fn requests(&self) -> Vec<Request> {
        self.state.requests.lock().unwrap().iter().cloned().collect()
    }

    /// What has happened so far.
    pub fn counts(&self) -> Counts {
        *self.state.counts.borrow()
    }

    /// Returns once the counts are as wanted.
    ///
    /// # Panics
    /// When that takes longer than any test should wait.
    pub async fn until(&self, mut wanted: impl FnMut(&Counts) -> bool) {
        if !wait::comes_true(async || wanted(&self.counts())).await {
            panic!("the counts stayed {:?}", self.counts());
        }
    }

    /// Stops listening, closes every connection, and returns once the port is free again.
    pub async fn stop(mut self) -> SocketAddr {
        self.stop.send_replace(());
        self.listener.abort();
        let _ = (&mut self.listener).await;
        self.address
    }
}

impl Drop for FakeLlm {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

/// Listens with room for a thousand clients that come at once.
fn listen(address: &str) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    // A port that was in use a moment ago is free.
    socket.set_reuseaddr(true)?;
    socket.bind(address.parse().map_err(io::Error::other)?)?;
    socket.listen(WAITING_CLIENTS)
}

async fn accept(listener: TcpListener, state: Arc<State>, stop: watch::Receiver<()>) {
    loop {
        match listener.accept().await {
            Ok((socket, _)) => {
                let (state, mut stop) = (Arc::clone(&state), stop.clone());
                tokio::spawn(async move {
                    tokio::select! {
                        () = serve(socket, &state) => {}
                        // Told to stop, or the owner is gone.
                        _ = stop.changed() => {}
                    }
                });
            }
            // Out of file descriptors: some will be free again.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn serve(socket: TcpStream, state: &State) {
    state.counts.send_modify(|counts| counts.connections += 1);
    let mut connection = Connection::new(socket);
    while let Ok(Some(request)) = connection.read().await {
        let (reply, rest) = state.reply_to(request).await;
        match connection.write(reply, rest).await {
            Ended::KeptAlive => {}
            Ended::Closed => return,
            Ended::HungUp => {
                state.counts.send_modify(|counts| counts.hang_ups += 1);
                return;
            }
        }
    }
}

impl State {
    async fn reply_to(&self, request: Request) -> (Reply, Steps) {
        let path = request.path.clone();
        let is_chat = path.ends_with("/chat/completions");
        let scripted = self.scripted.lock().unwrap().pop_front();
        let script = self.script.lock().unwrap().clone();
        let model = self.model.lock().unwrap().clone();
        let reply = match (scripted, script) {
            (Some(reply), _) => play::whole(reply),
            (None, Some(script)) if is_chat => play::play(&script, &request).await,
            (None, Some(script)) if path == "/v1/models" && script.has_offers() => {
                play::whole(play::list(&script).await)
            }
            (None, _) => play::whole(model.answer(&request)),
        };
        let embedded = path.ends_with("/embeddings") && reply.0.status == 200;
        let again = if embedded { self.note_embedded(&request) } else { 0 };
        let mut requests = self.requests.lock().unwrap();
        if requests.len() == KEPT_REQUESTS {
            requests.pop_front();
        }
        requests.push_back(request);
        drop(requests);
        self.counts.send_modify(|counts| {
            counts.chats += u64::from(is_chat);
            counts.embeddings += u64::from(path.ends_with("/embeddings"));
            counts.reranks += u64::from(path.ends_with("/rerank"));
            counts.embedded += u64::from(embedded);
            counts.embedded_again += again;
        });
        reply
    }

    /// Takes note of the texts of a request, and says how many of them it knows already.
    fn note_embedded(&self, request: &Request) -> u64 {
        let mut embedded = self.embedded.lock().unwrap();
        let body = request.json();
        let texts = body["input"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
        texts.map(|text| u64::from(!embedded.insert(model::hash(text)))).sum()
    }
}

#[cfg(test)]
mod tests;
