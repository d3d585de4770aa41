//! The spans of a trace that tell of calls of the server, and how calls carry on the trace.

use docent_ports::error::Result;
use tonic::metadata::{AsciiMetadataKey, MetadataMap};
use tracing::{Instrument, Span, field::Empty};

/// Names the headers that each call carries, such as the context of a trace: it calls what it is given with
/// each header's name, in lower case, and value. It runs within the call's span.
pub type HeaderHook = fn(&mut dyn FnMut(&str, &str));

/// Does `work` within a span of this operation's name.
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

/// Adds the hook's headers. One that metadata cannot hold is left out.
pub(super) fn add_headers(hook: HeaderHook, metadata: &mut MetadataMap) {
    hook(&mut |name, value| {
        if let (Ok(name), Ok(value)) = (name.parse::<AsciiMetadataKey>(), value.parse()) {
            metadata.insert(name, value);
        }
    });
}
