//! Trace context between processes.

use tracing::Span;

/// Carries the context of traces across process boundaries, in the W3C headers `traceparent` and `tracestate`.
pub trait TracePropagator: Send + Sync {
    /// Makes a span part of the trace that headers name; without one it starts a trace. Call it before the span is
    /// entered. `header` returns the value of a header by its name in lower case.
    fn extract<'a>(&self, span: &Span, header: &dyn Fn(&str) -> Option<&'a str>);

    /// Passes the headers that continue the trace of a span to `add`; none when the span belongs to no trace.
    fn inject(&self, span: &Span, add: &mut dyn FnMut(&str, &str));
}
