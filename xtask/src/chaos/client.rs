//! A client that expects to be hung up on: one connection for each request, and every way to fail is one error.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Longer than any answer takes while the stores are there.
const PATIENCE: Duration = Duration::from_secs(40);
const BOUNDARY: &str = "between-the-parts-of-a-form";

/// Where to ask, and as whom.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) address: String,
    pub(super) token: String,
}

/// A whole answer.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.body).with_context(|| String::from_utf8_lossy(&self.body).into_owned())
    }

    /// Whether the service could not do it now: asking again may help.
    pub(super) fn is_passing(&self) -> bool {
        matches!(self.status, 429 | 500..=599)
    }
}

/// A request, which may be sent again.
pub(super) struct Request {
    method: &'static str,
    path: String,
    kind: String,
    body: Vec<u8>,
}

impl Request {
    pub(super) fn get(path: &str) -> Self {
        Self { method: "GET", path: path.to_owned(), kind: String::new(), body: Vec::new() }
    }

    pub(super) fn delete(path: &str) -> Self {
        Self { method: "DELETE", ..Self::get(path) }
    }

    pub(super) fn post(path: &str, body: &Value) -> Self {
        let body = body.to_string().into_bytes();
        Self { method: "POST", kind: "application/json".to_owned(), body, ..Self::get(path) }
    }

    pub(super) fn upload(name: &str, pdf: &[u8]) -> Self {
        let mut form = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             Content-Type: application/pdf\r\n\r\n"
        )
        .into_bytes();
        form.extend_from_slice(pdf);
        form.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        Self { method: "POST", kind, body: form, ..Self::get("/documents/upload") }
    }
}

impl Client {
    pub(super) async fn get(&self, path: &str) -> Result<Answer> {
        self.send(&Request::get(path)).await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Answer> {
        self.send(&Request::post(path, body)).await
    }

    pub(super) async fn send(&self, request: &Request) -> Result<Answer> {
        let Request { method, path, kind, body } = request;
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: docent\r\nConnection: close\r\n");
        if !self.token.is_empty() {
            head += &format!("Authorization: Bearer {}\r\n", self.token);
        }
        if !kind.is_empty() {
            head += &format!("Content-Type: {kind}\r\nContent-Length: {}\r\n", body.len());
        }
        head += "\r\n";
        let exchange = async {
            let mut stream = TcpStream::connect(&self.address).await?;
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(body).await?;
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).await?;
            parse(&answer)
        };
        tokio::time::timeout(PATIENCE, exchange).await.context("no answer in time")?
    }
}

fn parse(answer: &[u8]) -> Result<Answer> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").context("cut short")?;
    let head = std::str::from_utf8(&answer[..end]).context("a head of plain text")?;
    let mut body = answer[end + 4..].to_vec();
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).context("a status")?;
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        if name.eq_ignore_ascii_case("content-length") {
            ensure!(value.trim().parse() == Ok(body.len()), "cut short");
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            body = joined(&body)?;
        }
    }
    Ok(Answer { status, body })
}

/// The pieces of a stream as one.
fn joined(mut pieces: &[u8]) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = pieces.windows(2).position(|window| window == b"\r\n").context("cut short")?;
        let size = usize::from_str_radix(std::str::from_utf8(&pieces[..end])?.trim(), 16)?;
        if size == 0 {
            return Ok(body);
        }
        let piece = pieces.get(end + 2..end + 2 + size).context("cut short")?;
        body.extend_from_slice(piece);
        pieces = pieces.get(end + 4 + size..).context("cut short")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_whole_or_an_error() {
        let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        let answer = parse(whole).unwrap();
        assert_eq!((answer.status, answer.body.as_slice()), (200, &b"ok"[..]));
        let pieces = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
        assert_eq!(parse(pieces).unwrap().body, b"abc");
        for cut in 0..whole.len() {
            assert!(parse(&whole[..cut]).is_err());
        }
        for cut in 0..pieces.len() - 4 {
            assert!(parse(&pieces[..cut]).is_err());
        }
    }
}
