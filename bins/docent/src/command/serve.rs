//! `docent serve`: the service on the back ends of an installation.

use super::{
    config::load,
    service::{Service, bind},
};
use crate::{telemetry, wire};
use docent::{
    cli::ServeArgs,
    config::{Profile, Settings},
};

/// Serves until told to stop.
pub(crate) async fn run(args: ServeArgs) -> anyhow::Result<()> {
    let settings = load(Profile::Serve)?;
    let telemetry = telemetry::start(&settings.telemetry)?;
    let ended = serve(args, &settings).await;
    telemetry.stop().await;
    ended
}

async fn serve(args: ServeArgs, settings: &Settings) -> anyhow::Result<()> {
    let store = wire::store(settings).await?;
    let wired = wire::app(Profile::Serve, settings, store.clone())?;
    let (server, address) = bind(settings, &wired)?;
    let service = Service::start(settings, &wired, store, Some(server), !args.no_jobs).await?;
    tracing::info!(%address, "listening");
    service.until_stopped().await
}
