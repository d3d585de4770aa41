//! Trace context in the W3C headers `traceparent` and `tracestate`.

use docent_ports::trace::TracePropagator;
use opentelemetry::Context;
use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator};
use opentelemetry::trace::TraceContextExt;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// Propagates the context of OpenTelemetry spans.
pub(crate) struct W3cPropagator;

impl TracePropagator for W3cPropagator {
    fn extract<'a>(&self, span: &Span, header: &dyn Fn(&str) -> Option<&'a str>) {
        let context =
            TraceContextPropagator::new().extract_with_context(&Context::new(), &HeaderExtractor(header));
        if context.span().span_context().is_valid() {
            // Fails only for a span that no layer records or that has started.
            let _ = span.set_parent(context);
        }
    }

    fn inject(&self, span: &Span, add: &mut dyn FnMut(&str, &str)) {
        let context = span.context();
        if context.span().span_context().is_valid() {
            TraceContextPropagator::new().inject_context(&context, &mut HeaderInjector(add));
        }
    }
}

struct HeaderExtractor<'f, 'a>(&'f dyn Fn(&str) -> Option<&'a str>);

impl Extractor for HeaderExtractor<'_, '_> {
    fn get(&self, key: &str) -> Option<&str> {
        (self.0)(key)
    }

    fn keys(&self) -> Vec<&str> {
        Vec::new()
    }
}

struct HeaderInjector<'f>(&'f mut dyn FnMut(&str, &str));

impl Injector for HeaderInjector<'_> {
    fn set(&mut self, key: &str, value: String) {
        if !value.is_empty() {
            (self.0)(key, &value);
        }
    }
}
