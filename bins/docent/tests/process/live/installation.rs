//! An installation for one test, whose components can be stopped and restarted.

#[path = "../../../../../crates/adapters/index/tests/qdrant/server/mod.rs"]
#[allow(dead_code, reason = "the adapter's tests use all of it")]
mod qdrant;

use crate::client::client;
use crate::program::{SECRET, docent, in_time, rest, run};
use docent_testkit::servers::{PostgresServer, RedisServer};
use docent_testkit::wire::FakeLlm;
pub(super) use qdrant::Fake as FakeQdrant;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

const EMAIL: &str = "ada@example.org";
const PASSWORD: &str = "correct horse";

/// Stores and model back ends of an installation.
pub(super) struct Installation {
    folder: TempDir,
    pub(super) postgres: PostgresServer,
    pub(super) redis: RedisServer,
    pub(super) qdrant: Option<FakeQdrant>,
    pub(super) llm: Option<FakeLlm>,
    pub(super) embeddings: Option<FakeLlm>,
    addresses: [String; 3],
}

impl Installation {
    /// Starts the servers, migrates the schema and creates an account.
    pub(super) async fn start() -> Self {
        let installation = Self::empty().await;
        let mut create = installation.docent("createsuperuser");
        create.args(["createsuperuser", "--password-stdin", EMAIL]).stdin(Stdio::piped());
        let mut child = create.spawn().unwrap();
        child.stdin.take().unwrap().write_all(format!("{PASSWORD}\n").as_bytes()).await.unwrap();
        let status = in_time(child.wait()).await.unwrap();
        assert!(status.success(), "{}", rest(&mut child).await);
        installation
    }

    /// Starts the servers and migrates the schema.
    pub(super) async fn empty() -> Self {
        let (qdrant, llm, embeddings) = (FakeQdrant::start(), FakeLlm::start().await, FakeLlm::start().await);
        let installation = Self {
            folder: tempfile::tempdir().unwrap(),
            postgres: PostgresServer::start(),
            redis: RedisServer::start(),
            addresses: [qdrant.url.clone(), llm.base_url(), embeddings.base_url()],
            qdrant: Some(qdrant),
            llm: Some(llm),
            embeddings: Some(embeddings),
        };
        let (status, _, error) = run(installation.docent("migrate").arg("migrate")).await;
        assert!(status.success(), "{error}");
        installation
    }

    /// A command with the settings of this installation; logs go to a file with this name.
    pub(super) fn docent(&self, name: &str) -> Command {
        let mut command = docent(self.folder.path());
        let [qdrant, llm, embeddings] = &self.addresses;
        let variables = [
            ("DOCENT_SECRET_KEY", SECRET.to_owned()),
            ("DOCENT_DATABASE_URL", self.postgres.url("docent", PostgresServer::PASSWORD, "postgres")),
            ("DOCENT_REDIS_URL", self.redis.url(0)),
            ("DOCENT_QDRANT_URL", qdrant.clone()),
            ("DOCENT_LLM_BASE_URL", llm.clone()),
            ("DOCENT_LLM_MODEL", "fake".to_owned()),
            ("DOCENT_EMBEDDING_PROVIDER", "openai".to_owned()),
            ("DOCENT_EMBEDDING_BASE_URL", embeddings.clone()),
            ("DOCENT_EMBEDDING_MODEL", "fake".to_owned()),
        ];
        command.envs(variables);
        if !matches!(name, "migrate" | "createsuperuser" | "backup" | "restore" | "doctor" | "reindex") {
            command.stdout(Stdio::null()).stderr(std::fs::File::create(self.log(name)).unwrap());
        }
        command
    }

    /// The log of a process so far.
    pub(super) fn logged(&self, name: &str) -> String {
        std::fs::read_to_string(self.log(name)).unwrap()
    }

    fn log(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(format!("{name}.log"))
    }

    /// Starts an API replica and waits until it answers.
    pub(super) async fn serve(&self, name: &str, settings: &[(&str, &str)]) -> Replica {
        let address = free_address();
        let mut command = self.docent(name);
        command.arg("serve").env("DOCENT_BIND_ADDRESS", &address).envs(settings.iter().copied());
        self.start_replica(name, command, &address).await
    }

    /// Starts an API replica without jobs.
    pub(super) async fn serve_without_jobs(&self, name: &str) -> Replica {
        let address = free_address();
        let mut command = self.docent(name);
        command.args(["serve", "--no-jobs"]).env("DOCENT_BIND_ADDRESS", &address);
        self.start_replica(name, command, &address).await
    }

    /// Starts a worker with health endpoints and waits until it answers.
    pub(super) async fn worker_with_health(&self, name: &str) -> Replica {
        let address = free_address();
        let mut command = self.docent(name);
        command.arg("worker").env("DOCENT_WORKER_BIND_ADDRESS", &address);
        self.start_replica(name, command, &address).await
    }

    async fn start_replica(&self, name: &str, mut command: Command, address: &str) -> Replica {
        let child = command.spawn().unwrap();
        let mut replica =
            Replica { child, base: format!("http://{address}"), http: client(), token: String::new() };
        while replica.status(replica.request(Method::GET, "/health/live")).await != 200 {
            let log = || std::fs::read_to_string(self.log(name)).unwrap();
            assert!(replica.child.try_wait().unwrap().is_none(), "the process ended: {}", log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        replica
    }

    /// Starts a worker.
    pub(super) fn worker(&self, name: &str) -> Child {
        self.docent(name).arg("worker").spawn().unwrap()
    }

    /// Number of chunks in the vector store, by document.
    pub(super) fn chunks(&self) -> BTreeMap<String, usize> {
        let qdrant = self.qdrant.as_ref().unwrap();
        let state = qdrant.state.lock().unwrap();
        let mut counts = BTreeMap::new();
        for point in state.collections.values().flat_map(|stored| stored.points.values()) {
            let id = point.payload["document_id"].as_str().unwrap().clone();
            *counts.entry(id).or_insert(0) += 1;
        }
        counts
    }

    pub(super) async fn stop_qdrant(&mut self) -> impl FnOnce(&mut Self) + use<> {
        let state = self.qdrant.take().unwrap().stop().await;
        |installation: &mut Self| {
            let address = installation.addresses[0].trim_start_matches("http://").to_owned();
            installation.qdrant = Some(FakeQdrant::at(&address, state));
        }
    }
}

/// A process with HTTP endpoints, and a client for it.
pub(super) struct Replica {
    pub(super) child: Child,
    base: String,
    http: reqwest::Client,
    token: String,
}

impl Replica {
    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token)
    }

    /// Sends a request; returns the status, or 0 without a response.
    pub(super) async fn status(&self, request: RequestBuilder) -> u16 {
        self.send(request).await.0
    }

    /// Sends a request; returns status and body, or 0 without a response.
    pub(super) async fn send(&self, request: RequestBuilder) -> (u16, String) {
        match request.send().await {
            Ok(response) => (response.status().as_u16(), response.text().await.unwrap_or_default()),
            Err(error) => {
                assert!(!error.is_timeout(), "a request timed out: {error}");
                (0, String::new())
            }
        }
    }

    pub(super) fn log_in(&self) -> RequestBuilder {
        let body = json!({ "email": EMAIL, "password": PASSWORD });
        self.request(Method::POST, "/auth/token").json(&body)
    }

    /// Logs in for later requests; returns the refresh token.
    pub(super) async fn authenticate(&mut self) -> String {
        let (status, text) = self.send(self.log_in()).await;
        assert_eq!(status, 200, "{text}");
        let pair: Value = serde_json::from_str(&text).unwrap();
        self.token = pair["access_token"].as_str().unwrap().to_owned();
        pair["refresh_token"].as_str().unwrap().to_owned()
    }

    pub(super) fn upload(&self, file: &Path) -> RequestBuilder {
        let part = reqwest::multipart::Part::bytes(std::fs::read(file).unwrap())
            .file_name("handbook.pdf")
            .mime_str("application/pdf")
            .unwrap();
        let form = reqwest::multipart::Form::new().part("file", part);
        self.request(Method::POST, "/documents/upload").multipart(form)
    }

    pub(super) fn chat(&self, question: &str) -> RequestBuilder {
        let body = json!({ "messages": [{ "role": "user", "content": question }] });
        self.request(Method::POST, "/agents/chat").json(&body)
    }

    pub(super) fn tokens(&self, path: &str, refresh_token: &str) -> RequestBuilder {
        self.request(Method::POST, path).json(&json!({ "refresh_token": refresh_token }))
    }

    /// Status and body of `/health/ready`.
    pub(super) async fn health(&self) -> (u16, Value) {
        let (status, text) = self.send(self.request(Method::GET, "/health/ready")).await;
        (status, serde_json::from_str(&text).unwrap_or_default())
    }

    /// Document statuses by ID.
    pub(super) async fn documents(&self) -> BTreeMap<String, String> {
        let (status, text) = self.send(self.request(Method::GET, "/documents")).await;
        assert_eq!(status, 200, "{text}");
        let documents: Vec<Value> = serde_json::from_str(&text).unwrap();
        let text = |document: &Value, name: &str| document[name].as_str().unwrap().to_owned();
        documents.iter().map(|document| (text(document, "id"), text(document, "status"))).collect()
    }

    /// Stops the process as an orchestrator does.
    pub(super) async fn terminate(mut self) -> ExitStatus {
        terminate(&mut self.child).await
    }
}

/// Sends SIGTERM to a process and waits for its end.
pub(super) async fn terminate(child: &mut Child) -> ExitStatus {
    let pid = child.id().unwrap().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().await.unwrap().success());
    in_time(child.wait()).await.unwrap()
}

/// An unused address of this machine.
fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}
