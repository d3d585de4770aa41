//! Trace spans of calls, and propagation of the trace context.

use docent_domain::fault::Result;
use docent_ports::trace::TracePropagator;
use tonic::metadata::{AsciiMetadataKey, MetadataMap};
use tracing::field::Empty;
use tracing::{Instrument, Span};

/// Runs `work` within a span named after the operation.
pub(super) async fn traced<T>(
    operation: &'static str,
    collection: &str,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let span = span(operation, collection);
    let done = work.instrument(span.clone()).await;
    done.inspect_err(|fault| {
        span.record("otel.status_code", "ERROR");
        span.record("error.type", fault.kind().code());
    })
}

fn span(operation: &'static str, collection: &str) -> Span {
    tracing::info_span!(
        "vector_store",
        otel.name = format_args!("{operation} {collection}"),
        otel.kind = "client",
        otel.status_code = Empty,
        db.system.name = "qdrant",
        db.operation.name = operation,
        db.collection.name = collection,
        error.type = Empty,
    )
}

/// Adds the context of the current trace, except for headers that are not valid gRPC metadata.
pub(super) fn add_headers(traces: &dyn TracePropagator, metadata: &mut MetadataMap) {
    traces.inject(&Span::current(), &mut |name, value| {
        if let (Ok(name), Ok(value)) = (name.parse::<AsciiMetadataKey>(), value.parse()) {
            metadata.insert(name, value);
        }
    });
}
