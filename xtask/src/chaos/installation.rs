//! The installation under test: processes of the program and their stores.

use super::client::Client;
use super::plan::Store;
use super::process::Process;
use crate::qdrant::Fake as FakeQdrant;
use anyhow::{Context, Result, ensure};
use docent_testkit::servers::{PostgresServer, RedisServer};
use docent_testkit::wire::FakeLlm;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const EMAIL: &str = "chaos@example.org";
const PASSWORD: &str = "a pass phrase for outages";
/// Time for a process to answer after its start, on a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// The stores of the profile with servers.
struct Servers {
    postgres: PostgresServer,
    redis: RedisServer,
    qdrant: Option<FakeQdrant>,
    qdrant_address: String,
    embeddings: FakeLlm,
}

/// The processes, the stores and a client.
pub(super) struct Installation {
    servers: Option<Servers>,
    command: Program,
    pub(super) server: Process,
    pub(super) worker: Option<Process>,
    worker_address: String,
    pub(super) client: Client,
    pub(super) restarts: BTreeMap<Store, u32>,
}

/// How to start the program.
#[derive(Clone)]
struct Program {
    program: PathBuf,
    folder: PathBuf,
    settings: Vec<(&'static str, String)>,
}

impl Program {
    fn with(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .env_clear()
            .env("DOCENT_DATA_DIR", self.folder.join("data"))
            .env("DOCENT_SECRET_KEY", "a key of chaos, that nothing else uses")
            .env("DOCENT_ACCESS_TOKEN_TTL", "1d")
            .env("DOCENT_RATE_LIMIT_REQUESTS", u32::MAX.to_string())
            .env("DOCENT_SEARCH_LIMIT", "50")
            .env("DOCENT_METRICS_ENABLED", "true")
            .env("DOCENT_INGEST_SWEEP_INTERVAL", "3s")
            .env("DOCENT_LOG", "info,docent_app::background=debug")
            .env("DOCENT_LOG_FORMAT", "json")
            .envs(self.settings.iter().map(|(name, value)| (*name, value.as_str())));
        command
    }
}

impl Installation {
    /// Starts the stores, creates an account, and starts the processes.
    pub(super) async fn start(program: &Path, folder: &Path, has_servers: bool) -> Result<Self> {
        let servers = if has_servers { Some(Servers::start().await) } else { None };
        let settings = servers.as_ref().map(Servers::settings).unwrap_or_default();
        let command = Program { program: program.to_owned(), folder: folder.to_owned(), settings };
        let profile: &[&str] = if has_servers { &[] } else { &["--dev"] };
        run(command.with(&[&["migrate"], profile].concat()), "")?;
        let create = [&["createsuperuser", "--password-stdin", EMAIL], profile].concat();
        run(command.with(&create), PASSWORD)?;

        let (address, worker_address) = (free_address()?, free_address()?);
        let server = {
            let (command, address) = (command.clone(), address.clone());
            let arguments: &[&str] = if has_servers { &["serve"] } else { &["dev", "--no-sample"] };
            Process::new(folder.join("server.log"), move || {
                let mut command = command.with(arguments);
                command.env("DOCENT_BIND_ADDRESS", &address);
                command
            })
        };
        let worker = has_servers.then(|| {
            let (command, address) = (command.clone(), worker_address.clone());
            Process::new(folder.join("worker.log"), move || {
                let mut command = command.with(&["worker"]);
                command.env("DOCENT_WORKER_BIND_ADDRESS", &address);
                command
            })
        });
        let client = Client::new(address)?;
        let restarts = BTreeMap::new();
        let mut this = Self { servers, command, server, worker, worker_address, client, restarts };
        this.server.start()?;
        if let Some(worker) = &mut this.worker {
            worker.start()?;
        }
        this.log_in().await?;
        Ok(this)
    }

    async fn log_in(&mut self) -> Result<()> {
        let body = json!({ "email": EMAIL, "password": PASSWORD });
        let began = Instant::now();
        let answer = loop {
            self.server.check()?;
            match self.client.post("/auth/token", &body).await {
                Ok(answer) if answer.status == 200 => break answer,
                _ => ensure!(began.elapsed() < START_TIMEOUT, "logging in failed"),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        let token = answer.json()?["access_token"].as_str().context("no access token")?.to_owned();
        self.client.token = token;
        Ok(())
    }

    /// Stops a store, waits, and restarts it with its data.
    pub(super) async fn restart(&mut self, store: Store, down: Duration) -> Result<()> {
        let servers = self.servers.as_mut().context("this profile has no such store")?;
        match store {
            Store::Postgres => {
                tokio::task::block_in_place(|| servers.postgres.stop());
                tokio::time::sleep(down).await;
                tokio::task::block_in_place(|| servers.postgres.restart());
            }
            Store::Redis => {
                tokio::task::block_in_place(|| servers.redis.kill());
                tokio::time::sleep(down).await;
                tokio::task::block_in_place(|| servers.redis.restart());
            }
            Store::Qdrant => {
                let state = servers.qdrant.take().context("the vector store is not running")?.stop().await;
                tokio::time::sleep(down).await;
                servers.qdrant = Some(FakeQdrant::at(&servers.qdrant_address, state));
            }
        }
        *self.restarts.entry(store).or_default() += 1;
        Ok(())
    }

    /// Number of chunks in the vector store by document, if this process can read it.
    pub(super) fn chunks(&self) -> Option<BTreeMap<String, u64>> {
        let qdrant = self.servers.as_ref()?.qdrant.as_ref()?;
        let state = qdrant.state.lock().ok()?;
        let mut counts = BTreeMap::new();
        for point in state.collections.values().flat_map(|stored| stored.points.values()) {
            let id = point.payload.get("document_id").and_then(|id| id.as_str()).cloned().unwrap_or_default();
            *counts.entry(id).or_insert(0) += 1;
        }
        Some(counts)
    }

    /// Sum of a metric over all processes.
    pub(super) async fn metric(&self, series: &str) -> Result<f64> {
        let mut sum = self.metric_at(&self.client.address, series).await?;
        if self.worker.is_some() {
            sum += self.metric_at(&self.worker_address, series).await?;
        }
        Ok(sum)
    }

    /// Value of a metric of the server.
    pub(super) async fn server_metric(&self, series: &str) -> Result<f64> {
        self.metric_at(&self.client.address, series).await
    }

    async fn metric_at(&self, address: &str, series: &str) -> Result<f64> {
        let client = self.client.at(address);
        let answer = client.get("/metrics").await?;
        let text = String::from_utf8(answer.body)?;
        let value = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        Ok(value.with_context(|| format!("no {series} at {address}"))?.parse()?)
    }

    /// Directory of the blob store.
    pub(super) fn blobs(&self) -> PathBuf {
        self.command.folder.join("data/blobs")
    }

    /// Stops all processes with SIGTERM; the stores keep running.
    pub(super) async fn stop(&mut self) -> Result<()> {
        for process in [Some(&mut self.server), self.worker.as_mut()].into_iter().flatten() {
            let status = process.terminate().await?;
            ensure!(status.success(), "a process ended with {status} after SIGTERM");
        }
        Ok(())
    }

    /// Runs `docent doctor`; returns its findings and skipped checks.
    pub(super) fn doctor(&self) -> Result<Vec<String>> {
        let profile: &[&str] = if self.servers.is_some() { &[] } else { &["--dev"] };
        let mut command = self.command.with(&[&["doctor", "--json"], profile].concat());
        let output = tokio::task::block_in_place(|| command.output())?;
        let lines = String::from_utf8(output.stdout)?;
        let mut problems = Vec::new();
        for line in lines.lines() {
            let line: Value = serde_json::from_str(line)?;
            if line["kind"] == "finding" || line["kind"] == "unchecked" {
                problems.push(format!("doctor: {line}"));
            }
        }
        if !output.status.success() && problems.is_empty() {
            problems.push(format!("doctor: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)));
        }
        Ok(problems)
    }
}

impl Servers {
    async fn start() -> Self {
        let qdrant = FakeQdrant::start();
        let (postgres, redis) =
            tokio::task::block_in_place(|| (PostgresServer::start(), RedisServer::start()));
        Self {
            postgres,
            redis,
            qdrant_address: qdrant.url.trim_start_matches("http://").to_owned(),
            qdrant: Some(qdrant),
            embeddings: FakeLlm::start().await,
        }
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("DOCENT_DATABASE_URL", self.postgres.url("docent", PostgresServer::PASSWORD, "postgres")),
            ("DOCENT_REDIS_URL", self.redis.url(0)),
            ("DOCENT_VECTOR_DB", "qdrant".to_owned()),
            ("DOCENT_QDRANT_URL", format!("http://{}", self.qdrant_address)),
            ("DOCENT_EMBEDDING_PROVIDER", "openai".to_owned()),
            ("DOCENT_EMBEDDING_BASE_URL", self.embeddings.base_url()),
            ("DOCENT_EMBEDDING_MODEL", "fake".to_owned()),
        ]
    }
}

/// Runs a command with a line of input.
fn run(mut command: Command, input: &str) -> Result<()> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    tokio::task::block_in_place(|| {
        let mut child = command.spawn().with_context(|| format!("{:?}", command.get_program()))?;
        child
            .stdin
            .take()
            .context("the input of the command")?
            .write_all(format!("{input}\n").as_bytes())
            .ok();
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    })
}

/// An unused address of this machine.
fn free_address() -> Result<String> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string())
}
