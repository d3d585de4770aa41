//! Dense embeddings from an OpenAI-compatible endpoint.

mod batch;
mod throttle;
pub(super) mod vectors;

#[cfg(test)]
mod tests;

use super::backend::{BackendSettings, Endpoint, InvalidBackend, read_body};
use super::fault::{BackendError, CallError, record_fault, record_kind};
use super::optional::OptionalField;
use async_trait::async_trait;
pub use batch::BatchLimits;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::retrieval::{Embedding, Passages, QueryEmbedding, SparseVector};
use docent_ports::clock::Clock;
use docent_ports::embedder::Embedder;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use throttle::Throttle;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tracing::field::Empty;
use tracing::{Instrument, Span};
use vectors::EmbeddingsResponse;

/// The longest requested pause that a query waits for, and only once.
const MAX_QUERY_PAUSE: Duration = Duration::from_secs(2);
/// How often a batch may be rate-limited before its fault is returned.
const MAX_RATE_LIMITED: u32 = 8;
/// How often a batch is retried after other transient errors.
const MAX_RETRIES: u32 = 4;
/// The pause before the first retry; it doubles with each retry.
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// Maximum response size per text: 16,384 dimensions of about twenty digits.
const MAX_BYTES_PER_TEXT: usize = 384 * 1024;
/// Smaller responses are parsed on the async thread: moving them to another one would cost more.
const INLINE_BYTES: usize = 32 * 1024;

/// An embedder behind `POST {base_url}/embeddings`; returns dense vectors only.
///
/// The embedded text of a chunk consists of its document's title, without file extension, its line of context and its text. Batches are sent
/// sequentially. All returned vectors have unit length and the same number of dimensions.
///
/// Batches of all callers share one throttle, which waits for up to a minute at a time; failed batches are retried. Queries
/// bypass the throttle, because a user waits for them.
pub struct OpenAiEmbedder {
    endpoint: Endpoint,
    model: String,
    timeout: Duration,
    limits: BatchLimits,
    base64: OptionalField,
    throttle: Throttle,
}

#[derive(Debug, Serialize)]
struct RequestBody<'a> {
    model: &'a str,
    input: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding_format: Option<&'static str>,
}

fn invalid_response(message: impl Into<std::borrow::Cow<'static, str>>) -> Fault {
    Fault::new(Component::Embedder, FaultKind::InvalidResponse, message)
}

impl OpenAiEmbedder {
    /// Creates the embedder without connecting.
    ///
    /// # Errors
    /// If the settings are invalid.
    pub fn new(
        settings: &BackendSettings,
        limits: BatchLimits,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, InvalidBackend> {
        Ok(Self {
            endpoint: Endpoint::new(Component::Embedder, settings, &["embeddings"], Arc::clone(&clock))?,
            model: settings.model.clone(),
            timeout: settings.timeout,
            limits,
            base64: OptionalField::default(),
            throttle: Throttle::new(clock),
        })
    }

    fn span(&self) -> Span {
        let (host, port) = self.endpoint.address();
        tracing::info_span!(
            "embeddings",
            otel.name = format_args!("embeddings {}", self.model),
            otel.kind = "client",
            otel.status_code = Empty,
            gen_ai.operation.name = "embeddings",
            gen_ai.provider.name = "openai",
            gen_ai.request.model = self.model,
            gen_ai.response.model = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.embeddings.dimension.count = Empty,
            server.address = host,
            server.port = port,
            error.type = Empty,
        )
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let mut vectors: Vec<Vec<f32>> = Vec::with_capacity(texts.len());
        for batch in batch::batches(texts, self.limits) {
            vectors.extend(self.embed_batch(batch).await?);
        }
        let dimensions = vectors.first().map_or(0, Vec::len);
        if vectors.iter().any(|vector| vector.len() != dimensions) {
            return Err(invalid_response("the vectors have different dimensions"));
        }
        Ok(vectors)
    }

    /// Embeds a batch, with retries.
    async fn embed_batch(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let (mut rate_limits, mut failures) = (0, 0);
        loop {
            let permit = self.throttle.acquire().await.map_err(|pause| {
                let message = "the pause requested by the back end is not over";
                Fault::new(Component::Embedder, FaultKind::RateLimited, message).with_retry_after(pause)
            })?;
            let error = match self.call_in_span(texts).await {
                Ok(vectors) => {
                    permit.succeeded();
                    return Ok(vectors);
                }
                Err(CallError::Backend(error)) => error,
                Err(CallError::Fault(fault)) => return Err(fault),
            };
            if error.kind == FaultKind::RateLimited || (error.is_transient() && error.pause().is_some()) {
                permit.rate_limited(error.pause());
                rate_limits += 1;
                if rate_limits == MAX_RATE_LIMITED {
                    return Err(self.fault(error, texts));
                }
            } else {
                drop(permit);
                if !error.is_transient() || failures == MAX_RETRIES {
                    return Err(self.fault(error, texts));
                }
                self.endpoint.clock().sleep(RETRY_PAUSE * (1 << failures)).await;
                failures += 1;
            }
        }
    }

    /// Embeds a query; waits once for a short pause if the back end requests it.
    async fn embed_query_text(&self, text: String) -> Result<Vec<Vec<f32>>> {
        let texts = [text];
        let error = match self.call_in_span(&texts).await {
            Ok(vectors) => return Ok(vectors),
            Err(CallError::Backend(error)) => error,
            Err(CallError::Fault(fault)) => return Err(fault),
        };
        let Some(pause) = error.pause().filter(|_| error.kind == FaultKind::RateLimited) else {
            return Err(self.fault(error, &texts));
        };
        self.throttle.pause(pause);
        if pause > MAX_QUERY_PAUSE {
            return Err(self.fault(error, &texts));
        }
        self.endpoint.clock().sleep(pause).await;
        self.call_in_span(&texts).await.map_err(|error| match error {
            CallError::Backend(error) => self.fault(error, &texts),
            CallError::Fault(fault) => fault,
        })
    }

    fn fault(&self, error: BackendError, texts: &[String]) -> Fault {
        error.into_fault(Component::Embedder, self.endpoint.key(), texts.iter().map(String::as_str))
    }

    /// Makes one call within its span.
    async fn call_in_span(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, CallError> {
        let span = self.span();
        let answer = self.call_and_read(texts, &span).instrument(span.clone()).await;
        answer.inspect_err(|error| match error {
            CallError::Backend(error) => record_kind(&span, error.kind),
            CallError::Fault(fault) => record_fault(&span, fault),
        })
    }

    async fn call_and_read(&self, texts: &[String], span: &Span) -> Result<Vec<Vec<f32>>, CallError> {
        let body = self.call(texts).await?;
        let (count, size) = (texts.len(), body.len());
        let read = move || vectors::read(&body, count);
        let EmbeddingsResponse { vectors, model, tokens } = if size > INLINE_BYTES {
            spawn_blocking(read).await.map_err(|error| {
                Fault::new(Component::Embedder, FaultKind::Internal, "cannot parse the vectors")
                    .caused_by(error)
            })??
        } else {
            read()?
        };
        span.record("gen_ai.response.model", model);
        span.record("gen_ai.usage.input_tokens", tokens);
        span.record("gen_ai.embeddings.dimension.count", vectors.first().map(Vec::len));
        Ok(vectors)
    }

    /// Makes one call, without `encoding_format` if the back end does not support it.
    async fn call(&self, texts: &[String]) -> Result<Vec<u8>, CallError> {
        let unsupported =
            "the embeddings back end does not support encoding_format; vectors are received as JSON numbers";
        self.base64.call(|wants_base64| self.post(texts, wants_base64), unsupported).await
    }

    async fn post(&self, texts: &[String], wants_base64: bool) -> Result<Vec<u8>, CallError> {
        let body = RequestBody {
            model: &self.model,
            input: texts,
            encoding_format: wants_base64.then_some("base64"),
        };
        let call = async {
            let response = self.endpoint.post(&body, self.timeout).await?;
            Ok(read_body(Component::Embedder, response, texts.len() * MAX_BYTES_PER_TEXT).await?)
        };
        match timeout(self.timeout, call).await {
            Ok(answer) => answer,
            Err(_) => {
                Err(Fault::new(Component::Embedder, FaultKind::Timeout, "no response within the timeout")
                    .into())
            }
        }
    }
}

#[async_trait]
impl Embedder for OpenAiEmbedder {
    async fn embed_passages(&self, passages: Passages<'_>) -> Result<Vec<Embedding>> {
        let vectors = self.embed(&batch::passage_texts(passages)).await?;
        Ok(vectors.into_iter().map(|vector| Embedding { sparse: None, dense: Some(vector) }).collect())
    }

    async fn embed_sparse(&self, _passages: Passages<'_>) -> Result<Option<Vec<SparseVector>>> {
        Ok(None)
    }

    async fn embed_query(&self, query: &str) -> Result<QueryEmbedding> {
        let vectors = self.embed_query_text(batch::query_text(query)).await?;
        Ok(QueryEmbedding { sparse: None, dense: vectors.into_iter().next() })
    }

    fn makes_vectors(&self) -> bool {
        true
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn texts(&self, passages: Passages<'_>) -> Option<Vec<String>> {
        Some(batch::passage_texts(passages))
    }

    fn batch_size(&self, texts: &[String]) -> usize {
        batch::batches(texts, self.limits).next().map_or(1, <[String]>::len)
    }

    fn vector_space(&self) -> String {
        format!("{} at {}", self.model, self.endpoint.display_url())
    }
}
