//! The service under attack, its data, and the requests of attackers.

use super::sampler::{Sample, Sampler};
use crate::bench::service::{EMAIL, Installation, PASSWORD, Peer};
use crate::bench::wire::{Client, request};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long the service is measured without an attack.
const QUIET: Duration = Duration::from_secs(2);

/// A service with an account and a document, which ordinary requests read.
pub(super) struct Target {
    pub(super) installation: Installation,
    pub(super) peer: Peer,
    pub(super) token: String,
    /// Path of the ordinary request.
    pub(super) ordinary: String,
}

impl Target {
    pub(super) async fn new(
        program: &Path,
        folder: &Path,
        settings: &[(&'static str, String)],
    ) -> Result<Self> {
        let installation = Installation::new(program, folder, settings)?;
        installation.run(&["migrate"])?;
        installation.create_account()?;
        let (peer, token) = installation.serve().await?;
        let document = json!({ "title": "ordinary" }).to_string();
        let document =
            Client::connect(peer.address).await?.json("POST", "/documents", Some(&token), &document).await?;
        let id = document["id"].as_str().context("a document without ID")?;
        Ok(Self { installation, ordinary: format!("/documents/{id}"), peer, token })
    }

    /// Restarts the service, so that its memory does not contain earlier work.
    pub(super) async fn restart(self) -> Result<Self> {
        let Self { installation, peer, ordinary, .. } = self;
        peer.stop()?;
        let (peer, token) = installation.serve().await?;
        Ok(Self { installation, peer, token, ordinary })
    }

    /// Measures without an attack.
    pub(super) async fn quiet(&self) -> Result<Sample> {
        self.measure(QUIET, std::future::pending()).await
    }

    /// Measures until `attack` has ended, at most for this long.
    pub(super) async fn measure(
        &self,
        longest: Duration,
        attack: impl Future<Output = ()>,
    ) -> Result<Sample> {
        Sampler::start(&self.peer, &self.token, &self.ordinary).until(&self.peer, longest, attack).await
    }

    pub(super) async fn client(&self) -> Result<Client> {
        Client::connect(self.peer.address).await
    }

    /// Sends a request with the account's token and returns the body.
    pub(super) async fn json(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        self.client().await?.json(method, path, Some(&self.token), &body.to_string()).await
    }

    /// Logs in to the panel and returns the cookie.
    pub(super) async fn panel_cookie(&self) -> Result<String> {
        let address = self.peer.address;
        let form = exchange(address, &closing("GET", "/admin/login", "", "")).await?;
        let token = form.text.split_once("name=\"form_token\" value=\"").context("no form")?.1;
        let token = token.split('"').next().unwrap_or_default();
        let fields =
            format!("form_token={}&email={}&password={}", encode(token), encode(EMAIL), encode(PASSWORD));
        let head = format!(
            "Cookie: {}\r\nContent-Type: application/x-www-form-urlencoded\r\n",
            cookie(&form.text).context("no cookie")?
        );
        let entered = exchange(address, &closing("POST", "/admin/login", &head, &fields)).await?;
        ensure!(entered.status == 303, "the login to the panel failed: {}", entered.text);
        cookie(&entered.text).context("no cookie")
    }
}

/// A response: its status, its size and its first bytes.
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) bytes: usize,
    pub(super) text: String,
}

/// How much of a response is kept.
const KEPT: usize = 64 << 10;

/// Encodes a request after whose response the connection is closed.
pub(super) fn closing(method: &str, path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// Encodes a JSON request with a token after whose response the connection is closed.
pub(super) fn closing_json(method: &str, path: &str, token: &str, body: &str) -> Vec<u8> {
    let headers = format!(
        "Authorization: Bearer {token}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
    );
    closing(method, path, &headers, body)
}

/// Sends a request and reads the response to its end without keeping it.
pub(super) async fn exchange(address: SocketAddr, request: &[u8]) -> Result<Response> {
    let mut stream = TcpStream::connect(address).await?;
    // A service that refuses the body can close the connection before it is sent.
    let _ = stream.write_all(request).await;
    let (mut buffer, mut kept, mut bytes) = (vec![0; 64 << 10], Vec::new(), 0);
    while let Ok(read) = stream.read(&mut buffer).await {
        if read == 0 {
            break;
        }
        bytes += read;
        let room = KEPT.saturating_sub(kept.len()).min(read);
        kept.extend_from_slice(&buffer[..room]);
    }
    let text = String::from_utf8_lossy(&kept).into_owned();
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Ok(Response { status, bytes, text })
}

/// Counts of responses by status; 0 for none.
#[derive(Clone, Default)]
pub(super) struct Statuses(Rc<RefCell<BTreeMap<u16, u64>>>);

impl Statuses {
    pub(super) fn add(&self, status: u16) {
        *self.0.borrow_mut().entry(status).or_default() += 1;
    }

    pub(super) fn print(&self) -> String {
        let counts = self.0.borrow();
        let counts = counts.iter().map(|(status, count)| format!("{count} x {status}"));
        format!("; responses: {}", counts.collect::<Vec<_>>().join(", "))
    }
}

/// Waits for all tasks.
pub(super) async fn all(tasks: Vec<tokio::task::JoinHandle<()>>) {
    for task in tasks {
        let _ = task.await;
    }
}

fn cookie(response: &str) -> Option<String> {
    let line = response.lines().find(|line| line.to_ascii_lowercase().starts_with("set-cookie:"))?;
    Some(line.split_once(':')?.1.split(';').next()?.trim().to_owned())
}

fn encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric();
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// Encodes a JSON request for a connection that stays open.
pub(super) fn ask(token: &str, question: &str, conversation: Option<&str>) -> Vec<u8> {
    let mut body = json!({ "messages": [{ "role": "user", "content": question }] });
    if let Some(id) = conversation {
        body["conversation_id"] = json!(id);
    }
    request("POST", "/agents/chat", Some(token), &body.to_string())
}
