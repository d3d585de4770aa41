//! Trace spans of the built-in embedder and answerer, like those of back ends.

use tracing::Span;
use tracing::field::Empty;

/// Creates the span of one answer.
pub(super) fn chat(model: &str) -> Span {
    tracing::info_span!(
        "chat",
        otel.name = format_args!("chat {model}"),
        otel.kind = "internal",
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = "docent",
        gen_ai.request.model = model,
        gen_ai.response.finish_reasons = Empty,
    )
}

/// Creates the span of embedding passages or a query.
pub(super) fn embeddings(model: &str) -> Span {
    tracing::info_span!(
        "embeddings",
        otel.name = format_args!("embeddings {model}"),
        otel.kind = "internal",
        gen_ai.operation.name = "embeddings",
        gen_ai.provider.name = "docent",
        gen_ai.request.model = model,
    )
}
