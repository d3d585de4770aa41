//! Requests and streams.

use super::labels::{Request, Route};
use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};
use std::time::Duration;

/// Seconds until the answer begins.
const SECONDS: [f64; 13] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];

/// What is counted of requests.
#[derive(Debug)]
pub struct Http {
    requests: Family<Request, Counter>,
    seconds: Family<Route, Histogram, fn() -> Histogram>,
    in_flight: Gauge,
    streams: Gauge,
}

impl Http {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let this = Self {
            requests: Family::default(),
            seconds: Family::new_with_constructor(|| Histogram::new(SECONDS)),
            in_flight: Gauge::default(),
            streams: Gauge::default(),
        };
        registry.register("http_requests", "Requests that were answered", this.requests.clone());
        registry.register(
            "http_request_duration_seconds",
            "From the head of a request to the head of its answer; of a stream, to its first token",
            this.seconds.clone(),
        );
        registry.register(
            "http_requests_in_flight",
            "Requests whose answer has not begun",
            this.in_flight.clone(),
        );
        registry.register("sse_streams_open", "Answers being streamed", this.streams.clone());
        this
    }

    /// Counts a request as under way, until what this gives is dropped.
    pub fn request_began(&self) -> Watched {
        Watched::new(&self.in_flight)
    }

    /// Counts a stream as open, until what this gives is dropped.
    pub fn stream_began(&self) -> Watched {
        Watched::new(&self.streams)
    }

    /// Counts a request whose answer begins.
    pub fn answered(&self, method: &'static str, route: &str, status: u16, took: Duration) {
        let labels = Route { method, route: route.to_owned() };
        self.seconds.get_or_create(&labels).observe(took.as_secs_f64());
        let Route { method, route } = labels;
        self.requests.get_or_create(&Request { method, route, status }).inc();
    }
}

/// One of the things that a gauge counts, for as long as this lives.
#[derive(Debug)]
pub struct Watched(Gauge);

impl Watched {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.0.dec();
    }
}
