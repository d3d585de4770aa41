//! Logs: one line per event on standard error.

use anyhow::Context;
use docent::config::{LogFormat, Telemetry};
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// Starts logging with the level and format of the settings.
pub(crate) fn start(settings: &Telemetry) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&settings.log).context("DOCENT_LOG")?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let builder = builder.with_ansi(std::io::stderr().is_terminal());
    match settings.log_format {
        LogFormat::Human => builder.with_target(false).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    }
    .map_err(|error| anyhow::anyhow!("starting the log: {error}"))
}
