//! Rerankers with a `/rerank` endpoint.

mod scores;

#[cfg(test)]
mod tests;

use super::backend::{BackendSettings, Endpoint, InvalidBackend, read_body};
use super::fault::{CallError, record_fault, record_kind};
use super::optional::OptionalField;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_ports::clock::Clock;
use docent_ports::reranker::Reranker;
use serde::Serialize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::timeout;
use tracing::field::Empty;
use tracing::{Instrument, Span};

/// How long no calls are made after a timeout or a rate limit without `Retry-After`: otherwise each search would wait
/// for the same fault.
const COOLDOWN: Duration = Duration::from_secs(10);
/// Upper bound of the pause that a back end requests.
const MAX_COOLDOWN: Duration = Duration::from_secs(60);
/// Maximum response size apart from the passages, which some back ends repeat.
const MAX_BYTES: usize = 64 * 1024;
/// Maximum response size per score.
const MAX_BYTES_PER_SCORE: usize = 512;
/// Maximum number of bytes that JSON needs for one byte of text.
const MAX_ESCAPE: usize = 6;

/// A reranker behind `POST {base_url}/rerank`. Calls are not retried, because a user waits for them.
///
/// Passages are sent as `documents`, or as `texts` if the back end rejects that, as text-embeddings-inference does. During
/// a cooldown calls fail immediately.
pub struct HttpReranker {
    endpoint: Endpoint,
    model: String,
    timeout: Duration,
    documents: OptionalField,
    state: Mutex<BackendState>,
}

/// The outcome of the last call.
#[derive(Default)]
struct BackendState {
    fault: Option<Fault>,
    /// End of the cooldown.
    paused_until: Option<DateTime<Utc>>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum RequestBody<'a> {
    Documents { model: &'a str, query: &'a str, documents: &'a [&'a str], top_n: usize },
    Texts { query: &'a str, texts: &'a [&'a str], truncate: bool },
}

impl HttpReranker {
    /// Creates the reranker without connecting.
    ///
    /// # Errors
    /// If the settings are invalid.
    pub fn new(settings: &BackendSettings, clock: Arc<dyn Clock>) -> Result<Self, InvalidBackend> {
        Ok(Self {
            endpoint: Endpoint::new(Component::Reranker, settings, &["rerank"], clock)?,
            model: settings.model.clone(),
            timeout: settings.timeout,
            documents: OptionalField::default(),
            state: Mutex::default(),
        })
    }

    fn span(&self, passages: usize) -> Span {
        let (host, port) = self.endpoint.address();
        tracing::info_span!(
            "rerank",
            otel.name = format_args!("rerank {}", self.model),
            otel.kind = "client",
            otel.status_code = Empty,
            gen_ai.operation.name = "rerank",
            gen_ai.request.model = self.model,
            docent.rerank.passages = passages,
            server.address = host,
            server.port = port,
            error.type = Empty,
        )
    }

    /// Makes one call within its span.
    async fn call_in_span(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>> {
        let span = self.span(passages.len());
        let call = timeout(self.timeout, self.call(query, passages)).instrument(span.clone());
        match call.await {
            Ok(Ok(scores)) => Ok(scores),
            Ok(Err(CallError::Backend(error))) => {
                record_kind(&span, error.kind);
                let private = std::iter::once(query).chain(passages.iter().copied());
                Err(error.into_fault(Component::Reranker, self.endpoint.key(), private))
            }
            Ok(Err(CallError::Fault(fault))) => {
                record_fault(&span, &fault);
                Err(fault)
            }
            Err(_) => {
                record_kind(&span, FaultKind::Timeout);
                Err(Fault::new(Component::Reranker, FaultKind::Timeout, "no response within the timeout"))
            }
        }
    }

    /// Makes one call in the form that the back end supports.
    async fn call(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, CallError> {
        let texts = RequestBody::Texts { query, texts: passages, truncate: true };
        if !self.documents.is_sent() {
            return self.post(&texts, passages).await;
        }
        let documents =
            RequestBody::Documents { model: &self.model, query, documents: passages, top_n: passages.len() };
        match self.post(&documents, passages).await {
            Ok(scores) => {
                self.documents.mark_supported();
                Ok(scores)
            }
            Err(error) if error.is_invalid_request() && self.documents.is_unverified() => {
                // If both forms are rejected, the first error is reported.
                let Ok(scores) = self.post(&texts, passages).await else { return Err(error) };
                tracing::info!(
                    "the reranking back end does not support `documents`; passages are sent as `texts`"
                );
                self.documents.mark_unsupported();
                Ok(scores)
            }
            Err(error) => Err(error),
        }
    }

    async fn post(&self, body: &RequestBody<'_>, passages: &[&str]) -> Result<Vec<f32>, CallError> {
        let text: usize =
            passages.iter().map(|passage| passage.len() * MAX_ESCAPE + MAX_BYTES_PER_SCORE).sum();
        let response = self.endpoint.post(body, self.timeout).await?;
        let answer = read_body(Component::Reranker, response, MAX_BYTES + text).await?;
        Ok(scores::read(&answer, passages.len())?)
    }

    /// The fault to return during a cooldown.
    fn cooldown_fault(&self) -> Option<Fault> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let pause = (state.paused_until? - self.endpoint.clock().now()).to_std().ok()?;
        let kind = state.fault.as_ref()?.kind();
        let message = "no calls are made for a while after the last fault";
        (!pause.is_zero()).then(|| Fault::new(Component::Reranker, kind, message).with_retry_after(pause))
    }

    /// Stores the outcome of a call and starts a cooldown if needed.
    fn record_outcome(&self, fault: Option<&Fault>) {
        let now = self.endpoint.clock().now();
        let pause = fault.and_then(|fault| match fault.kind() {
            FaultKind::Timeout | FaultKind::RateLimited => Some(fault.retry_after().unwrap_or(COOLDOWN)),
            FaultKind::Unavailable
            | FaultKind::InUse
            | FaultKind::Full
            | FaultKind::Rejected
            | FaultKind::InvalidResponse
            | FaultKind::Unconfigured
            | FaultKind::Internal => fault.retry_after(),
        });
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = BackendState {
            fault: fault.cloned(),
            paused_until: pause.map(|pause| now + pause.min(MAX_COOLDOWN)),
        };
    }
}

#[async_trait]
impl Reranker for HttpReranker {
    async fn rerank(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>> {
        if passages.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(fault) = self.cooldown_fault() {
            return Err(fault);
        }
        let scores = self.call_in_span(query, passages).await;
        self.record_outcome(scores.as_ref().err());
        scores
    }

    async fn check(&self) -> Result<()> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.fault.clone().map_or(Ok(()), Err)
    }

    fn model(&self) -> &str {
        &self.model
    }
}
