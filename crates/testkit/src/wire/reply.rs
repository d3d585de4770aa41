//! What the back end answers, step by step.

use crate::wait;
use futures::stream::BoxStream;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// A place in a reply that is passed when the test says so. Clones are the same gate.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    state: Arc<watch::Sender<GateState>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct GateState {
    is_open: bool,
    arrivals: usize,
}

impl Gate {
    /// Lets through all that wait and all that come.
    pub fn open(&self) {
        self.state.send_modify(|state| state.is_open = true);
    }

    /// Returns once `n` replies have come to the gate.
    pub async fn reached(&self, n: usize) {
        wait::until("replies come to the gate", async || self.state.borrow().arrivals >= n).await;
    }

    pub(super) async fn pass(&self) {
        self.state.send_modify(|state| state.arrivals += 1);
        let _ = self.state.subscribe().wait_for(|state| state.is_open).await;
    }
}

/// One step of a reply.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Bytes that are sent by themselves.
    Piece(Vec<u8>),
    /// Waits for the test.
    Wait(Gate),
    /// Waits for time to pass.
    Pause(Duration),
    /// Waits for the client to disconnect.
    Stall,
    /// Ends the connection in the middle of the body, without a word.
    Cut,
    /// Resets the connection.
    Reset,
}

/// Steps that are made as they are taken.
pub(super) type Steps = BoxStream<'static, Step>;

/// How the length of a body is transmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// Each piece is a chunk.
    Chunked,
    /// By its length.
    Length,
    /// By the end of the connection.
    UntilClose,
    /// The pieces are all there is: the status line and headers too.
    Raw,
}

/// An answer to one request: a status, headers, and the body's pieces one after the other.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) steps: Vec<Step>,
    pub(super) framing: Framing,
    pub(super) keeps_alive: bool,
}

impl Reply {
    fn new(status: u16, framing: Framing) -> Self {
        Self { status, headers: Vec::new(), steps: Vec::new(), framing, keeps_alive: true }
    }

    /// A JSON body, sent whole.
    pub fn json(status: u16, body: impl Into<String>) -> Self {
        Self::new(status, Framing::Length).header("Content-Type", "application/json").piece(body.into())
    }

    /// An event stream that begins with these data, each an event and a piece of its own.
    pub fn events(data: &[&str]) -> Self {
        let reply = Self::new(200, Framing::Chunked).header("Content-Type", "text/event-stream");
        data.iter().fold(reply, |reply, data| reply.event(data))
    }

    /// Adds an event with these data, as a piece of its own.
    #[must_use]
    pub fn event(self, data: &str) -> Self {
        self.piece(format!("data: {data}\n\n"))
    }

    /// Bytes sent as they are, status line and headers included; then the connection is closed.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(0, Framing::Raw).piece(bytes)
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds bytes to the body; they are sent by themselves.
    #[must_use]
    pub fn piece(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.step(Step::Piece(bytes.into()))
    }

    /// Waits at a gate.
    #[must_use]
    pub fn wait(self, gate: &Gate) -> Self {
        self.step(Step::Wait(gate.clone()))
    }

    /// Waits for time to pass. For benchmarks, where the pace of the tokens is part of the load; a test
    /// uses a [`Gate`].
    #[must_use]
    pub fn pause(self, time: Duration) -> Self {
        self.step(Step::Pause(time))
    }

    /// Sends nothing more until the client disconnects.
    #[must_use]
    pub fn stall(self) -> Self {
        self.step(Step::Stall)
    }

    /// Closes the connection here, in the middle of the body.
    #[must_use]
    pub fn cut(self) -> Self {
        self.step(Step::Cut)
    }

    /// Resets the connection here.
    #[must_use]
    pub fn reset(self) -> Self {
        self.step(Step::Reset)
    }

    /// Closes the connection after the reply.
    #[must_use]
    pub fn close(mut self) -> Self {
        self.keeps_alive = false;
        self
    }

    /// Tells the end of the body by closing the connection, as old servers do.
    #[must_use]
    pub fn until_close(mut self) -> Self {
        self.framing = Framing::UntilClose;
        self.close()
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}
