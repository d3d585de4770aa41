//! Logs on standard error, one line per event, and traces, exported to a collector.
//!
//! Log lines include the fields of the enclosing request or job span; all other spans are only for traces. Span fields
//! whose names have no dot appear in log lines, those with a dot in traces.

mod exporter;
mod fields;
pub(crate) mod propagation;
mod traces;

use crate::output::{self, Stream};
use anyhow::Context;
use docent::config::{LogFormat, Telemetry};
use fields::{HumanFields, JsonFields};
use traces::Traces;
use tracing::subscriber::with_default;
use tracing::{Level, Metadata};
use tracing_subscriber::filter::{FilterExt, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry};

/// Spans whose fields appear in log lines.
const LOGGED_SPANS: [&str; 2] = ["request", "job"];

/// Running telemetry, which must be stopped before the process ends.
#[must_use]
pub(crate) struct Guard {
    traces: Option<Traces>,
}

/// Starts logging and, if enabled, the export of traces.
///
/// Must be called on the runtime that the process runs on.
pub(crate) fn start(settings: &Telemetry) -> anyhow::Result<Guard> {
    let levels = EnvFilter::try_new(&settings.log).context("DOCENT_LOG")?;
    let traces = settings.tracing_enabled.then(|| Traces::start(&settings.otel_exporter_endpoint));
    let traces = traces.transpose().context("DOCENT_OTEL_EXPORTER_ENDPOINT")?;
    tracing_subscriber::registry()
        .with(log_layer(settings.log_format).with_filter(levels.and(filter_fn(is_logged))))
        .with(traces.as_ref().map(Traces::layer))
        .try_init()
        .context("starting logging")?;
    Ok(Guard { traces })
}

/// Prints a message in the log format, even if logging has not started.
pub(crate) fn report(format: LogFormat, level: Level, message: &str) {
    match format {
        LogFormat::Human => eprintln!("docent: {message}"),
        LogFormat::Json => {
            with_default(tracing_subscriber::registry().with(log_layer(format)), || match level {
                Level::ERROR => tracing::error!("{message}"),
                _ => tracing::warn!("{message}"),
            })
        }
    }
}

impl Guard {
    /// Exports the remaining spans, for a short time.
    pub(crate) async fn stop(self) {
        if let Some(traces) = self.traces {
            traces.stop().await;
        }
    }
}

fn log_layer(format: LogFormat) -> Box<dyn Layer<Registry> + Send + Sync> {
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let layer = layer.with_ansi(output::has_color(Stream::Error));
    match format {
        LogFormat::Human => layer.with_target(false).fmt_fields(HumanFields).boxed(),
        LogFormat::Json => {
            layer.json().flatten_event(true).with_span_list(false).fmt_fields(JsonFields).boxed()
        }
    }
}

fn is_logged(metadata: &Metadata<'_>) -> bool {
    metadata.is_event() || is_own(metadata) && LOGGED_SPANS.contains(&metadata.name())
}

/// Whether an event or span comes from a Docent crate.
fn is_own(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with("docent")
}
