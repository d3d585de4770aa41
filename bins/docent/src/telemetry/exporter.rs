//! Sending spans without making anybody wait for a collector that is away.

use opentelemetry_otlp::{
    RetryPolicy, SpanExporter as OtlpExporter, WithExportConfig, WithTonicConfig,
    tonic_types::transport::ClientTlsConfig,
};
use opentelemetry_sdk::{
    Resource,
    error::{OTelSdkError, OTelSdkResult},
    trace::{SpanData, SpanExporter},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{runtime::Handle, time::timeout};

/// What sending a batch may take.
const LIMIT: Duration = Duration::from_secs(5);

/// Sends batches to a collector. One that cannot be sent is dropped; the log tells it once for each time that
/// the collector is away.
#[derive(Debug)]
pub(super) struct PatientExporter {
    collector: Arc<OtlpExporter>,
    runtime: Handle,
    is_away: AtomicBool,
}

impl PatientExporter {
    /// Connects with the first batch.
    pub(super) fn new(collector: &str) -> anyhow::Result<Self> {
        let builder = OtlpExporter::builder()
            .with_tonic()
            .with_endpoint(collector)
            .with_timeout(LIMIT)
            .with_retry_policy(RetryPolicy::disabled());
        let builder = if collector.starts_with("https://") {
            builder.with_tls_config(ClientTlsConfig::new().with_native_roots())
        } else {
            builder
        };
        let collector = Arc::new(builder.build()?);
        Ok(Self { collector, runtime: Handle::try_current()?, is_away: AtomicBool::new(false) })
    }

    fn tell(&self, result: &OTelSdkResult) {
        match result {
            Ok(()) => {
                if self.is_away.swap(false, Ordering::Relaxed) {
                    tracing::info!("traces reach their collector again");
                }
            }
            Err(error) => {
                if !self.is_away.swap(true, Ordering::Relaxed) {
                    tracing::warn!(%error, "traces do not reach their collector and are dropped");
                }
            }
        }
    }
}

impl SpanExporter for PatientExporter {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        for span in &mut batch {
            // The others are for log lines.
            span.attributes.retain(|attribute| attribute.key.as_str().contains('.'));
        }
        let collector = Arc::clone(&self.collector);
        // The thread that calls this has no runtime, which connections and timeouts need.
        let sent = self.runtime.spawn(async move { timeout(LIMIT, collector.export(batch)).await }).await;
        let result = match sent {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(OTelSdkError::Timeout(LIMIT)),
            Err(error) => Err(OTelSdkError::InternalFailure(error.to_string())),
        };
        self.tell(&result);
        result
    }

    fn shutdown_with_timeout(&self, limit: Duration) -> OTelSdkResult {
        self.collector.shutdown_with_timeout(limit)
    }

    fn set_resource(&mut self, resource: &Resource) {
        // It is called once, before the first batch, when nobody else holds the exporter.
        if let Some(collector) = Arc::get_mut(&mut self.collector) {
            collector.set_resource(resource);
        }
    }
}
