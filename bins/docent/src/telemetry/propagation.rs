//! Propagates trace context between processes, with the W3C headers `traceparent` and `tracestate`, and from requests
//! to the jobs they create.

use docent_domain::trace::TraceParent;
use opentelemetry::{
    Context,
    propagation::{Extractor, Injector, TextMapPropagator},
    trace::TraceContextExt,
};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

const TRACEPARENT: &str = "traceparent";

/// Sets the parent of a request's span from its headers, and returns the trace context of the span.
pub(crate) fn join<'a>(span: &Span, header: &dyn Fn(&str) -> Option<&'a str>) -> Option<TraceParent> {
    set_parent(span, &HeaderExtractor(header));
    trace_parent(span)
}

/// Sets the parent of a span to a stored trace context.
pub(crate) fn continue_from(span: &Span, trace: &TraceParent) {
    set_parent(span, &HeaderExtractor(&|name| (name == TRACEPARENT).then(|| trace.as_str())));
}

/// Adds the trace context of the current span as headers.
pub(crate) fn carry_on(add: &mut dyn FnMut(&str, &str)) {
    inject(&Span::current(), add);
}

/// Adds the trace context of the current span to HTTP headers.
pub(crate) fn add_headers(headers: &mut HeaderMap) {
    carry_on(&mut |name, value| {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_str(value)) {
            headers.insert(name, value);
        }
    });
}

fn set_parent(span: &Span, headers: &HeaderExtractor<'_, '_>) {
    let context = TraceContextPropagator::new().extract_with_context(&Context::new(), headers);
    if context.span().span_context().is_valid() {
        // Fails without the tracing layer or after the span has started; then there is no parent.
        let _ = span.set_parent(context);
    }
}

fn trace_parent(span: &Span) -> Option<TraceParent> {
    let mut parent = None;
    inject(span, &mut |name, value| {
        if name == TRACEPARENT {
            parent = TraceParent::parse(value);
        }
    });
    parent
}

fn inject(span: &Span, add: &mut dyn FnMut(&str, &str)) {
    let context = span.context();
    if context.span().span_context().is_valid() {
        TraceContextPropagator::new().inject_context(&context, &mut HeaderInjector(add));
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
