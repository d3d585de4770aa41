//! Request IDs, access log, traces and metrics of requests.
//!
//! There is one log line per request, without query strings, tokens or email addresses. Span fields without a dot in their name
//! appear in log lines, those with a dot in traces.

use super::{Answer, with_headers};
use crate::context::{self, State};
use crate::error::log_fault;
use crate::extract::client::Client;
use crate::table;
use actix_web::HttpMessage;
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use docent_domain::fault::Fault;
use std::borrow::Cow;
use std::time::Instant;
use tracing::field::Empty;
use tracing::{Instrument, Span};

/// Header of request IDs.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const ID_MAX: usize = 128;
/// Replaces unknown paths, which can contain anything.
const UNKNOWN_PATH: &str = "-";
/// Status for clients that disconnect before the response, as proxies log it.
const CLIENT_CLOSED: u16 = 499;

/// Logs, counts and traces a request.
pub async fn observe(request: ServiceRequest, next: Next<impl MessageBody + 'static>) -> Answer {
    let context = context::from_service(&request)?;
    let id = match requested_id(&request) {
        Some(id) => id,
        None => new_id(&context)?,
    };
    let client = Client::remember(&request)?;
    let method = request.method().clone();
    let started = Instant::now();
    let in_progress = context.metrics().map(|metrics| metrics.http.request_began());
    let span = span(&context, &request, &id, client);
    join_trace(&context, &request, &span);

    let unanswered = Unanswered::new(&context, &request, &span, client, started);
    let answer = next.call(request).instrument(span.clone()).await;
    let answer = answer.map(|response| response.map_into_boxed_body());

    unanswered.end();
    drop(in_progress);
    let outcome = Outcome::of(&answer);
    let _entered = span.enter();
    tracing::info!(
        %method,
        path = outcome.path(),
        status = outcome.status.as_u16(),
        client = %client.address,
        ms = started.elapsed().as_millis() as u64,
        "request"
    );
    if context.app.is_traced() {
        outcome.record(&span);
    }
    if let Some(metrics) = context.metrics() {
        metrics.http.answered(name(&method), outcome.route(), outcome.status.as_u16(), started.elapsed());
    }
    if let Some(fault) = &outcome.fault {
        log_fault(fault, outcome.status);
        context.app.record_fault(fault.component(), fault.kind());
    }
    with_headers(answer, move |headers| {
        headers.insert(REQUEST_ID, id.clone());
    })
}

fn span(context: &State, request: &ServiceRequest, id: &HeaderValue, client: Client) -> Span {
    let method = name(request.method());
    // The name of a span cannot be changed later.
    let route = context.app.is_traced().then(|| expected_route(request)).flatten();
    let name = route.map_or_else(|| Cow::from(method), |route| format!("{method} {route}").into());
    tracing::info_span!(
        "request",
        id = id.to_str().unwrap_or_default(),
        trace_id = Empty,
        otel.name = &*name,
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method,
        http.route = Empty,
        http.response.status_code = Empty,
        url.path = Empty,
        url.scheme = if client.is_secure { "https" } else { "http" },
        error.type = Empty,
    )
}

/// Returns the pattern that the path will match without its trailing slash.
fn expected_route(request: &ServiceRequest) -> Option<String> {
    let path = request.path();
    request.resource_map().match_pattern(if path == "/" { path } else { path.trim_end_matches('/') })
}

/// Joins the trace of the request and stores its context for background work.
fn join_trace(context: &State, request: &ServiceRequest, span: &Span) {
    let headers = request.headers();
    let place = context.app.join_trace(span, &|name| headers.get(name)?.to_str().ok());
    if let Some(place) = place {
        span.record("trace_id", place.trace_id());
        request.extensions_mut().insert(place);
    }
}

/// A request without a response. If the client disconnects, the request is dropped, and this guard logs and counts it.
struct Unanswered {
    context: State,
    span: Span,
    method: Method,
    path: String,
    client: Client,
    started: Instant,
    is_answered: bool,
}

impl Unanswered {
    fn new(context: &State, request: &ServiceRequest, span: &Span, client: Client, started: Instant) -> Self {
        Self {
            context: context.clone(),
            span: span.clone(),
            method: request.method().clone(),
            path: request.path().to_owned(),
            client,
            started,
            is_answered: false,
        }
    }

    fn end(mut self) {
        self.is_answered = true;
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        if self.is_answered {
            return;
        }
        let _entered = self.span.enter();
        let route = table::pattern_of(&self.context.tables, &self.path);
        tracing::info!(
            method = %self.method,
            path = route.map_or(UNKNOWN_PATH, |_| &self.path),
            status = CLIENT_CLOSED,
            client = %self.client.address,
            ms = self.started.elapsed().as_millis() as u64,
            "request"
        );
        self.span.record("http.response.status_code", CLIENT_CLOSED);
        if let Some(metrics) = self.context.metrics() {
            let route = route.unwrap_or(UNKNOWN_PATH);
            metrics.http.answered(name(&self.method), route, CLIENT_CLOSED, self.started.elapsed());
        }
    }
}

/// The response of a request.
struct Outcome<'a> {
    status: StatusCode,
    /// The matched pattern, and the path.
    matched: Option<(String, &'a str)>,
    fault: Option<Fault>,
}

impl<'a> Outcome<'a> {
    fn of(answer: &'a Result<ServiceResponse<BoxBody>, actix_web::Error>) -> Self {
        match answer {
            Ok(response) => {
                let request = response.request();
                Self {
                    status: response.status(),
                    matched: request.match_pattern().map(|route| (route, request.path())),
                    fault: response.response().extensions().get::<Fault>().cloned(),
                }
            }
            Err(error) => {
                let status = error.as_response_error().status_code();
                Self { status, matched: None, fault: None }
            }
        }
    }

    fn path(&self) -> &str {
        self.matched.as_ref().map_or(UNKNOWN_PATH, |(_, path)| path)
    }

    fn route(&self) -> &str {
        self.matched.as_ref().map_or(UNKNOWN_PATH, |(route, _)| route)
    }

    /// Adds the response to the span, for traces.
    fn record(&self, span: &Span) {
        if let Some((route, path)) = &self.matched {
            span.record("http.route", route.as_str());
            span.record("url.path", *path);
        }
        span.record("http.response.status_code", self.status.as_u16());
        if self.status.is_server_error() {
            span.record("otel.status_code", "ERROR");
            match &self.fault {
                Some(fault) => span.record("error.type", fault.kind().code()),
                None => span.record("error.type", self.status.as_str()),
            };
        }
    }
}

/// A method's name. Clients may make up any number of methods; those share one.
fn name(method: &Method) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE"];
    KNOWN.into_iter().find(|known| *known == method.as_str()).unwrap_or("_OTHER")
}

/// Returns the request ID that the client sent, if it is valid: 1 to 128 letters, digits, `.`, `_` and `-`.
fn requested_id(request: &ServiceRequest) -> Option<HeaderValue> {
    let id = request.headers().get(REQUEST_ID)?;
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let is_valid = (1..=ID_MAX).contains(&id.len()) && id.as_bytes().iter().all(plain);
    is_valid.then(|| id.clone())
}

fn new_id(context: &State) -> Result<HeaderValue, actix_web::Error> {
    let random: [u8; 16] = context.app.random();
    let id = format!("{:032x}", u128::from_be_bytes(random));
    HeaderValue::from_str(&id).map_err(actix_web::error::ErrorInternalServerError)
}
