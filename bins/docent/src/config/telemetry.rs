//! Traces and metrics.

use super::{
    declare::{section, text, unset},
    secret::Secret,
    url::HttpUrl,
};

section! {
    /// What the service tells about itself.
    Telemetry "Traces and metrics" {
        /// Whether traces are exported.
        tracing_enabled: bool = text("false");
        /// The OTLP gRPC collector that they go to.
        otel_exporter_endpoint: HttpUrl = text("http://127.0.0.1:4317");
        /// Whether `GET /metrics` is there.
        metrics_enabled: bool = text("false");
        /// The bearer token that `GET /metrics` asks for.
        metrics_token: Option<Secret> = unset("it asks for none");
    }
}
