//! `docent worker`: jobs without the API, beside any number of `docent serve`.

use super::{config::load, service::Service};
use crate::{telemetry, wire};
use anyhow::{Context, bail};
use docent::config::{KeyValueUrl, Profile, Settings, VectorDb};
use docent_server::Server;
use std::sync::Arc;

/// Runs jobs until told to stop.
pub(crate) async fn run() -> anyhow::Result<()> {
    let settings = load(Profile::Serve)?;
    check(&settings)?;
    let telemetry = telemetry::start(&settings.telemetry)?;
    let ended = work(&settings).await;
    telemetry.stop().await;
    ended
}

async fn work(settings: &Settings) -> anyhow::Result<()> {
    let store = wire::store(settings).await?;
    let wired = wire::app(Profile::Serve, settings, store.clone())?;
    let server = match settings.ingestion.worker_bind_address {
        Some(listen_on) => {
            let http = wire::http(settings, &wired);
            let server = Server::bind_probes(Arc::clone(&wired.app), http, listen_on)
                .with_context(|| format!("listening on {listen_on}"))?;
            tracing::info!(address = %server.address(), "health is served here");
            Some(server)
        }
        None => None,
    };
    let service = Service::start(settings, &wired, store, server, true).await?;
    tracing::info!(concurrency = settings.ingestion.ingest_concurrency, "running jobs");
    service.until_stopped().await
}

/// A worker shares everything with the processes that serve.
fn check(settings: &Settings) -> anyhow::Result<()> {
    if settings.storage.vector_db == VectorDb::Embedded {
        bail!("the embedded vector store belongs to one process: a worker needs DOCENT_VECTOR_DB=qdrant");
    }
    if settings.storage.redis_url == KeyValueUrl::Memory {
        bail!("memory:// is for a single process: a worker needs a Redis server in DOCENT_REDIS_URL");
    }
    Ok(())
}
