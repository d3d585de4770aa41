//! A minimal HTTP/1.1 client for the load benchmarks. A general client would use more CPU time than the service under test.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A keep-alive connection.
pub(crate) struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// The sizes of a response in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) head: usize,
    pub(crate) body: usize,
}

/// Encodes a request.
pub(crate) fn request(method: &str, path: &str, token: Option<&str>, body: &str) -> Vec<u8> {
    let authorization = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    let content = match body.len() {
        0 => String::new(),
        length => format!("Content-Type: application/json\r\nContent-Length: {length}\r\n"),
    };
    format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}{content}\r\n{body}").into_bytes()
}

/// Encodes an upload of a PDF, or of text if its name ends with `.txt`.
pub(crate) fn upload(name: &str, file: &[u8], token: &str) -> Vec<u8> {
    const BOUNDARY: &str = "between-two-parts-of-the-benchmark";
    let kind = if name.ends_with(".txt") { "text/plain" } else { "application/pdf" };
    let part = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: {kind}\r\n\r\n"
    );
    let end = format!("\r\n--{BOUNDARY}--\r\n");
    let head = format!(
        "POST /documents/upload HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: multipart/form-data; boundary={BOUNDARY}\r\nContent-Length: {}\r\n\r\n",
        part.len() + file.len() + end.len()
    );
    [head.as_bytes(), part.as_bytes(), file, end.as_bytes()].concat()
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(4096) })
    }

    pub(crate) async fn send(&mut self, request: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(request).await?)
    }

    /// Reads the next bytes of a response; `None` if the server has closed the connection.
    pub(crate) async fn read_more(&mut self) -> Result<Option<&[u8]>> {
        let before = self.buffer.len();
        let read = self.stream.read_buf(&mut self.buffer).await?;
        Ok((read > 0).then(|| &self.buffer[before..]))
    }

    /// The bytes of the current response.
    pub(crate) fn received(&self) -> &[u8] {
        &self.buffer
    }

    /// Sends a request and reads the response, which must have a content length and a status 2xx.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> Result<Size> {
        let (status, size) = self.exchange_any(request).await?;
        ensure!((200..300).contains(&status), "{}", String::from_utf8_lossy(&self.buffer));
        Ok(size)
    }

    /// Sends a request and reads the response, which must have a content length; returns the status too.
    pub(crate) async fn exchange_any(&mut self, request: &[u8]) -> Result<(u16, Size)> {
        self.buffer.clear();
        self.send(request).await?;
        let head = loop {
            if let Some(at) = find(&self.buffer, b"\r\n\r\n") {
                break at + 4;
            }
            self.read_more().await?.context("the server closed the connection")?;
        };
        let text = std::str::from_utf8(&self.buffer[..head]).context("the head is not UTF-8")?;
        let status = text
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .context("the response has no status")?;
        let length = |line: &str| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        };
        let body = text
            .lines()
            .find_map(length)
            .or((status == 204).then_some(0))
            .context("the response has no content length")?;
        while self.buffer.len() < head + body {
            self.read_more().await?.context("the server closed the connection")?;
        }
        Ok((status, Size { head, body }))
    }

    /// Sends a request and returns the body as text.
    pub(crate) async fn text(&mut self, method: &str, path: &str, token: Option<&str>) -> Result<String> {
        let size = self.exchange(&request(method, path, token, "")).await?;
        Ok(String::from_utf8_lossy(&self.buffer[size.head..]).into_owned())
    }

    /// Sends a request and returns the body as JSON.
    pub(crate) async fn json(
        &mut self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: &str,
    ) -> Result<Value> {
        let size = self.exchange(&request(method, path, token, body)).await?;
        Ok(serde_json::from_slice(&self.buffer[size.head..])?)
    }
}

/// Position of `needle`.
pub(crate) fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}
