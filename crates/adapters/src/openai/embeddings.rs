//! Dense embeddings from an OpenAI-compatible endpoint.

mod batch;
mod pace;
pub(super) mod vectors;

#[cfg(test)]
mod tests;

use super::{
    backend::{BackendSettings, CallError, Endpoint, InvalidBackend, read_body},
    fault::{Told, record_fault, record_kind},
    optional::OptionalField,
};
use async_trait::async_trait;
pub use batch::BatchLimits;
use docent_domain::retrieval::{Embedding, Passages, QueryEmbedding, SparseVector};
use docent_ports::{
    clock::Clock,
    embedder::Embedder,
    error::{Component, Fault, FaultKind, Result},
};
use pace::Pace;
use serde::Serialize;
use std::{sync::Arc, time::Duration};
use tokio::{task::spawn_blocking, time::timeout};
use tracing::{Instrument, Span, field::Empty};
use vectors::Answer;

/// The longest requested pause that a query waits for, and only once.
const MAX_QUERY_PAUSE: Duration = Duration::from_secs(2);
/// How often a batch may be rate-limited before its fault is returned.
const MAX_HELD_UP: u32 = 8;
/// How often a batch is sent again to a back end that failed on it.
const MAX_RETRIES: u32 = 4;
/// The pause before the first retry; it doubles with each retry.
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// Maximum response size per text: 16,384 dimensions of about twenty digits.
const MAX_BYTES_PER_TEXT: usize = 384 * 1024;
/// Smaller responses are parsed on the async thread: moving them to another one would cost more.
const INLINE_BYTES: usize = 32 * 1024;

/// An embedder behind `POST {base_url}/embeddings`; returns dense vectors only.
///
/// The embedded text of a chunk consists of its document's title, without file extension, and its text. Batches are sent
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
    pace: Pace,
}

#[derive(Debug, Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding_format: Option<&'static str>,
}

fn garbage(message: impl Into<std::borrow::Cow<'static, str>>) -> Fault {
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
            pace: Pace::new(clock),
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
            return Err(garbage("vectors of different dimensions"));
        }
        Ok(vectors)
    }

    /// Embeds a batch, with retries.
    async fn embed_batch(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let (mut held_up, mut failed) = (0, 0);
        loop {
            let turn = self.pace.turn().await.map_err(|pause| {
                let message = "the back end asked for a pause that is not over";
                Fault::new(Component::Embedder, FaultKind::RateLimited, message).with_retry_after(pause)
            })?;
            let told = match self.traced(texts).await {
                Ok(vectors) => {
                    turn.succeeded();
                    return Ok(vectors);
                }
                Err(CallError::Told { told, .. }) => told,
                Err(CallError::Fault(fault)) => return Err(fault),
            };
            if told.kind == FaultKind::RateLimited || (told.passes() && told.pause().is_some()) {
                turn.held_up(told.pause());
                held_up += 1;
                if held_up == MAX_HELD_UP {
                    return Err(self.fault(told, texts));
                }
            } else {
                drop(turn);
                if !told.passes() || failed == MAX_RETRIES {
                    return Err(self.fault(told, texts));
                }
                self.endpoint.clock().sleep(RETRY_PAUSE * (1 << failed)).await;
                failed += 1;
            }
        }
    }

    /// Embeds a query; waits once for a short pause if the back end requests it.
    async fn embed_question(&self, text: String) -> Result<Vec<Vec<f32>>> {
        let texts = [text];
        let told = match self.traced(&texts).await {
            Ok(vectors) => return Ok(vectors),
            Err(CallError::Told { told, .. }) => told,
            Err(CallError::Fault(fault)) => return Err(fault),
        };
        let Some(pause) = told.pause().filter(|_| told.kind == FaultKind::RateLimited) else {
            return Err(self.fault(told, &texts));
        };
        self.pace.pause(pause);
        if pause > MAX_QUERY_PAUSE {
            return Err(self.fault(told, &texts));
        }
        self.endpoint.clock().sleep(pause).await;
        self.traced(&texts).await.map_err(|error| match error {
            CallError::Told { told, .. } => self.fault(told, &texts),
            CallError::Fault(fault) => fault,
        })
    }

    fn fault(&self, told: Told, texts: &[String]) -> Fault {
        told.into_fault(Component::Embedder, self.endpoint.key(), texts.iter().map(String::as_str))
    }

    /// Makes one call within its span.
    async fn traced(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, CallError> {
        let span = self.span();
        let answer = self.call_and_read(texts, &span).instrument(span.clone()).await;
        answer.inspect_err(|error| match error {
            CallError::Told { told, .. } => record_kind(&span, told.kind),
            CallError::Fault(fault) => record_fault(&span, fault),
        })
    }

    async fn call_and_read(&self, texts: &[String], span: &Span) -> Result<Vec<Vec<f32>>, CallError> {
        let body = self.call(texts).await?;
        let (count, size) = (texts.len(), body.len());
        let read = move || vectors::read(&body, count);
        let Answer { vectors, model, tokens } = if size > INLINE_BYTES {
            spawn_blocking(read).await.map_err(|error| {
                Fault::new(Component::Embedder, FaultKind::Internal, "reading vectors").caused_by(error)
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
        let wants_base64 = self.base64.is_sent();
        match self.post(texts, wants_base64).await {
            Ok(answer) => {
                if wants_base64 {
                    self.base64.accepted();
                }
                Ok(answer)
            }
            Err(error) if wants_base64 && error.is_about_the_request() && self.base64.is_doubtful() => {
                let answer = self.post(texts, false).await?;
                tracing::info!("the embeddings back end knows no encoding_format; vectors come as text");
                self.base64.refused();
                Ok(answer)
            }
            Err(error) => Err(error),
        }
    }

    async fn post(&self, texts: &[String], wants_base64: bool) -> Result<Vec<u8>, CallError> {
        let body =
            Body { model: &self.model, input: texts, encoding_format: wants_base64.then_some("base64") };
        let call = async {
            let response = self.endpoint.post(&body, self.timeout).await?;
            Ok(read_body(Component::Embedder, response, texts.len() * MAX_BYTES_PER_TEXT).await?)
        };
        match timeout(self.timeout, call).await {
            Ok(answer) => answer,
            Err(_) => Err(Fault::new(Component::Embedder, FaultKind::Timeout, "no answer in time").into()),
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
        let vectors = self.embed_question(batch::query_text(query)).await?;
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
        format!("{} at {}", self.model, self.endpoint.place())
    }
}
