//! Logs, traces and metrics.

use super::{
    declare::{Default, Defaults, section, text, unset},
    reader::Environment,
    secret::Secret,
    selector::choices,
    url::HttpUrl,
    value::Value,
};

choices! {
    /// How a line of the log looks.
    LogFormat "list" {
        /// For people.
        Human = "human",
        /// One JSON object.
        Json = "json",
    }
}

impl LogFormat {
    /// The format that an environment asks for, also where its other settings are of no use.
    pub fn wanted(environment: &Environment) -> Self {
        let text = environment.text("log_format").ok().flatten();
        text.and_then(|(text, _)| Self::parse(text.trim()).ok()).unwrap_or(Self::Human)
    }
}

section! {
    /// What the service tells about itself.
    Telemetry "Logs, traces and metrics" {
        /// What is logged: a level (`error`, `warn`, `info`, `debug`, `trace`), or levels by module such as
        /// `warn,docent_api=debug`.
        log: String = Defaults { dev: Default::Text("warn,rmcp=error"), serve: Default::Text("info,actix_server=warn,actix_http=off,rmcp=error") };
        /// How a line of the log looks: `human` or `json`.
        log_format: LogFormat = text("human");
        /// Whether traces are exported, by OTLP over gRPC.
        tracing_enabled: bool = text("false");
        /// The collector that they go to. One that is away costs a line in the log and the traces.
        otel_exporter_endpoint: HttpUrl = text("http://127.0.0.1:4317");
        /// Whether `GET /metrics` is there, in the text format of Prometheus.
        metrics_enabled: bool = text("false");
        /// The bearer token that `GET /metrics` asks for.
        metrics_token: Option<Secret> = unset("it asks for none");
    }
}
