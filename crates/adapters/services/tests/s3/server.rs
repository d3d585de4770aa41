//! A fake S3 server, and the credential services of AWS, over real connections.
//!
//! Implements what the adapter uses, and checks keys, payload hashes and part sizes as strictly as S3 does. Rejects
//! everything else.

use docent_testkit::wait;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub(crate) const BUCKET: &str = "docs";
pub(crate) const ACCESS_KEY_ID: &str = "AKIDEXAMPLE";
const PART_MIN: usize = 5 << 20;

/// A fault in place of a regular response.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// An error response with this status and code.
    Status(u16, &'static str),
    /// The connection is reset.
    Reset,
    /// The request is executed, then the connection is reset.
    DoneReset,
    /// The connection is closed after this many bytes of the body.
    Cut(usize),
    /// No response.
    Silence,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) objects: BTreeMap<String, Vec<u8>>,
    /// Key and parts of multipart uploads by ID.
    pub(crate) uploads: BTreeMap<String, (String, BTreeMap<usize, Vec<u8>>)>,
    /// Faults of the next requests of a kind.
    pub(crate) faults: VecDeque<(&'static str, Fault)>,
    /// The session token that requests must contain.
    pub(crate) token: Option<&'static str>,
    /// The kinds of the received requests.
    pub(crate) calls: Vec<&'static str>,
    begun: u64,
}

/// A running server; stops when dropped.
pub(crate) struct FakeS3 {
    pub(crate) address: SocketAddr,
    state: Arc<watch::Sender<State>>,
    listener: JoinHandle<()>,
}

impl Drop for FakeS3 {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

impl FakeS3 {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(watch::Sender::new(State::default()));
        let served = Arc::clone(&state);
        let listener = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, Arc::clone(&served)));
            }
        });
        Self { address, state, listener }
    }

    /// Returns the state.
    pub(crate) fn state(&self) -> watch::Ref<'_, State> {
        self.state.borrow()
    }

    /// Changes the state.
    pub(crate) fn change(&self, change: impl FnOnce(&mut State)) {
        self.state.send_modify(change);
    }

    /// Makes the next request of a kind fail.
    pub(crate) fn fail(&self, kind: &'static str, fault: Fault) {
        self.change(|state| state.faults.push_back((kind, fault)));
    }

    /// Returns the kinds of the requests since the last call.
    pub(crate) fn calls(&self) -> Vec<&'static str> {
        let mut calls = Vec::new();
        self.change(|state| calls = std::mem::take(&mut state.calls));
        calls
    }

    /// Waits until the state satisfies a condition.
    pub(crate) async fn until(&self, mut condition: impl FnMut(&State) -> bool) {
        wait::until("the state is as wanted", async || condition(&self.state())).await;
    }
}

struct Request {
    method: String,
    key: String,
    query: BTreeMap<String, String>,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

struct Response {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Response {
    fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), body: body.into() }
    }

    /// An error response that repeats the session token, as S3 does.
    fn error(status: u16, code: &str, token: &str) -> Self {
        let echo = format!("<CanonicalRequest>x-amz-security-token:{token}</CanonicalRequest>");
        let words = format!("<Code>{code}</Code><Message>fake error</Message>");
        Self::new(status, format!("<?xml version=\"1.0\"?>\n<Error>{words}{echo}</Error>"))
    }

    fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

async fn serve(mut socket: TcpStream, state: Arc<watch::Sender<State>>) {
    let mut buffer = Vec::new();
    while let Some(request) = read(&mut socket, &mut buffer).await {
        let kind = kind(&request);
        let mut fault = None;
        state.send_modify(|state| {
            state.calls.push(kind);
            let at = state.faults.iter().position(|(of, _)| *of == kind);
            fault = at.and_then(|at| state.faults.remove(at)).map(|(_, fault)| fault);
        });
        match fault {
            Some(Fault::Reset) => return socket.set_zero_linger().unwrap(),
            Some(Fault::Silence) => return std::future::pending().await,
            _ => {}
        }
        let mut response = None;
        state.send_modify(|state| {
            response = Some(match fault {
                Some(Fault::Status(status, code)) => Response::error(status, code, ""),
                _ => state.respond(kind, &request),
            });
        });
        let response = response.unwrap();
        let sent = match fault {
            Some(Fault::DoneReset) => return socket.set_zero_linger().unwrap(),
            Some(Fault::Cut(bytes)) => bytes,
            _ => response.body.len(),
        };
        let mut head = format!("HTTP/1.1 {} Fake\r\n", response.status);
        for (name, value) in &response.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n", response.body.len()));
        let body = if kind == "head" { &[] } else { &response.body[..sent] };
        if socket.write_all(format!("{head}\r\n").as_bytes()).await.is_err()
            || socket.write_all(body).await.is_err()
            || sent < response.body.len()
        {
            return;
        }
    }
}

async fn read(socket: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Request> {
    let end = loop {
        if let Some(at) = buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break at;
        }
        if socket.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(buffer.drain(..end + 4).collect()).unwrap();
    let mut lines = head.split("\r\n");
    let mut start = lines.next()?.split(' ');
    let (method, target) = (start.next()?.to_owned(), start.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let query = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers: BTreeMap<_, _> =
        headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    while buffer.len() < length {
        if socket.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
    Some(Request {
        method,
        key: path.trim_start_matches('/').to_owned(),
        query: query.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        headers,
        body: buffer.drain(..length).collect(),
    })
}

fn kind(request: &Request) -> &'static str {
    let has = |name| request.query.contains_key(name);
    match request.method.as_str() {
        "POST" if has("uploads") => "create",
        "PUT" if has("partNumber") => "part",
        "POST" if has("uploadId") => "complete",
        "DELETE" if has("uploadId") => "abort",
        "PUT" if request.query.is_empty() => "put",
        "GET" if request.query.is_empty() => "get",
        "GET" if has("list-type") => "list",
        "HEAD" => "head",
        "DELETE" if request.query.is_empty() => "delete",
        _ => "unknown",
    }
}

fn hex_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn etag(bytes: &[u8]) -> String {
    format!("\"{}\"", bytes.len())
}

impl State {
    fn respond(&mut self, kind: &str, request: &Request) -> Response {
        let header = |name: &str| request.headers.get(name).map_or("", String::as_str);
        let token = header("x-amz-security-token");
        let error_response = |status, code| Response::error(status, code, token);
        if let Some(response) = credentials(request) {
            return response;
        }
        let signed = format!("AWS4-HMAC-SHA256 Credential={ACCESS_KEY_ID}/");
        if !header("authorization").starts_with(&signed) {
            return error_response(403, "InvalidAccessKeyId");
        }
        if self.token.is_some_and(|expected| expected != token) {
            return error_response(403, "SignatureDoesNotMatch");
        }
        if matches!(kind, "put" | "part") && header("x-amz-content-sha256") != hex_of(&request.body) {
            return error_response(400, "XAmzContentSHA256Mismatch");
        }
        if kind == "list" && request.key == BUCKET {
            return self.list(request);
        }
        let Some(key) = request.key.strip_prefix(BUCKET).and_then(|key| key.strip_prefix('/')) else {
            return error_response(404, "NoSuchBucket");
        };
        match kind {
            "put" => {
                self.objects.insert(key.to_owned(), request.body.clone());
                Response::new(200, "").header("ETag", etag(&request.body))
            }
            "get" | "head" => match self.objects.get(key) {
                Some(object) => read_object(object, header("range")),
                None => error_response(404, "NoSuchKey"),
            },
            "delete" => {
                self.objects.remove(key);
                Response::new(204, "")
            }
            "create" => {
                self.begun += 1;
                let id = format!("upload-{}", self.begun);
                let xml = format!(
                    "<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
                );
                self.uploads.insert(id, (key.to_owned(), BTreeMap::new()));
                Response::new(200, xml)
            }
            _ => self.respond_to_upload(kind, request).unwrap_or_else(|| error_response(404, "NoSuchUpload")),
        }
    }

    /// Lists two objects per page.
    fn list(&self, request: &Request) -> Response {
        let text = |name| request.query.get(name).map_or(String::new(), |text| text.replace("%2F", "/"));
        let (prefix, after) = (text("prefix"), text("continuation-token"));
        let mut rest = self.objects.iter().filter(|(key, _)| key.starts_with(&prefix) && **key > after);
        let page: Vec<_> = rest.by_ref().take(2).collect();
        let entry = |(key, object): &(&String, &Vec<u8>)| {
            let (size, at) = (object.len(), "2026-01-01T00:00:00.000Z");
            format!(
                "<Contents><Key>{key}</Key><LastModified>{at}</LastModified><Size>{size}</Size></Contents>"
            )
        };
        let next = rest
            .next()
            .and_then(|_| page.last())
            .map(|(key, _)| format!("<NextContinuationToken>{key}</NextContinuationToken>"));
        let body: String = page.iter().map(entry).chain(next).collect();
        Response::new(200, format!("<ListBucketResult>{body}</ListBucketResult>"))
    }

    /// `None` for an unknown upload.
    fn respond_to_upload(&mut self, kind: &str, request: &Request) -> Option<Response> {
        let id = request.query.get("uploadId")?;
        let (key, parts) = self.uploads.get_mut(id)?;
        match kind {
            "part" => {
                parts.insert(request.query["partNumber"].parse().unwrap(), request.body.clone());
                Some(Response::new(200, "").header("ETag", etag(&request.body)))
            }
            "complete" => {
                let listed = String::from_utf8(request.body.clone()).unwrap().matches("<PartNumber>").count();
                let sizes: Vec<usize> = parts.values().map(Vec::len).collect();
                let (_, all_but_last) = sizes.split_last()?;
                // Some services require parts of equal size; S3 requires a minimum.
                let fits = all_but_last.iter().all(|size| *size == sizes[0] && *size >= PART_MIN);
                if listed != sizes.len() || !fits {
                    return Some(Response::error(400, "EntityTooSmall", ""));
                }
                let whole = parts.values().map(Vec::as_slice).collect::<Vec<_>>().concat();
                let tag = etag(&whole);
                self.objects.insert(key.clone(), whole);
                self.uploads.remove(id);
                let xml = format!(
                    "<CompleteMultipartUploadResult><ETag>{tag}</ETag></CompleteMultipartUploadResult>"
                );
                Some(Response::new(200, xml))
            }
            "abort" => {
                self.uploads.remove(id);
                Some(Response::new(204, ""))
            }
            _ => Some(Response::error(501, "NotImplemented", "")),
        }
    }
}

/// Responds as the metadata services of instances and containers and as STS; `None` for other paths.
fn credentials(request: &Request) -> Option<Response> {
    const EXPIRATION: &str = "2999-01-01T00:00:00Z";
    let header = |name: &str| request.headers.get(name).map_or("", String::as_str);
    let json = format!(
        r#"{{"AccessKeyId":"{ACCESS_KEY_ID}","SecretAccessKey":"secret","Token":"role-token","Expiration":"{EXPIRATION}"}}"#
    );
    let is_granted = match request.key.as_str() {
        "latest/api/token" => return Some(Response::new(200, "metadata-token")),
        "latest/meta-data/iam/security-credentials/" => return Some(Response::new(200, "docent-role")),
        "latest/meta-data/iam/security-credentials/docent-role" => {
            header("x-aws-ec2-metadata-token") == "metadata-token"
        }
        "container-credentials" => header("authorization") == "container-token",
        "sts" if request.query["WebIdentityToken"] == "web-identity" => {
            let keys = format!(
                "<SessionToken>role-token</SessionToken><SecretAccessKey>secret</SecretAccessKey>\
                 <Expiration>{EXPIRATION}</Expiration><AccessKeyId>{ACCESS_KEY_ID}</AccessKeyId>"
            );
            let result = format!(
                "<AssumeRoleWithWebIdentityResult><Credentials>{keys}</Credentials></AssumeRoleWithWebIdentityResult>"
            );
            let xml =
                format!("<AssumeRoleWithWebIdentityResponse>{result}</AssumeRoleWithWebIdentityResponse>");
            return Some(Response::new(200, xml));
        }
        _ => return None,
    };
    Some(if is_granted { Response::new(200, json) } else { Response::error(401, "Unauthorized", "") })
}

fn read_object(object: &[u8], range: &str) -> Response {
    let whole = object.len();
    let (status, bytes, content_range) =
        match range.strip_prefix("bytes=").and_then(|range| range.split_once('-')) {
            Some((from, to)) => {
                let (from, to): (usize, usize) = (from.parse().unwrap(), to.parse().unwrap());
                (206, &object[from..=to], Some(format!("bytes {from}-{to}/{whole}")))
            }
            None => (200, object, None),
        };
    let response = Response::new(status, bytes)
        .header("ETag", etag(object))
        .header("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT");
    match content_range {
        Some(range) => response.header("Content-Range", range),
        None => response,
    }
}
