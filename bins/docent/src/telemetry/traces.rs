//! The export of traces.

use super::{exporter::PatientExporter, is_ours};
use docent::config::HttpUrl;
use docent_adapters::system::SystemEntropy;
use docent_ports::entropy::Entropy;
use opentelemetry::{
    Context, KeyValue,
    trace::{Link, SpanKind, TraceId, TracerProvider},
};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{
        BatchConfigBuilder, BatchSpanProcessor, Sampler, SamplingResult, SdkTracerProvider, ShouldSample,
        Span, SpanData, SpanProcessor,
    },
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
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

/// How often a stopping process looks whether all spans have ended.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Makes traces of spans and sends them to a collector, from a thread of its own.
pub(super) struct Traces {
    provider: SdkTracerProvider,
    open: OpenSpans,
}

/// Whoever calls us decides. What begins here is recorded, but for the questions of those who watch the
/// service: they come every few seconds and are all alike.
#[derive(Clone, Debug)]
struct Sampling {
    probes: Sampler,
    all_else: Sampler,
}

impl Default for Sampling {
    fn default() -> Self {
        let unless_the_caller_decides = |sampler| Sampler::ParentBased(Box::new(sampler));
        Self {
            probes: unless_the_caller_decides(Sampler::AlwaysOff),
            all_else: unless_the_caller_decides(Sampler::AlwaysOn),
        }
    }
}

/// How the names of their spans end.
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
        let sampler = if is_probe { &self.probes } else { &self.all_else };
        sampler.should_sample(parent, trace, name, kind, attributes, links)
    }
}

/// Counts the spans that have begun and not ended.
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
    /// Waits until there are none. A database's own thread may hold on to a span for some moments after
    /// its work is done.
    async fn ended(&self) {
        while self.0.load(Ordering::Relaxed) > 0 {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
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
        let open = OpenSpans::default();
        let provider = SdkTracerProvider::builder()
            // Counts a span as ended once the other has it.
            .with_span_processor(processor)
            .with_span_processor(open.clone())
            .with_sampler(Sampling::default())
            .with_resource(resource())
            .build();
        Ok(Self { provider, open })
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

    /// Sends what waits, and what is about to end, if that takes no longer than two seconds.
    pub(super) async fn stop(self) {
        let _ = tokio::time::timeout(LAST_WORDS / 2, self.open.ended()).await;
        let stop = move || self.provider.shutdown_with_timeout(LAST_WORDS / 2);
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
