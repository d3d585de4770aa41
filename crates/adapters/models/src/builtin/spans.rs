//! Trace spans of the built-in embedder, like those of back ends.

use tracing::Span;

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
