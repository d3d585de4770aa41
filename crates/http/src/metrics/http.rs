//! Metrics of requests and streams.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::time::Duration;

/// Histogram buckets for the time to the response, in seconds.
const SECONDS: [f64; 13] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];

/// Metrics of requests.
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
        registry.register("http_requests", "Answered requests", this.requests.clone());
        registry.register(
            "http_request_duration_seconds",
            "Time from the request head to the response head; for streams, to the first token",
            this.seconds.clone(),
        );
        registry.register(
            "http_requests_in_flight",
            "Requests without a response yet",
            this.in_flight.clone(),
        );
        registry.register("sse_streams_open", "Open answer streams", this.streams.clone());
        this
    }

    /// Counts a request in progress until the returned guard is dropped.
    pub fn request_began(&self) -> GaugeGuard {
        GaugeGuard::new(&self.in_flight)
    }

    /// Counts an open stream until the returned guard is dropped.
    pub fn stream_began(&self) -> GaugeGuard {
        GaugeGuard::new(&self.streams)
    }

    /// Counts an answered request.
    pub fn answered(&self, method: &'static str, route: &str, status: u16, took: Duration) {
        let labels = Route { method, route: route.to_owned() };
        self.seconds.get_or_create(&labels).observe(took.as_secs_f64());
        let Route { method, route } = labels;
        self.requests.get_or_create(&Request { method, route, status }).inc();
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    method: &'static str,
    route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Request {
    method: &'static str,
    route: String,
    status: u16,
}

/// Increments a gauge until dropped.
#[derive(Debug)]
pub struct GaugeGuard(Gauge);

impl GaugeGuard {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}
