//! As much of HTTP/1.1 as one client of ours needs.

use super::reply::{Framing, Reply, Step, Steps};
use futures::{StreamExt, stream};
use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const MAX_HEAD: usize = 64 * 1024;
const MAX_BODY: usize = 64 * 1024 * 1024;

/// A request as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The query; empty when there is none.
    pub query: String,
    /// Names in lower case, in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as JSON; `Null` when it is none.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// How a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// The connection takes the next request.
    KeptAlive,
    /// It is closed, as the reply had it.
    Closed,
    /// The client closed it before the reply was over.
    HungUp,
}

pub(super) struct Connection {
    socket: TcpStream,
    /// Bytes that were read and belong to the next request.
    buffer: Vec<u8>,
}

fn malformed() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

impl Connection {
    pub(super) fn new(socket: TcpStream) -> Self {
        // Sends each piece at once, so that the client receives them separately.
        let _ = socket.set_nodelay(true);
        Self { socket, buffer: Vec::new() }
    }

    /// The next request; `None` when the client closed the connection before it.
    pub(super) async fn read(&mut self) -> io::Result<Option<Request>> {
        let head_end = loop {
            if let Some(at) = self.buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break at;
            }
            if self.buffer.len() > MAX_HEAD {
                return Err(malformed());
            }
            if self.fill().await? == 0 {
                return if self.buffer.is_empty() { Ok(None) } else { Err(malformed()) };
            }
        };
        let rest = self.buffer.split_off(head_end + 4);
        let head = String::from_utf8(std::mem::replace(&mut self.buffer, rest)).map_err(|_| malformed())?;
        let mut request = parse_head(&head).ok_or_else(malformed)?;
        let length = match request.header("content-length") {
            Some(length) => length.parse().map_err(|_| malformed())?,
            None if request.header("transfer-encoding").is_some() => return Err(malformed()),
            None => 0,
        };
        if length > MAX_BODY {
            return Err(malformed());
        }
        while self.buffer.len() < length {
            if self.fill().await? == 0 {
                return Err(malformed());
            }
        }
        let rest = self.buffer.split_off(length);
        request.body = std::mem::replace(&mut self.buffer, rest);
        Ok(Some(request))
    }

    async fn fill(&mut self) -> io::Result<usize> {
        self.socket.read_buf(&mut self.buffer).await
    }

    /// Sends a reply, and the steps that follow those it has.
    pub(super) async fn write(&mut self, reply: Reply, rest: Steps) -> Ended {
        match self.send(reply, rest).await {
            Ok(ended) => ended,
            Err(_) => Ended::HungUp,
        }
    }

    async fn send(&mut self, reply: Reply, rest: Steps) -> io::Result<Ended> {
        let Reply { framing, keeps_alive, .. } = reply;
        if framing != Framing::Raw {
            self.socket.write_all(head(&reply).as_bytes()).await?;
        }
        let mut steps = stream::iter(reply.steps).chain(rest);
        loop {
            let step = tokio::select! {
                // Ready data is sent even if the client is gone.
                biased;
                step = steps.next() => step,
                () = self.hung_up() => return Ok(Ended::HungUp),
            };
            let Some(step) = step else { break };
            match step {
                Step::Piece(bytes) if framing == Framing::Chunked => {
                    // An empty chunk would end the body.
                    if !bytes.is_empty() {
                        let chunk =
                            [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes.as_slice(), b"\r\n"].concat();
                        self.socket.write_all(&chunk).await?;
                    }
                }
                Step::Piece(bytes) => self.socket.write_all(&bytes).await?,
                Step::Wait(gate) => {
                    tokio::select! {
                        () = gate.pass() => {}
                        () = self.hung_up() => return Ok(Ended::HungUp),
                    }
                }
                Step::Pause(time) => {
                    tokio::select! {
                        () = tokio::time::sleep(time) => {}
                        () = self.hung_up() => return Ok(Ended::HungUp),
                    }
                }
                Step::Stall => {
                    self.hung_up().await;
                    return Ok(Ended::HungUp);
                }
                Step::Cut => {
                    self.socket.shutdown().await?;
                    return Ok(Ended::Closed);
                }
                Step::Reset => {
                    self.socket.set_zero_linger()?;
                    return Ok(Ended::Closed);
                }
            }
        }
        if framing == Framing::Chunked {
            self.socket.write_all(b"0\r\n\r\n").await?;
        }
        if keeps_alive && framing != Framing::Raw {
            return Ok(Ended::KeptAlive);
        }
        self.socket.shutdown().await?;
        Ok(Ended::Closed)
    }

    /// Returns once the client has closed the connection. What it sends instead is kept.
    async fn hung_up(&mut self) {
        while self.buffer.len() <= MAX_HEAD {
            match self.fill().await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        }
    }
}

fn parse_head(head: &str) -> Option<Request> {
    let mut lines = head.split("\r\n");
    let mut start = lines.next()?.split(' ');
    let (method, target, _version) = (start.next()?, start.next()?, start.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let headers = lines.take_while(|line| !line.is_empty()).map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    });
    Some(Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers: headers.collect::<Option<_>>()?,
        body: Vec::new(),
    })
}

fn head(reply: &Reply) -> String {
    let mut head = format!("HTTP/1.1 {} Scripted\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let has_length = reply.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    match reply.framing {
        // A test may promise more than it sends.
        Framing::Length if has_length => {}
        Framing::Chunked => head.push_str("Transfer-Encoding: chunked\r\n"),
        Framing::Length => {
            let length: usize = reply
                .steps
                .iter()
                .map(|step| if let Step::Piece(bytes) = step { bytes.len() } else { 0 })
                .sum();
            head.push_str(&format!("Content-Length: {length}\r\n"));
        }
        Framing::UntilClose | Framing::Raw => {}
    }
    if !reply.keeps_alive {
        head.push_str("Connection: close\r\n");
    }
    head.push_str("\r\n");
    head
}
