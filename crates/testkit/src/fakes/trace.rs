//! A trace propagator without traces.

use docent_ports::trace::TracePropagator;
use std::sync::{Mutex, PoisonError};
use tracing::Span;

/// Adds fixed headers to every call, and remembers the traces that spans were made part of.
#[derive(Debug, Default)]
pub struct FakePropagator {
    headers: Vec<(&'static str, &'static str)>,
    extracted: Mutex<Vec<String>>,
}

impl FakePropagator {
    /// A propagator that injects these headers.
    pub fn adding(headers: impl Into<Vec<(&'static str, &'static str)>>) -> Self {
        Self { headers: headers.into(), ..Self::default() }
    }

    /// The `traceparent` of each trace that a span was made part of, in order.
    pub fn extracted(&self) -> Vec<String> {
        self.extracted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl TracePropagator for FakePropagator {
    fn extract<'a>(&self, _span: &Span, header: &dyn Fn(&str) -> Option<&'a str>) {
        let mut extracted = self.extracted.lock().unwrap_or_else(PoisonError::into_inner);
        extracted.extend(header("traceparent").map(str::to_owned));
    }

    fn inject(&self, _span: &Span, add: &mut dyn FnMut(&str, &str)) {
        self.headers.iter().for_each(|(name, value)| add(name, value));
    }
}
