//! Span exporter that does not block or retry while the collector is unreachable.

use opentelemetry_otlp::tonic_types::transport::ClientTlsConfig;
use opentelemetry_otlp::{RetryPolicy, SpanExporter as OtlpExporter, WithExportConfig, WithTonicConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// Timeout of sending a batch.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Sends batches to a collector. Batches that cannot be sent are dropped, with one warning per outage.
#[derive(Debug)]
pub(super) struct LossyExporter {
    collector: Arc<OtlpExporter>,
    runtime: Handle,
    is_unreachable: AtomicBool,
}

impl LossyExporter {
    /// Creates an exporter, which connects when it sends the first batch.
    pub(super) fn new(collector: &str) -> anyhow::Result<Self> {
        let builder = OtlpExporter::builder()
            .with_tonic()
            .with_endpoint(collector)
            .with_timeout(TIMEOUT)
            .with_retry_policy(RetryPolicy::disabled());
        let builder = if collector.starts_with("https://") {
            builder.with_tls_config(ClientTlsConfig::new().with_native_roots())
        } else {
            builder
        };
        let collector = Arc::new(builder.build()?);
        Ok(Self { collector, runtime: Handle::try_current()?, is_unreachable: AtomicBool::new(false) })
    }

    fn log_change(&self, result: &OTelSdkResult) {
        match result {
            Ok(()) => {
                if self.is_unreachable.swap(false, Ordering::Relaxed) {
                    tracing::info!("the trace collector is reachable again");
                }
            }
            Err(error) => {
                if !self.is_unreachable.swap(true, Ordering::Relaxed) {
                    tracing::warn!(%error, "the trace collector is unreachable; traces are dropped");
                }
            }
        }
    }
}

impl SpanExporter for LossyExporter {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        for span in &mut batch {
            // Fields without a dot are for log lines.
            span.attributes.retain(|attribute| attribute.key.as_str().contains('.'));
        }
        let collector = Arc::clone(&self.collector);
        // Connections and timeouts need a runtime, which the calling thread does not have.
        let sent = self.runtime.spawn(async move { timeout(TIMEOUT, collector.export(batch)).await }).await;
        let result = match sent {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(OTelSdkError::Timeout(TIMEOUT)),
            Err(error) => Err(OTelSdkError::InternalFailure(error.to_string())),
        };
        self.log_change(&result);
        result
    }

    fn shutdown_with_timeout(&self, limit: Duration) -> OTelSdkResult {
        self.collector.shutdown_with_timeout(limit)
    }

    fn set_resource(&mut self, resource: &Resource) {
        // Called once before the first batch, while there is no other reference.
        if let Some(collector) = Arc::get_mut(&mut self.collector) {
            collector.set_resource(resource);
        }
    }
}
