//! What `docent serve`, `docent dev` and `docent worker` have in common: a server, a job runner, and an
//! orderly end.

use crate::wire::{self, Wired};
use anyhow::{Context, bail};
use docent::config::{Settings, VectorDb};
use docent_adapters::sql::SqlStore;
use docent_app::{App, jobs::Runner};
use docent_migration::SchemaState;
use docent_ports::error::{Component, Fault};
use docent_server::Server;
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    signal::unix::{self, Signal, SignalKind},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

/// How long running requests, streams and jobs get after the signal to stop.
const GRACE: Duration = Duration::from_secs(10);
/// How long the start waits for a database before it goes on without.
const FIRST_LOOK: Duration = Duration::from_secs(2);
/// How often an absent database is looked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A running server and its job runner.
pub(crate) struct Service {
    stop: CancellationToken,
    server: JoinHandle<anyhow::Result<()>>,
    jobs: JoinHandle<anyhow::Result<()>>,
}

impl Service {
    /// Serves on `server`, if there is one, and runs jobs, if it is to.
    ///
    /// A database that is away now is waited for while the service is up and says so, for the parts of an
    /// installation start in any order.
    ///
    /// # Errors
    /// When the database has another schema than this program needs, or refuses it for good.
    pub(crate) async fn start(
        settings: &Settings,
        wired: &Wired,
        store: SqlStore,
        server: Option<Server>,
        runs_jobs: bool,
    ) -> anyhow::Result<Self> {
        if settings.storage.vector_db == VectorDb::Embedded && !runs_jobs {
            bail!("the embedded vector store belongs to this process: without its jobs nobody would fill it");
        }
        let is_usable = match tokio::time::timeout(FIRST_LOOK, usable(&store)).await {
            Ok(usable) => usable?,
            Err(_) => false,
        };
        if is_usable {
            look_at_index(&wired.app).await?;
        } else {
            tracing::warn!("the database cannot be reached yet; waiting for it");
        }
        let stop = CancellationToken::new();
        let (server_stop, jobs) = (stop.clone(), Jobs::new(settings, wired, store, runs_jobs, stop.clone()));
        let server = tokio::spawn(async move {
            match server {
                Some(server) => Ok(server.run(server_stop, GRACE).await?),
                None => {
                    server_stop.cancelled().await;
                    Ok(())
                }
            }
        });
        let jobs = tokio::spawn(jobs.run(is_usable));
        Ok(Self { stop, server, jobs })
    }

    /// Serves until Ctrl-C or SIGTERM, then drains. A second signal ends the process at once.
    pub(crate) async fn until_stopped(mut self) -> anyhow::Result<()> {
        tokio::select! {
            signal = signal() => signal?,
            ended = &mut self.server => return ended.context("the server's task died")?,
            ended = &mut self.jobs => return ended.context("the job runner's task died")?,
        }
        tracing::info!("stopping; running answers and jobs get {} s", GRACE.as_secs());
        self.stop.cancel();
        let drained = async {
            let (server, jobs) = tokio::join!(self.server, self.jobs);
            jobs.context("the job runner's task died")??;
            server.context("the server's task died")?
        };
        tokio::select! {
            drained = drained => drained,
            second = signal() => {
                second?;
                bail!("stopped without waiting; unfinished jobs will be resumed at the next start")
            }
        }
    }
}

/// Binds the address of the whole service.
pub(crate) fn bind(settings: &Settings, wired: &Wired) -> anyhow::Result<(Server, SocketAddr)> {
    let listen_on = settings.http.bind_address;
    let server = Server::bind(Arc::clone(&wired.app), wire::http(settings, wired), listen_on)
        .with_context(|| format!("listening on {listen_on}"))?;
    let address = server.address();
    Ok((server, address))
}

/// The background half of a process.
struct Jobs {
    app: Arc<App>,
    store: SqlStore,
    /// None where others run the jobs.
    runner: Option<Runner>,
    is_exclusive: bool,
    stop: CancellationToken,
}

impl Jobs {
    fn new(
        settings: &Settings,
        wired: &Wired,
        store: SqlStore,
        runs_jobs: bool,
        stop: CancellationToken,
    ) -> Self {
        let runner = runs_jobs.then(|| Runner::new(Arc::clone(&wired.app), wire::runner(settings)));
        Self { app: Arc::clone(&wired.app), store, runner, is_exclusive: wired.is_exclusive, stop }
    }

    /// Runs jobs until told to stop, once the database is there.
    async fn run(self, is_usable: bool) -> anyhow::Result<()> {
        match self.stop.run_until_cancelled(self.prepare(is_usable)).await {
            Some(prepared) => prepared?,
            None => return Ok(()),
        }
        match &self.runner {
            Some(runner) => runner.run(self.stop.clone(), GRACE).await,
            None => self.stop.cancelled().await,
        }
        Ok(())
    }

    async fn prepare(&self, is_usable: bool) -> anyhow::Result<()> {
        let pause = || self.app.clock.sleep(LOOK_EVERY);
        if !is_usable {
            while !usable(&self.store).await? {
                pause().await;
            }
            tracing::info!("the database is there");
            look_at_index(&self.app).await?;
        }
        while !self.take_over().await? {
            pause().await;
        }
        Ok(())
    }

    /// Frees what an earlier process of this installation held, where there can be no other now; false
    /// when the database is away.
    async fn take_over(&self) -> anyhow::Result<bool> {
        let Some(runner) = self.runner.as_ref().filter(|_| self.is_exclusive) else {
            return Ok(true);
        };
        match runner.take_over().await {
            Ok(0) => Ok(true),
            Ok(jobs) => {
                tracing::info!(jobs, "taking over what an earlier process left undone");
                Ok(true)
            }
            Err(docent_app::Error::Fault(fault)) => absent(fault),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether the database can be used; false when it is away.
///
/// # Errors
/// When it has another schema than this program needs, with what to do about it.
async fn usable(store: &SqlStore) -> anyhow::Result<bool> {
    match store.schema_state().await {
        Ok(SchemaState::Current) => Ok(true),
        Ok(other) => bail!("{other}"),
        Err(fault) => absent(fault),
    }
}

/// Opens the index that serves, and says what whoever runs the service should know of it.
///
/// # Errors
/// When it cannot be opened, and waiting does not help.
async fn look_at_index(app: &App) -> anyhow::Result<()> {
    let serving = match app.serving().await {
        Ok(serving) => serving,
        // Another process looks after it, or it is damaged: nothing could be searched.
        Err(fault) if fault.component() == Component::VectorStore => return Err(fault.into()),
        Err(fault) => {
            tracing::warn!(fault = %fault.report(), "which index serves cannot be read yet");
            return Ok(());
        }
    };
    let (model, configured) = (&serving.generation.model, &app.settings.embedding_model);
    if let Err(fault) = serving.embedder() {
        tracing::error!(fault = %fault.report(), "nothing can be searched or ingested");
    } else if model != configured {
        tracing::warn!(
            index = model,
            settings = configured,
            "the index was made with another embedding model than the settings name, and goes on with it: \
             run `docent reindex` to change the index"
        );
    }
    Ok(())
}

/// A fault that passes is waited for, and any other ends the start.
fn absent(fault: Fault) -> anyhow::Result<bool> {
    if fault.is_transient() { Ok(false) } else { Err(fault.into()) }
}

/// Returns at Ctrl-C or SIGTERM.
pub(super) async fn signal() -> anyhow::Result<()> {
    Signals::listen()?.next().await;
    Ok(())
}

/// Ctrl-C and SIGTERM, which end the process no more from the moment on that this is there.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub(super) fn listen() -> anyhow::Result<Self> {
        Ok(Self {
            interrupt: unix::signal(SignalKind::interrupt()).context("listening for Ctrl-C")?,
            terminate: unix::signal(SignalKind::terminate()).context("listening for SIGTERM")?,
        })
    }

    /// Returns at the next one.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
