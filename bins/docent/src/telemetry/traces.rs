//! Export of traces.

use super::exporter::LossyExporter;
use super::is_own;
use docent::config::HttpUrl;
use docent_ports::entropy::Entropy;
use docent_services::system::SystemEntropy;
use opentelemetry::trace::{Link, SpanKind, TraceId, TracerProvider};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Sampler, SamplingResult, SdkTracerProvider, ShouldSample, Span,
    SpanData, SpanProcessor,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tracing::{Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

/// Maximum number of queued spans; further ones are dropped.
const QUEUE: usize = 2048;
/// Maximum number of spans in a batch.
const BATCH: usize = 512;
/// Interval of sending batches.
const DELAY: Duration = Duration::from_secs(2);
/// Time for exporting the remaining spans when the process stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Interval of checking whether all spans have ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Sends spans to a collector from a separate thread.
pub(super) struct Traces {
    provider: SdkTracerProvider,
    open: OpenSpans,
}

/// Follows the caller's sampling decision. Traces that start here are recorded, except for health and metrics requests,
/// which are frequent and uninteresting.
#[derive(Clone, Debug)]
struct Sampling {
    probes: Sampler,
    others: Sampler,
}

impl Default for Sampling {
    fn default() -> Self {
        let parent_based = |sampler| Sampler::ParentBased(Box::new(sampler));
        Self { probes: parent_based(Sampler::AlwaysOff), others: parent_based(Sampler::AlwaysOn) }
    }
}

/// Suffixes of the span names of health and metrics requests.
const PROBES: [&str; 3] = [" /health/live", " /health/ready", " /metrics"];

impl ShouldSample for Sampling {
    fn should_sample(
        &self,
        parent: Option<&Context>,
        trace: TraceId,
        name: &str,
        kind: &SpanKind,
        attributes: &[KeyValue],
        links: &[Link],
    ) -> SamplingResult {
        let is_probe = *kind == SpanKind::Server && PROBES.iter().any(|probe| name.ends_with(probe));
        let sampler = if is_probe { &self.probes } else { &self.others };
        sampler.should_sample(parent, trace, name, kind, attributes, links)
    }
}

/// Counts open spans.
#[derive(Clone, Debug, Default)]
struct OpenSpans(Arc<AtomicUsize>);

impl SpanProcessor for OpenSpans {
    fn on_start(&self, _span: &mut Span, _context: &Context) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn on_end(&self, _span: SpanData) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
        Ok(())
    }
}

impl OpenSpans {
    /// Waits until no span is open. The thread of a database driver may keep a span open briefly after its work.
    async fn wait_until_closed(&self) {
        while self.0.load(Ordering::Relaxed) > 0 {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

impl Traces {
    /// Creates the exporter, which connects later.
    pub(super) fn start(collector: &HttpUrl) -> anyhow::Result<Self> {
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(QUEUE)
            .with_max_export_batch_size(BATCH)
            .with_scheduled_delay(DELAY)
            .build();
        let exporter = LossyExporter::new(collector.as_str())?;
        let processor = BatchSpanProcessor::builder(exporter).with_batch_config(batches).build();
        let open = OpenSpans::default();
        let provider = SdkTracerProvider::builder()
            // The counter runs last, so that a closed span is already queued.
            .with_span_processor(processor)
            .with_span_processor(open.clone())
            .with_sampler(Sampling::default())
            .with_resource(resource())
            .build();
        Ok(Self { provider, open })
    }

    /// Layer that records Docent's spans and no log events.
    pub(super) fn layer<S: Subscriber + for<'a> LookupSpan<'a>>(&self) -> impl Layer<S> + use<S> {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("docent"))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_level(false)
            .with_tracked_inactivity(false)
            // Only tracing is asked for the current span.
            .with_context_activation(false)
            .with_filter(filter_fn(|metadata| {
                metadata.is_span() && *metadata.level() <= Level::INFO && is_own(metadata)
            }))
    }

    /// Exports open and queued spans, for two seconds at most.
    pub(super) async fn stop(self) {
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT / 2, self.open.wait_until_closed()).await;
        let stop = move || self.provider.shutdown_with_timeout(SHUTDOWN_TIMEOUT / 2);
        // Unsent spans are dropped; the exporter has logged the outage.
        let _ = tokio::task::spawn_blocking(stop).await;
    }
}

/// Describes this process; the instance ID is random.
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
