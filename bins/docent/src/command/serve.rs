//! `docent serve`: runs the service with production defaults.

use super::config::load;
use super::service::{Service, bind};
use crate::{telemetry, wire};
use docent::cli::ServeArgs;
use docent::config::{Profile, Settings};

/// Serves until a signal arrives.
pub(crate) async fn run(args: ServeArgs) -> anyhow::Result<()> {
    let settings = load(Profile::Serve)?;
    let telemetry = telemetry::start(&settings.telemetry)?;
    let result = serve(args, &settings).await;
    telemetry.stop().await;
    result
}

async fn serve(args: ServeArgs, settings: &Settings) -> anyhow::Result<()> {
    let store = wire::store(settings).await?;
    let assembly = wire::app(Profile::Serve, settings, store.clone())?;
    let (server, address) = bind(settings, &assembly)?;
    let service = Service::start(settings, &assembly, store, Some(server), !args.no_jobs).await?;
    tracing::info!(%address, "listening");
    service.until_stopped().await
}
