//! Logs, traces and metrics.

use super::declare::{Default, Defaults, text, unset};
use super::reader::Environment;
use super::secret::Secret;
use super::section::section;
use super::selector::choices;
use super::url::HttpUrl;
use super::value::Value;

choices! {
    /// Format of log lines.
    LogFormat "list" {
        /// Text for people.
        Human = "human",
        /// One JSON object per line.
        Json = "json",
    }
}

impl LogFormat {
    /// Reads the format from an environment whose other settings may be invalid.
    pub fn from_environment(environment: &Environment) -> Self {
        let text = environment.text("log_format").ok().flatten();
        text.and_then(|(text, _)| Self::parse(text.trim()).ok()).unwrap_or(Self::Human)
    }
}

section! {
    /// Logs, traces and metrics.
    Telemetry "Observe the service" {
        /// Log level (`error`, `warn`, `info`, `debug`, `trace`), or levels per module such as `warn,docent_api=debug`.
        log: String = Defaults { dev: Default::Text("warn,rmcp=error"), serve: Default::Text("info,actix_server=warn,actix_http=off,rmcp=error") };
        /// Format of log lines: `human` or `json`.
        log_format: LogFormat = text("human");
        /// Whether traces are exported with OTLP over gRPC.
        tracing_enabled: bool = text("false");
        /// URL of the OTLP collector. While it is unreachable, traces are dropped and one warning is logged.
        otel_exporter_endpoint: HttpUrl = text("http://127.0.0.1:4317");
        /// Whether `GET /metrics` is served, in the Prometheus text format.
        metrics_enabled: bool = text("false");
        /// Bearer token required by `GET /metrics`.
        metrics_token: Option<Secret> = unset("no token required");
    }
}
