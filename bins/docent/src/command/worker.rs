//! `docent worker`: runs background jobs without the API.

use super::config::load;
use super::service::Service;
use crate::{telemetry, wire};
use anyhow::{Context, bail};
use docent::config::{KeyValueUrl, Profile, Settings, VectorDb};
use docent_server::Server;
use std::sync::Arc;

/// Runs jobs until a signal arrives.
pub(crate) async fn run() -> anyhow::Result<()> {
    let settings = load(Profile::Worker)?;
    check_stores(&settings)?;
    let telemetry = telemetry::start(&settings.telemetry)?;
    let result = work(&settings).await;
    telemetry.stop().await;
    result
}

async fn work(settings: &Settings) -> anyhow::Result<()> {
    let store = wire::store(settings).await?;
    let assembly = wire::app(Profile::Worker, settings, store.clone())?;
    let server = match settings.http.worker_bind_address {
        Some(listen_on) => {
            let http = wire::http(settings, &assembly);
            let server = Server::bind_probes(Arc::clone(&assembly.app), http, listen_on)
                .with_context(|| format!("listening on {listen_on}"))?;
            tracing::info!(address = %server.address(), "serving /health and /metrics");
            Some(server)
        }
        None => None,
    };
    let service = Service::start(settings, &assembly, store, server, true).await?;
    tracing::info!(concurrency = settings.ingestion.ingest_concurrency, "running jobs");
    service.until_stopped().await
}

/// Checks that the stores can be shared with other processes.
fn check_stores(settings: &Settings) -> anyhow::Result<()> {
    if settings.storage.vector_db == VectorDb::Embedded {
        bail!(
            "the embedded vector store can be used by one process only: a worker needs DOCENT_VECTOR_DB=qdrant"
        );
    }
    if settings.storage.redis_url == KeyValueUrl::Memory {
        bail!("memory:// can be used by one process only: a worker needs a Redis server in DOCENT_REDIS_URL");
    }
    Ok(())
}
