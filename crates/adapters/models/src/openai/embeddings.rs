//! Dense embeddings from an OpenAI-compatible endpoint.

mod batch;
mod divide;
mod refusal;
mod shorten;
mod throttle;
pub(super) mod vectors;

#[cfg(test)]
mod tests;

use super::backend::{BackendSettings, Endpoint, InvalidBackend, read_body};
use super::fault::{CallError, record_fault, record_kind};
use super::optional::OptionalField;
use async_trait::async_trait;
pub use batch::BatchLimits;
use divide::{Learnt, moved};
use docent_domain::embedding_model::{EmbeddingModel, Prefixes};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::retrieval::{Embedding, Passages, QueryEmbedding, SparseVector};
use docent_ports::clock::Clock;
use docent_ports::embedder::Embedder;
use refusal::Cause;
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
/// The embedded text of a chunk consists of the prefix of the model, its document's title, without file
/// extension, and its text. Batches are sent sequentially. All returned vectors have unit
/// length and the same number of dimensions.
///
/// Batches of all callers share one throttle, which waits for up to a minute at a time; failed batches are
/// retried. Batches that are refused are divided, and texts that are too long are shortened; what the back
/// end accepts is remembered. Queries bypass the throttle, because a user waits for them.
pub struct OpenAiEmbedder {
    endpoint: Endpoint,
    model: EmbeddingModel,
    /// The name of the model with its prefixes.
    identity: String,
    timeout: Duration,
    limits: BatchLimits,
    learnt: Learnt,
    base64: OptionalField,
    throttle: Throttle,
}

#[derive(Debug, Serialize)]
struct RequestBody<'a> {
    model: &'a str,
    input: &'a [&'a str],
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding_format: Option<&'static str>,
}

/// The vector of a text.
#[derive(Debug)]
struct TextVector {
    vector: Vec<f32>,
    /// Whether it is the vector of the beginning of the text.
    is_shortened: bool,
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
            model: EmbeddingModel { name: settings.model.clone(), prefixes: Prefixes::default() },
            identity: settings.model.clone(),
            timeout: settings.timeout,
            limits,
            learnt: Learnt::default(),
            base64: OptionalField::default(),
            throttle: Throttle::new(clock),
        })
    }

    /// Puts these prefixes before the texts. They are part of the model's name in records.
    #[must_use]
    pub fn with_prefixes(self, prefixes: Prefixes) -> Self {
        let model = EmbeddingModel { prefixes, ..self.model };
        Self { identity: model.to_string(), model, ..self }
    }

    fn span(&self) -> Span {
        let (host, port) = self.endpoint.address();
        tracing::info_span!(
            "embeddings",
            otel.name = format_args!("embeddings {}", self.model.name),
            otel.kind = "client",
            otel.status_code = Empty,
            gen_ai.operation.name = "embeddings",
            gen_ai.provider.name = "openai",
            gen_ai.request.model = self.model.name,
            gen_ai.response.model = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.embeddings.dimension.count = Empty,
            server.address = host,
            server.port = port,
            error.type = Empty,
        )
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<TextVector>> {
        let mut vectors: Vec<TextVector> = Vec::with_capacity(texts.len());
        let mut rest = texts;
        while !rest.is_empty() {
            let batch;
            (batch, rest) = rest.split_at(batch::size(rest, self.learnt.within(self.limits)));
            let embedded = self.embed_batch(batch).await;
            let done = vectors.len();
            vectors.extend(embedded.map_err(|fault| moved(fault, done))?);
        }
        let dimensions = vectors.first().map_or(0, |text| text.vector.len());
        if vectors.iter().any(|text| text.vector.len() != dimensions) {
            return Err(invalid_response("the vectors have different dimensions"));
        }
        Ok(vectors)
    }

    /// Makes a call. It is repeated while the rate is limited, and up to `retries` times after other
    /// transient errors that the back end reports.
    async fn call_with_retries(&self, texts: &[&str], retries: u32) -> Result<Vec<Vec<f32>>, CallError> {
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
                Err(fault) => return Err(fault),
            };
            if error.kind == FaultKind::RateLimited || (error.is_transient() && error.pause().is_some()) {
                permit.rate_limited(error.pause());
                rate_limits += 1;
                if rate_limits == MAX_RATE_LIMITED {
                    return Err(error.into());
                }
                continue;
            }
            drop(permit);
            let error = CallError::Backend(error);
            if Cause::of(&error) != Cause::Failure || failures == retries {
                return Err(error);
            }
            self.endpoint.clock().sleep(RETRY_PAUSE * (1 << failures)).await;
            failures += 1;
        }
    }

    /// Embeds a query; waits once for a short pause if the back end requests it.
    async fn embed_query_text(&self, text: &str) -> Result<Vec<f32>> {
        let texts = [batch::beginning(text, self.text_bytes())];
        let mut called = self.call_in_span(&texts).await;
        if let Err(CallError::Backend(error)) = &called
            && error.kind == FaultKind::RateLimited
            && let Some(pause) = error.pause()
        {
            self.throttle.pause(pause);
            if pause <= MAX_QUERY_PAUSE {
                self.endpoint.clock().sleep(pause).await;
                called = self.call_in_span(&texts).await;
            }
        }
        match called {
            Ok(vectors) => vectors.into_iter().next().ok_or_else(|| invalid_response("there is no vector")),
            Err(error) if Cause::of(&error) == Cause::Size => {
                let [text] = texts;
                Ok(self.embed_beginning(text, error).await?.vector)
            }
            Err(error) => Err(self.fault(error, &texts)),
        }
    }

    fn fault(&self, error: CallError, texts: &[&str]) -> Fault {
        match error {
            CallError::Backend(error) => {
                error.into_fault(Component::Embedder, self.endpoint.key(), texts.iter().copied())
            }
            CallError::Fault(fault) => fault,
        }
    }

    /// Makes one call within its span.
    async fn call_in_span(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, CallError> {
        let span = self.span();
        let answer = self.call_and_read(texts, &span).instrument(span.clone()).await;
        answer.inspect_err(|error| match error {
            CallError::Backend(error) => record_kind(&span, error.kind),
            CallError::Fault(fault) => record_fault(&span, fault),
        })
    }

    async fn call_and_read(&self, texts: &[&str], span: &Span) -> Result<Vec<Vec<f32>>, CallError> {
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
    async fn call(&self, texts: &[&str]) -> Result<Vec<u8>, CallError> {
        let unsupported =
            "the embeddings back end does not support encoding_format; vectors are received as JSON numbers";
        self.base64.call(|wants_base64| self.post(texts, wants_base64), unsupported).await
    }

    async fn post(&self, texts: &[&str], wants_base64: bool) -> Result<Vec<u8>, CallError> {
        let body = RequestBody {
            model: &self.model.name,
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
        let vectors = self.embed(&batch::passage_texts(passages, &self.model.prefixes.document)).await?;
        let embedding = |TextVector { vector, is_shortened }| Embedding {
            sparse: None,
            dense: Some(vector),
            is_shortened,
        };
        Ok(vectors.into_iter().map(embedding).collect())
    }

    async fn embed_sparse(&self, _passages: Passages<'_>) -> Result<Option<Vec<SparseVector>>> {
        Ok(None)
    }

    async fn embed_query(&self, query: &str) -> Result<QueryEmbedding> {
        let text = batch::query_text(query, &self.model.prefixes.query);
        Ok(QueryEmbedding { sparse: None, dense: Some(self.embed_query_text(&text).await?) })
    }

    fn makes_vectors(&self) -> bool {
        true
    }

    fn model(&self) -> &str {
        &self.identity
    }

    fn texts(&self, passages: Passages<'_>) -> Option<Vec<String>> {
        Some(batch::passage_texts(passages, &self.model.prefixes.document))
    }

    fn batch_size(&self, texts: &[String]) -> usize {
        batch::size(texts, self.learnt.within(self.limits))
    }

    /// The prefix is part of the texts.
    fn vector_space(&self) -> String {
        let space = format!("{} at {}", self.model.name, self.endpoint.display_url());
        match self.limits.text_tokens {
            Some(tokens) => format!("{space}, {tokens} tokens"),
            None => space,
        }
    }
}
