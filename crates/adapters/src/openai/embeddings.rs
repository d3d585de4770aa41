//! Embeddings.

mod batch;
mod vectors;

#[cfg(test)]
mod tests;

use super::{
    backend::{BackendSettings, CallError, Endpoint, InvalidBackend},
    fault::{self, record_fault},
    optional::OptionalField,
};
use async_trait::async_trait;
pub use batch::BatchLimits;
use docent_domain::retrieval::{Embedding, Passages, QueryEmbedding, SparseVector};
use docent_ports::{
    clock::Clock,
    embedder::Embedder,
    error::{Fault, FaultKind, Part, Result},
};
use reqwest::Response;
use serde::Serialize;
use std::{sync::Arc, time::Duration};
use tokio::{task::spawn_blocking, time::timeout};
use tracing::{Instrument, Span, field::Empty};
use vectors::Answer;

/// A back end that asks for a short pause is given it once; a longer one is the caller's matter.
const MAX_PAUSE: Duration = Duration::from_secs(2);
/// The most bytes of an answer for each text: 16,384 dimensions of some twenty digits.
const MAX_BYTES_PER_TEXT: usize = 384 * 1024;
/// Smaller answers are read in place: moving them to another thread would cost more.
const INLINE_BYTES: usize = 32 * 1024;

/// Makes the dense part of embeddings by `POST {base_url}/embeddings`, and no sparse one.
///
/// What is embedded of a chunk is its document's title, without the extension of a file's name, and its text. Texts are
/// sent in batches, one after the other; vectors come back with unit length, all with the same
/// number of dimensions.
pub struct OpenAiEmbedder {
    endpoint: Endpoint,
    model: String,
    timeout: Duration,
    limits: BatchLimits,
    base64: OptionalField,
}

#[derive(Debug, Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding_format: Option<&'static str>,
}

fn garbage(message: impl Into<std::borrow::Cow<'static, str>>) -> Fault {
    Fault::new(Part::Embedder, FaultKind::Garbage, message)
}

impl OpenAiEmbedder {
    /// An embedder on the back end that `settings` describe. Nothing is sent yet.
    ///
    /// # Errors
    /// When the settings are of no use.
    pub fn new(
        settings: &BackendSettings,
        limits: BatchLimits,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, InvalidBackend> {
        Ok(Self {
            endpoint: Endpoint::new(Part::Embedder, settings, &["embeddings"], clock)?,
            model: settings.model.clone(),
            timeout: settings.timeout,
            limits,
            base64: OptionalField::default(),
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
            let span = self.span();
            let embedded = self.embed_batch(batch, &span).instrument(span.clone()).await;
            vectors.extend(embedded.inspect_err(|fault| record_fault(&span, fault))?);
        }
        let dimensions = vectors.first().map_or(0, Vec::len);
        if vectors.iter().any(|vector| vector.len() != dimensions) {
            return Err(garbage("vectors of different dimensions"));
        }
        Ok(vectors)
    }

    async fn embed_batch(&self, texts: &[String], span: &Span) -> Result<Vec<Vec<f32>>> {
        let body = match self.call_patiently(texts).await {
            Ok(body) => body,
            Err(CallError::Fault(fault)) => return Err(fault),
            Err(CallError::Told { told, .. }) => {
                let private = texts.iter().map(String::as_str);
                return Err(told.into_fault(Part::Embedder, self.endpoint.key(), private));
            }
        };
        let (count, size) = (texts.len(), body.len());
        let read = move || vectors::read(&body, count);
        let Answer { vectors, model, tokens } = if size > INLINE_BYTES {
            spawn_blocking(read).await.map_err(|error| {
                Fault::new(Part::Embedder, FaultKind::Internal, "reading vectors").caused_by(error)
            })??
        } else {
            read()?
        };
        span.record("gen_ai.response.model", model);
        span.record("gen_ai.usage.input_tokens", tokens);
        span.record("gen_ai.embeddings.dimension.count", vectors.first().map(Vec::len));
        Ok(vectors)
    }

    /// One call, and a second one after a short pause if the back end asks for that.
    async fn call_patiently(&self, texts: &[String]) -> Result<Vec<u8>, CallError> {
        let pause = match self.call(texts).await {
            Err(CallError::Told { told, .. }) if told.kind == FaultKind::RateLimited => match told.pause() {
                Some(pause) if pause <= MAX_PAUSE => pause,
                _ => return Err(CallError::Told { told, status: 429 }),
            },
            other => return other,
        };
        self.endpoint.clock().sleep(pause).await;
        self.call(texts).await
    }

    /// One call, without `encoding_format` when the back end does not know it.
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
            Ok(read_body(response, texts.len() * MAX_BYTES_PER_TEXT).await?)
        };
        match timeout(self.timeout, call).await {
            Ok(answer) => answer,
            Err(_) => Err(Fault::new(Part::Embedder, FaultKind::Timeout, "no answer in time").into()),
        }
    }
}

async fn read_body(mut response: Response, limit: usize) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(bytes)) if body.len() + bytes.len() <= limit => body.extend_from_slice(&bytes),
            Ok(Some(_)) => return Err(garbage(format!("the answer is longer than {limit} bytes"))),
            Ok(None) => return Ok(body),
            Err(error) => return Err(fault::of_transport(Part::Embedder, error)),
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
        let vectors = self.embed(&[batch::query_text(query)]).await?;
        Ok(QueryEmbedding { sparse: None, dense: vectors.into_iter().next() })
    }

    fn model(&self) -> &str {
        &self.model
    }
}
