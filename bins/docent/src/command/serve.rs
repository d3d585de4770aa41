//! Serving: what `docent serve` and `docent dev` have in common, and the former.

use super::config::load;
use crate::{
    telemetry,
    wire::{self, Wired},
};
use anyhow::{Context, bail};
use docent::config::{Profile, Settings};
use docent_app::jobs::Runner;
use docent_migration::SchemaState;
use docent_server::Server;
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How long running requests, streams and jobs get after the signal to stop.
const GRACE: Duration = Duration::from_secs(10);

/// `docent serve`.
pub(crate) async fn run() -> anyhow::Result<()> {
    let settings = load(Profile::Serve)?;
    let telemetry = telemetry::start(&settings.telemetry)?;
    let ended = serve(&settings).await;
    telemetry.stop().await;
    ended
}

async fn serve(settings: &Settings) -> anyhow::Result<()> {
    let store = wire::store(settings).await?;
    match store.schema_state().await? {
        SchemaState::Current => {}
        other => bail!("{other}"),
    }
    let wired = wire::app(Profile::Serve, settings, store)?;
    let service = Service::start(settings, &wired).await?;
    tracing::info!(address = %service.address, "listening");
    service.until_stopped().await
}

/// A running server and its job runner.
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    stop: CancellationToken,
    server: JoinHandle<anyhow::Result<()>>,
    runner: JoinHandle<()>,
}

impl Service {
    /// Binds the address, takes over what a dead process left undone, and begins to serve.
    pub(crate) async fn start(settings: &Settings, wired: &Wired) -> anyhow::Result<Self> {
        let app = &wired.app;
        let listen_on = settings.http.bind_address;
        let server = Server::bind(Arc::clone(app), wire::http(settings, wired), listen_on)
            .with_context(|| format!("listening on {listen_on}"))?;
        let address = server.address();
        let runner = Runner::new(Arc::clone(app), wire::runner(settings));
        if wired.is_exclusive {
            let freed = runner.take_over().await?;
            if freed > 0 {
                tracing::info!(jobs = freed, "taking over what an earlier process left undone");
            }
        }
        let stop = CancellationToken::new();
        let (server_stop, runner_stop) = (stop.clone(), stop.clone());
        let server = tokio::spawn(async move { Ok(server.run(server_stop, GRACE).await?) });
        let runner = tokio::spawn(async move { runner.run(runner_stop, GRACE).await });
        Ok(Self { address, stop, server, runner })
    }

    /// Serves until Ctrl-C or SIGTERM, then drains. A second signal ends the process at once.
    pub(crate) async fn until_stopped(mut self) -> anyhow::Result<()> {
        tokio::select! {
            signal = signal() => signal?,
            ended = &mut self.server => return ended.context("the server's task died")?,
        }
        tracing::info!("stopping; running answers and jobs get {} s", GRACE.as_secs());
        self.stop.cancel();
        let drained = async {
            let (server, runner) = tokio::join!(self.server, self.runner);
            runner.context("the job runner's task died")?;
            server.context("the server's task died")?
        };
        tokio::select! {
            drained = drained => drained,
            second = signal() => {
                second?;
                anyhow::bail!("stopped without waiting; unfinished jobs will be resumed at the next start")
            }
        }
    }
}

/// Returns at Ctrl-C or SIGTERM.
async fn signal() -> anyhow::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).context("listening for SIGTERM")?;
    tokio::select! {
        result = tokio::signal::ctrl_c() => result.context("listening for Ctrl-C"),
        _ = terminate.recv() => Ok(()),
    }
}
