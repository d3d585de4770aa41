//! Rerankers with a `/rerank` endpoint.

mod scores;

#[cfg(test)]
mod tests;

use super::{
    backend::{BackendSettings, CallError, Endpoint, InvalidBackend, read_body},
    fault::{record_fault, record_kind},
    optional::OptionalField,
};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_ports::{
    clock::Clock,
    error::{Component, Fault, FaultKind, Result},
    reranker::Reranker,
};
use serde::Serialize;
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::time::timeout;
use tracing::{Instrument, Span, field::Empty};

/// How long no calls are made after a timeout or a rate limit without `Retry-After`: otherwise each search would wait
/// for the same fault.
const REST: Duration = Duration::from_secs(10);
/// The longest pause that a back end's own word gives.
const MAX_REST: Duration = Duration::from_secs(60);
/// The most bytes of an answer beside the passages themselves, which some back ends repeat.
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
    standing: Mutex<Standing>,
}

/// The outcome of the last call.
#[derive(Default)]
struct Standing {
    fault: Option<Fault>,
    /// End of the cooldown.
    rests_until: Option<DateTime<Utc>>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Body<'a> {
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
            standing: Mutex::default(),
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
    async fn traced(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>> {
        let span = self.span(passages.len());
        let call = timeout(self.timeout, self.call(query, passages)).instrument(span.clone());
        match call.await {
            Ok(Ok(scores)) => Ok(scores),
            Ok(Err(CallError::Told { told, .. })) => {
                record_kind(&span, told.kind);
                let private = std::iter::once(query).chain(passages.iter().copied());
                Err(told.into_fault(Component::Reranker, self.endpoint.key(), private))
            }
            Ok(Err(CallError::Fault(fault))) => {
                record_fault(&span, &fault);
                Err(fault)
            }
            Err(_) => {
                record_kind(&span, FaultKind::Timeout);
                Err(Fault::new(Component::Reranker, FaultKind::Timeout, "no answer in time"))
            }
        }
    }

    /// Makes one call in the form that the back end supports.
    async fn call(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, CallError> {
        let texts = Body::Texts { query, texts: passages, truncate: true };
        if !self.documents.is_sent() {
            return self.post(&texts, passages).await;
        }
        let documents =
            Body::Documents { model: &self.model, query, documents: passages, top_n: passages.len() };
        match self.post(&documents, passages).await {
            Ok(scores) => {
                self.documents.accepted();
                Ok(scores)
            }
            Err(error) if error.is_about_the_request() && self.documents.is_doubtful() => {
                // Where that is no better, the first refusal tells what is wrong.
                let Ok(scores) = self.post(&texts, passages).await else { return Err(error) };
                tracing::info!("the reranking back end knows no documents; they are sent as texts");
                self.documents.refused();
                Ok(scores)
            }
            Err(error) => Err(error),
        }
    }

    async fn post(&self, body: &Body<'_>, passages: &[&str]) -> Result<Vec<f32>, CallError> {
        let text: usize =
            passages.iter().map(|passage| passage.len() * MAX_ESCAPE + MAX_BYTES_PER_SCORE).sum();
        let response = self.endpoint.post(body, self.timeout).await?;
        let answer = read_body(Component::Reranker, response, MAX_BYTES + text).await?;
        Ok(scores::read(&answer, passages.len())?)
    }

    /// The fault to return during a cooldown.
    fn rests(&self) -> Option<Fault> {
        let standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        let pause = (standing.rests_until? - self.endpoint.clock().now()).to_std().ok()?;
        let kind = standing.fault.as_ref()?.kind();
        let message = "it is left alone for a while after its last fault";
        (!pause.is_zero()).then(|| Fault::new(Component::Reranker, kind, message).with_retry_after(pause))
    }

    /// Stores the outcome of a call and starts a cooldown if needed.
    fn note(&self, fault: Option<&Fault>) {
        let now = self.endpoint.clock().now();
        let rest = fault.and_then(|fault| match fault.kind() {
            FaultKind::Timeout | FaultKind::RateLimited => Some(fault.retry_after().unwrap_or(REST)),
            FaultKind::Unavailable
            | FaultKind::InUse
            | FaultKind::Full
            | FaultKind::Rejected
            | FaultKind::InvalidResponse
            | FaultKind::Unconfigured
            | FaultKind::Internal => fault.retry_after(),
        });
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        *standing =
            Standing { fault: fault.cloned(), rests_until: rest.map(|rest| now + rest.min(MAX_REST)) };
    }
}

#[async_trait]
impl Reranker for HttpReranker {
    async fn rerank(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>> {
        if passages.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(fault) = self.rests() {
            return Err(fault);
        }
        let scores = self.traced(query, passages).await;
        self.note(scores.as_ref().err());
        scores
    }

    async fn check(&self) -> Result<()> {
        let standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        standing.fault.clone().map_or(Ok(()), Err)
    }

    fn model(&self) -> &str {
        &self.model
    }
}
