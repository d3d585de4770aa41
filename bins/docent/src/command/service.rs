//! Runs the server and the job runner of `docent serve`, `docent dev` and `docent worker`, and shuts them down.

use crate::wire::{self, Assembly, Detection};
use anyhow::{Context, bail};
use docent::config::{Settings, VectorDb};
use docent_app::App;
use docent_app::accounts::second_factor;
use docent_app::audit;
use docent_app::background::Background;
use docent_app::background::Runner;
use docent_app::background::index_owner::IndexOwner;
use docent_domain::embedding_model::EmbeddingModel;
use docent_domain::fault::{Fault, FaultKind};
use docent_extraction::sandbox::Sandbox;
use docent_migration::SchemaState;
use docent_server::{Server, Shutdown};
use docent_sql::SqlStore;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{self, Signal, SignalKind};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How long the start waits for the database before it continues without it.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(2);
/// Interval of checks for an unreachable database.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// A running server and its job runner.
pub(crate) struct Service {
    stop: CancellationToken,
    server: JoinHandle<anyhow::Result<()>>,
    jobs: JoinHandle<anyhow::Result<()>>,
    recognizer: Detection,
    shutdown: Shutdown,
}

impl Service {
    /// Starts the server, if given, and the job runner, if `runs_jobs` is set.
    ///
    /// An unreachable database does not prevent the start, since the parts of an installation start in any order: the
    /// service reports it as unavailable and waits for it.
    ///
    /// # Errors
    /// If the database has the wrong schema, or rejects the connection permanently.
    pub(crate) async fn start(
        settings: &Settings,
        assembly: &Assembly,
        store: SqlStore,
        server: Option<Server>,
        runs_jobs: bool,
    ) -> anyhow::Result<Self> {
        if settings.storage.vector_db == VectorDb::Embedded && !runs_jobs {
            bail!(
                "--no-jobs cannot be used with the embedded vector store: no other process could run its jobs"
            );
        }
        let is_usable = match tokio::time::timeout(DATABASE_TIMEOUT, check_schema(&store)).await {
            Ok(is_usable) => is_usable?,
            Err(_) => false,
        };
        if is_usable {
            check_index(&assembly.app, assembly.index_owner.as_ref()).await?;
        } else {
            tracing::warn!("the database cannot be reached yet; waiting for it");
        }
        tokio::spawn(report_sandbox(wire::check_sandbox(settings)));
        if server.is_some() && is_usable {
            tokio::spawn(report_second_factors(Arc::clone(&assembly.app)));
            tokio::spawn(report_clock(Arc::clone(&assembly.app)));
        }
        let (stop, shutdown) = (CancellationToken::new(), wire::shutdown(settings));
        let (server_stop, jobs) =
            (stop.clone(), Jobs::new(settings, assembly, store, runs_jobs, stop.clone()));
        let server = tokio::spawn(async move {
            match server {
                Some(server) => Ok(server.run(server_stop, shutdown).await?),
                None => {
                    server_stop.cancelled().await;
                    Ok(())
                }
            }
        });
        let jobs = tokio::spawn(jobs.run(is_usable));
        Ok(Self { stop, server, jobs, recognizer: assembly.recognizer.clone(), shutdown })
    }

    /// Serves until Ctrl-C or SIGTERM, then drains and finishes requests and jobs. A second signal ends the process immediately.
    ///
    /// # Errors
    /// Also if the configured recognizer cannot be used.
    pub(crate) async fn until_stopped(mut self) -> anyhow::Result<()> {
        let reason = tokio::select! {
            signal = signal() => signal,
            ended = &mut self.server => return ended.context("the server's task panicked")?,
            ended = &mut self.jobs => return ended.context("the job runner's task panicked")?,
            error = self.recognizer.failure() => Err(error),
        };
        let Shutdown { drain, timeout } = self.shutdown;
        tracing::info!(
            drain = drain.as_secs_f64(),
            timeout = timeout.as_secs_f64(),
            "stopping; new requests are served for the drain, and running ones and jobs have the timeout to finish"
        );
        self.stop.cancel();
        let drained = async {
            let (server, jobs) = tokio::join!(self.server, self.jobs);
            jobs.context("the job runner's task panicked")??;
            server.context("the server's task panicked")?
        };
        tokio::select! {
            drained = drained => drained.and(reason),
            second = signal() => {
                second?;
                bail!("stopped immediately; unfinished jobs will be resumed at the next start")
            }
        }
    }
}

/// Logs what PDF workers are confined by. A worker that cannot be started is logged as an error; uploads then wait for it.
async fn report_sandbox(check: impl Future<Output = anyhow::Result<Sandbox>>) {
    match check.await {
        Ok(sandbox) if sandbox.missing().is_empty() => {
            tracing::debug!("PDF workers are confined by Landlock and seccomp");
        }
        Ok(sandbox) => tracing::warn!(
            missing = sandbox.missing().join(", "),
            "the sandbox of PDF workers is incomplete: this kernel or the container around the process lacks a part"
        ),
        Err(error) => tracing::error!(error = format!("{error:#}"), "cannot start a PDF worker"),
    }
}

/// Logs that the clock is behind the records.
async fn report_clock(app: Arc<App>) {
    match audit::newest_ahead_of_clock(&app).await {
        Ok(Some(at)) => tracing::warn!(
            newest = %at,
            "the audit log has entries of the future: the clock was ahead, or is behind now; check it"
        ),
        Ok(None) => {}
        Err(fault) => {
            tracing::debug!(fault = %fault.report(), "the times of the audit log cannot be checked")
        }
    }
}

/// Logs how many API keys are refused because their accounts must have a second factor.
async fn report_second_factors(app: Arc<App>) {
    match second_factor::count_missing(&app).await {
        Ok(missing) if missing.accounts > 0 => tracing::warn!("{missing}"),
        Ok(_) => {}
        Err(error) => tracing::debug!(%error, "the accounts without a second factor cannot be counted"),
    }
}

/// Binds the configured address for all routes.
pub(crate) fn bind(settings: &Settings, assembly: &Assembly) -> anyhow::Result<(Server, SocketAddr)> {
    let listen_on = settings.http.bind_address;
    let server = Server::bind(Arc::clone(&assembly.app), wire::http(settings, assembly), listen_on)
        .with_context(|| format!("listening on {listen_on}"))?;
    let address = server.address();
    Ok((server, address))
}

/// The background jobs of a process.
struct Jobs {
    app: Arc<App>,
    store: SqlStore,
    /// `None` if other processes run the jobs.
    runner: Option<Runner>,
    background: Background,
    is_exclusive: bool,
    index_owner: Option<IndexOwner>,
    stop: CancellationToken,
    /// Time for running jobs to finish after `stop`.
    timeout: Duration,
}

impl Jobs {
    fn new(
        settings: &Settings,
        assembly: &Assembly,
        store: SqlStore,
        runs_jobs: bool,
        stop: CancellationToken,
    ) -> Self {
        let runner = runs_jobs.then(|| Runner::new(Arc::clone(&assembly.app), wire::runner(settings)));
        let background = wire::background(settings, &assembly.app);
        let app = Arc::clone(&assembly.app);
        let Assembly { is_exclusive, index_owner, .. } = assembly;
        let (is_exclusive, index_owner) = (*is_exclusive, index_owner.clone());
        // Jobs are not started during the drain, so running ones have that time too.
        let Shutdown { drain, timeout } = wire::shutdown(settings);
        let timeout = drain + timeout;
        Self { app, store, runner, background, is_exclusive, index_owner, stop, timeout }
    }

    /// Waits for the database, then runs jobs until stopped.
    async fn run(self, is_usable: bool) -> anyhow::Result<()> {
        match self.stop.run_until_cancelled(self.prepare(is_usable)).await {
            Some(prepared) => prepared?,
            None => return Ok(()),
        }
        match &self.runner {
            Some(runner) => {
                let background = self.background.run(self.stop.clone());
                let work = async { tokio::join!(runner.run(self.stop.clone(), self.timeout), background) };
                tokio::select! {
                    _ = work => {}
                    () = self.lose_index() => bail!("{INDEX_TAKEN}"),
                }
                if let Some(owner) = &self.index_owner {
                    owner.release().await;
                }
            }
            None => self.stop.cancelled().await,
        }
        Ok(())
    }

    async fn prepare(&self, is_usable: bool) -> anyhow::Result<()> {
        let pause = || self.app.sleep(RETRY_INTERVAL);
        if !is_usable {
            while !check_schema(&self.store).await? {
                pause().await;
            }
            tracing::info!("connected to the database");
            check_index(&self.app, self.index_owner.as_ref()).await?;
        }
        while !self.take_over().await? {
            pause().await;
        }
        Ok(())
    }

    /// Returns when another process has taken the database from this process's embedded index.
    async fn lose_index(&self) {
        match &self.index_owner {
            Some(owner) => owner.hold().await,
            None => std::future::pending().await,
        }
    }

    /// Releases the jobs leased by a previous process, if this process is the only one. Returns false if the database is
    /// unreachable.
    async fn take_over(&self) -> anyhow::Result<bool> {
        let Some(runner) = self.runner.as_ref().filter(|_| self.is_exclusive) else {
            return Ok(true);
        };
        match runner.take_over().await {
            Ok(0) => Ok(true),
            Ok(jobs) => {
                tracing::info!(jobs, "resuming jobs of a previous process");
                Ok(true)
            }
            Err(docent_app::Error::Fault(fault)) => retry_if_transient(fault),
            Err(error) => Err(error.into()),
        }
    }
}

/// Checks the schema of the database. Returns false if the database is unreachable.
///
/// # Errors
/// If the schema is not the one this program needs; the error says what to do.
async fn check_schema(store: &SqlStore) -> anyhow::Result<bool> {
    match store.schema_state().await {
        Ok(SchemaState::Current) => Ok(true),
        Ok(other) => bail!("{other}"),
        Err(fault) => retry_if_transient(fault),
    }
}

/// What is wrong if another process has an embedded index for the same database.
const INDEX_TAKEN: &str = "another process with an embedded vector store uses this database: only one process can. Stop \
     it and try again after 30 s, or use DOCENT_VECTOR_DB=qdrant in all processes";

/// Opens the active index and logs problems with its embedding model.
///
/// # Errors
/// If the vector store cannot open the index, the index is not of this installation, or another process with an embedded
/// index uses the database.
async fn check_index(app: &App, owner: Option<&IndexOwner>) -> anyhow::Result<()> {
    if let Some(owner) = owner
        && !owner.acquire().await?
    {
        bail!("{INDEX_TAKEN}");
    }
    let checked = async {
        app.check_vector_store().await?;
        let active = app.active_index().await?;
        active.index.check().await?;
        Ok::<_, Fault>(active)
    };
    let active = match checked.await {
        Ok(active) => active,
        // It may start later; what depends on it waits until then.
        Err(fault)
            if matches!(
                fault.kind(),
                FaultKind::Unavailable | FaultKind::Timeout | FaultKind::RateLimited | FaultKind::Full
            ) =>
        {
            tracing::warn!(fault = %fault.report(), "the active index cannot be used yet");
            return Ok(());
        }
        // Another process has it open, it belongs to another installation, or a setting is wrong.
        Err(fault) => return Err(anyhow::anyhow!(fault.report())),
    };
    let (model, configured) = (&active.generation.model, &app.settings().embedding_model);
    if let Err(fault) = active.embedder() {
        tracing::error!(fault = %fault.report(), "searching and ingesting are not possible");
    } else if EmbeddingModel::parse(model).differs_in_prefixes(&EmbeddingModel::parse(configured)) {
        tracing::warn!(
            index = model,
            settings = configured,
            "the index was built with other prefixes of texts than those in the settings or of the model, and continues to \
             use them; run `docent reindex` to change them"
        );
    } else if model != configured {
        tracing::warn!(
            index = model,
            settings = configured,
            "the index was built with another embedding model than the one in the settings, and continues to use it; \
             run `docent reindex` to change the model"
        );
    }
    Ok(())
}

/// Returns false for a transient fault, so that the caller retries; other faults are errors.
fn retry_if_transient(fault: Fault) -> anyhow::Result<bool> {
    if fault.is_transient() { Ok(false) } else { Err(fault.into()) }
}

/// Waits for Ctrl-C or SIGTERM.
pub(super) async fn signal() -> anyhow::Result<()> {
    Signals::listen()?.next().await;
    Ok(())
}

/// Listens for Ctrl-C and SIGTERM, which then no longer end the process by themselves.
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

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
