//! The export of traces.

use super::{exporter::PatientExporter, is_ours};
use docent::config::HttpUrl;
use docent_adapters::system::SystemEntropy;
use docent_ports::entropy::Entropy;
use opentelemetry::{KeyValue, trace::TracerProvider};
use opentelemetry_sdk::{
    Resource,
    trace::{BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider},
};
use std::time::Duration;
use tracing::{Level, Subscriber};
use tracing_subscriber::{Layer, filter::filter_fn, registry::LookupSpan};

/// Spans that wait to be sent; more of them are dropped.
const QUEUE: usize = 2048;
/// Spans that are sent together.
const BATCH: usize = 512;
/// How long a span waits for others to be sent with.
const DELAY: Duration = Duration::from_secs(2);
/// What the last spans may take when the process ends.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Makes traces of spans and sends them to a collector, from a thread of its own.
pub(super) struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Connects to nothing yet.
    pub(super) fn start(collector: &HttpUrl) -> anyhow::Result<Self> {
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(QUEUE)
            .with_max_export_batch_size(BATCH)
            .with_scheduled_delay(DELAY)
            .build();
        let exporter = PatientExporter::new(collector.as_str())?;
        let processor = BatchSpanProcessor::builder(exporter).with_batch_config(batches).build();
        let provider = SdkTracerProvider::builder()
            .with_span_processor(processor)
            // Whoever calls us decides; what begins here is recorded.
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::AlwaysOn)))
            .with_resource(resource())
            .build();
        Ok(Self { provider })
    }

    /// Sees our own spans, and no log events.
    pub(super) fn layer<S: Subscriber + for<'a> LookupSpan<'a>>(&self) -> impl Layer<S> + use<S> {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("docent"))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_level(false)
            .with_tracked_inactivity(false)
            // Nothing here asks OpenTelemetry itself for the current span.
            .with_context_activation(false)
            .with_filter(filter_fn(|metadata| {
                metadata.is_span() && *metadata.level() <= Level::INFO && is_ours(metadata)
            }))
    }

    /// Sends what waits, if that takes no longer than two seconds.
    pub(super) async fn stop(self) {
        let stop = move || self.provider.shutdown_with_timeout(LAST_WORDS);
        // What cannot be sent is lost; that the collector is away has been said.
        let _ = tokio::task::spawn_blocking(stop).await;
    }
}

/// What is sending. Another process of the same service has another instance id.
fn resource() -> Resource {
    let mut random = [0; 16];
    SystemEntropy.fill(&mut random);
    Resource::builder_empty()
        .with_attributes([
            KeyValue::new("service.name", "docent"),
            KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
            KeyValue::new("service.instance.id", format!("{:032x}", u128::from_be_bytes(random))),
        ])
        .build()
}
