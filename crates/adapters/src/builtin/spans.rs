//! The spans of a trace that tell of what is built in, as those of a back end would.

use tracing::{Span, field::Empty};

/// One answer.
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

/// Embedding passages or a question.
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
