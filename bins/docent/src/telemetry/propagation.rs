//! The context of traces between processes, in the W3C headers `traceparent` and `tracestate`, and between a
//! request and the work that it leaves for later.

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

/// Makes a request's span part of the trace that its headers name, and tells its place there.
pub(crate) fn join<'a>(span: &Span, header: &dyn Fn(&str) -> Option<&'a str>) -> Option<TraceParent> {
    adopt(span, &Headers(header));
    place(span)
}

/// Makes a span part of a trace that began earlier.
pub(crate) fn continue_from(span: &Span, trace: &TraceParent) {
    adopt(span, &Headers(&|name| (name == TRACEPARENT).then(|| trace.as_str())));
}

/// Gives the headers by which a call carries on the trace of the current span.
pub(crate) fn carry_on(add: &mut dyn FnMut(&str, &str)) {
    inject(&Span::current(), add);
}

/// Adds them to a request.
pub(crate) fn add_headers(headers: &mut HeaderMap) {
    carry_on(&mut |name, value| {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_str(value)) {
            headers.insert(name, value);
        }
    });
}

fn adopt(span: &Span, headers: &Headers<'_, '_>) {
    let context = TraceContextPropagator::new().extract_with_context(&Context::new(), headers);
    if context.span().span_context().is_valid() {
        // Without the layer, or once the span has begun, there is nothing to be joined.
        let _ = span.set_parent(context);
    }
}

fn place(span: &Span) -> Option<TraceParent> {
    let mut place = None;
    inject(span, &mut |name, value| {
        if name == TRACEPARENT {
            place = TraceParent::parse(value);
        }
    });
    place
}

fn inject(span: &Span, add: &mut dyn FnMut(&str, &str)) {
    let context = span.context();
    if context.span().span_context().is_valid() {
        TraceContextPropagator::new().inject_context(&context, &mut Added(add));
    }
}

struct Headers<'f, 'a>(&'f dyn Fn(&str) -> Option<&'a str>);

impl Extractor for Headers<'_, '_> {
    fn get(&self, key: &str) -> Option<&str> {
        (self.0)(key)
    }

    fn keys(&self) -> Vec<&str> {
        Vec::new()
    }
}

struct Added<'f>(&'f mut dyn FnMut(&str, &str));

impl Injector for Added<'_> {
    fn set(&mut self, key: &str, value: String) {
        if !value.is_empty() {
            (self.0)(key, &value);
        }
    }
}
