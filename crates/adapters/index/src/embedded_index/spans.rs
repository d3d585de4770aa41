//! Trace spans of index operations.

use docent_domain::fault::Result;
use tracing::field::Empty;
use tracing::{Instrument, Span};

/// Runs `work` within a span named after the operation.
pub(super) async fn traced<T>(operation: &'static str, work: impl Future<Output = Result<T>>) -> Result<T> {
    let span = span(operation);
    let done = work.instrument(span.clone()).await;
    done.inspect_err(|fault| {
        span.record("otel.status_code", "ERROR");
        span.record("error.type", fault.kind().code());
    })
}

fn span(operation: &'static str) -> Span {
    tracing::info_span!(
        "vector_store",
        otel.name = operation,
        otel.kind = "internal",
        otel.status_code = Empty,
        db.system.name = "tantivy",
        db.operation.name = operation,
        error.type = Empty,
    )
}
