//! Logs, one line per event on standard error, and traces, which go to a collector.
//!
//! Log lines are marked with the request or the job that they belong to; all other spans are for traces alone. A
//! span's fields have one reader each: names without a dot are for log lines, names with one for traces.

mod exporter;
mod fields;
pub(crate) mod propagation;
mod traces;

use anyhow::Context;
use docent::config::{LogFormat, Telemetry};
use fields::{HumanFields, JsonFields};
use std::io::IsTerminal;
use traces::Traces;
use tracing::{Level, Metadata, subscriber::with_default};
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    filter::{FilterExt, filter_fn},
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

/// Spans that log lines are marked with.
const SHOWN_SPANS: [&str; 2] = ["request", "job"];

/// What is to be ended with the process.
#[must_use]
pub(crate) struct Guard {
    traces: Option<Traces>,
}

/// Starts logging with the level and format of the settings, and the export of traces where they want it.
///
/// Must be called on the runtime that the process runs on.
pub(crate) fn start(settings: &Telemetry) -> anyhow::Result<Guard> {
    let levels = EnvFilter::try_new(&settings.log).context("DOCENT_LOG")?;
    let traces = settings.tracing_enabled.then(|| Traces::start(&settings.otel_exporter_endpoint));
    let traces = traces.transpose().context("DOCENT_OTEL_EXPORTER_ENDPOINT")?;
    tracing_subscriber::registry()
        .with(log(settings.log_format).with_filter(levels.and(filter_fn(shows_in_log))))
        .with(traces.as_ref().map(Traces::layer))
        .try_init()
        .context("starting the log")?;
    Ok(Guard { traces })
}

/// Says what a person or a collector must see though the log may not have begun, in the form that the log has.
pub(crate) fn say(format: LogFormat, level: Level, words: &str) {
    match format {
        LogFormat::Human => eprintln!("docent: {words}"),
        LogFormat::Json => with_default(tracing_subscriber::registry().with(log(format)), || match level {
            Level::ERROR => tracing::error!("{words}"),
            _ => tracing::warn!("{words}"),
        }),
    }
}

impl Guard {
    /// Sends what is still waiting, for a short time.
    pub(crate) async fn stop(self) {
        if let Some(traces) = self.traces {
            traces.stop().await;
        }
    }
}

fn log(format: LogFormat) -> Box<dyn Layer<Registry> + Send + Sync> {
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let layer = layer.with_ansi(std::io::stderr().is_terminal());
    match format {
        LogFormat::Human => layer.with_target(false).fmt_fields(HumanFields).boxed(),
        LogFormat::Json => {
            layer.json().flatten_event(true).with_span_list(false).fmt_fields(JsonFields).boxed()
        }
    }
}

fn shows_in_log(metadata: &Metadata<'_>) -> bool {
    metadata.is_event() || is_ours(metadata) && SHOWN_SPANS.contains(&metadata.name())
}

/// Whether it is from our own code.
fn is_ours(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with("docent")
}
