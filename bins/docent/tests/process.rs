//! The program as a process: its first run, its commands, and what a kill costs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdout, Command},
};

/// Nothing here takes as long, however busy the machine; what does, hangs.
const PATIENCE: Duration = Duration::from_secs(120);
const SECRET: &str = "0123456789abcdef0123456789abcdef";

fn docent(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_docent"));
    command
        .env_clear()
        .env("DOCENT_DATA_DIR", folder.join("data"))
        .env("DOCENT_BIND_ADDRESS", "127.0.0.1:0")
        .env("DOCENT_RATE_LIMIT_REQUESTS", "1000000")
        .env("DOCENT_SEARCH_LIMIT", "12")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.expect("this takes no minutes")
}

/// Runs a command to its end: status, standard output, standard error.
async fn run(command: &mut Command) -> (ExitStatus, String, String) {
    let output = in_time(command.output()).await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status, text(output.stdout), text(output.stderr))
}

/// A serving process.
struct Serving {
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// What it printed until it listened.
    printed: String,
    base: String,
}

impl Serving {
    async fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut printed = String::new();
        while !printed.to_lowercase().contains("listening on http://") {
            let read = in_time(stdout.read_line(&mut printed)).await.unwrap();
            assert!(read > 0, "it ended early: {printed}\n{}", rest(&mut child).await);
        }
        let base = printed.split("http://").last().unwrap().split_whitespace().next().unwrap();
        Self { child, base: format!("http://{base}"), stdout, printed }
    }

    async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    async fn terminate(mut self) -> (ExitStatus, String) {
        let pid = self.child.id().unwrap().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().await.unwrap().success());
        let status = in_time(self.child.wait()).await.unwrap();
        let mut printed = self.printed;
        in_time(self.stdout.read_to_string(&mut printed)).await.unwrap();
        (status, printed)
    }
}

async fn rest(child: &mut Child) -> String {
    let mut text = String::new();
    in_time(child.stderr.take().unwrap().read_to_string(&mut text)).await.unwrap();
    text
}

/// A client of a serving process.
struct Client {
    http: reqwest::Client,
    base: String,
    token: String,
}

impl Client {
    async fn log_in(serving: &Serving, email: &str, password: &str) -> Self {
        // The adapters switch TLS on without a choice of cryptography; one must be made, though
        // nothing here uses it. Another client of the process may have made it before.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http =
            reqwest::Client::builder().tls_certs_only([]).timeout(PATIENCE).no_proxy().build().unwrap();
        let base = serving.base.clone();
        let body = json!({ "email": email, "password": password });
        let response = http.post(format!("{base}/auth/token")).json(&body).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let pair: Value = response.json().await.unwrap();
        Self { http, base, token: pair["access_token"].as_str().unwrap().to_owned() }
    }

    async fn get(&self, path: &str) -> Value {
        let request = self.http.get(format!("{}{path}", self.base)).bearer_auth(&self.token);
        request.send().await.unwrap().json().await.unwrap()
    }

    async fn upload(&self, file: &Path) -> String {
        let bytes = std::fs::read(file).unwrap();
        let part = reqwest::multipart::Part::bytes(bytes)
            .file_name(file.file_name().unwrap().to_str().unwrap().to_owned())
            .mime_str("application/pdf")
            .unwrap();
        let form = reqwest::multipart::Form::new().part("file", part);
        let request = self.http.post(format!("{}/documents/upload", self.base)).bearer_auth(&self.token);
        let response = request.multipart(form).send().await.unwrap();
        assert_eq!(response.status(), 202);
        response.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned()
    }

    /// The answer's text, and its sources.
    async fn ask(&self, question: &str) -> (String, Vec<Value>) {
        let body = json!({ "messages": [{ "role": "user", "content": question }], "include_sources": true });
        let request = self.http.post(format!("{}/agents/chat", self.base)).bearer_auth(&self.token);
        let stream = request.json(&body).send().await.unwrap().text().await.unwrap();
        let (mut answer, mut sources) = (String::new(), Vec::new());
        for event in stream.split("\n\n") {
            if let Some(token) = event.strip_prefix("data: ") {
                answer += &serde_json::from_str::<String>(token).unwrap();
            } else if let Some(found) = event.strip_prefix("event: sources\ndata: ") {
                let found: Value = serde_json::from_str(found).unwrap();
                sources = found["results"].as_array().unwrap().clone();
            }
        }
        (answer, sources)
    }

    /// Waits until no document is pending; gives each one's state.
    async fn settled(&self) -> Vec<(String, String)> {
        in_time(async {
            loop {
                let documents = self.get("/documents").await;
                let field = |document: &Value, name: &str| document[name].as_str().unwrap().to_owned();
                let states: Vec<_> = documents
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|document| (field(document, "id"), field(document, "status")))
                    .collect();
                if states.iter().all(|(_, state)| state != "pending") {
                    return states;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
        .await
    }
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/pdf").join(name)
}

async fn create_account(folder: &Path, email: &str, password: &str) {
    let mut command = docent(folder);
    command.args(["createsuperuser", "--dev", "--password-stdin", email]).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{password}\n").as_bytes()).await.unwrap();
    let status = in_time(child.wait()).await.unwrap();
    assert!(status.success(), "{}", rest(&mut child).await);
}

#[tokio::test]
async fn the_first_run_proves_itself_and_later_ones_start_at_once() {
    let folder = TempDir::new().unwrap();
    let first = Serving::start(docent(folder.path()).arg("dev")).await;
    assert!(first.printed.contains("lasts 15 minutes"), "{}", first.printed);
    assert!(first.printed.contains("page 4"), "{}", first.printed);
    let password = first.printed.split("password  ").nth(1).unwrap().split_whitespace().next().unwrap();
    let client = Client::log_in(&first, "admin@localhost", password).await;
    let (answer, sources) = client.ask("After how many failed logins are tries refused?").await;
    assert!(answer.contains("After ten failed logins") && answer.contains("page 4"), "{answer}");
    let holds_page_4 = |source: &Value| {
        source["page_start"].as_u64().unwrap() <= 4 && source["page_end"].as_u64().unwrap() >= 4
    };
    assert!(sources.iter().any(holds_page_4), "{sources:?}");
    let password = password.to_owned();
    let (status, printed) = first.terminate().await;
    assert!(status.success());
    assert!(printed.contains("/documents/upload"), "it says what to try next");

    let second = Serving::start(docent(folder.path()).arg("dev")).await;
    assert!(!second.printed.contains("password"));
    let client = Client::log_in(&second, "admin@localhost", &password).await;
    assert_eq!(client.get("/documents").await.as_array().unwrap().len(), 1, "one sample, not two");
}

#[tokio::test]
async fn the_sample_can_be_left_out() {
    let folder = TempDir::new().unwrap();
    let serving = Serving::start(docent(folder.path()).args(["dev", "--no-sample"])).await;
    assert!(!serving.printed.contains("sample"));
}

#[tokio::test]
async fn killed_again_and_again_every_upload_is_ingested_once() {
    let folder = TempDir::new().unwrap();
    create_account(folder.path(), "ada@example.org", "correct horse").await;
    for round in 0..4_u64 {
        let serving = Serving::start(docent(folder.path()).args(["dev", "--no-sample"])).await;
        let client = Client::log_in(&serving, "ada@example.org", "correct horse").await;
        for _ in 0..3 {
            client.upload(&fixture("handbook.pdf")).await;
        }
        // Each round is killed at another point of the work.
        tokio::time::sleep(Duration::from_millis(40 * round)).await;
        serving.kill().await;
    }
    let serving = Serving::start(docent(folder.path()).args(["dev", "--no-sample"])).await;
    let client = Client::log_in(&serving, "ada@example.org", "correct horse").await;
    let states = client.settled().await;
    assert_eq!(states.len(), 12);
    assert!(states.iter().all(|(_, state)| state == "ingested"), "{states:?}");
    // Twelve copies of one file hold the same best chunk once each.
    let (_, sources) = client.ask("How long is the return period for pumps?").await;
    let found: BTreeSet<String> = sources.iter().map(|source| source["document_id"].to_string()).collect();
    assert_eq!((sources.len(), found.len()), (12, 12), "no chunk is missing, and none is stored twice");
}

#[tokio::test]
async fn one_data_folder_has_one_process() {
    let folder = TempDir::new().unwrap();
    let _first = Serving::start(docent(folder.path()).args(["dev", "--no-sample"])).await;
    let (status, _, error) = run(docent(folder.path()).args(["dev", "--no-sample"])).await;
    assert!(!status.success());
    assert!(error.contains("another process"), "{error}");
}

#[tokio::test]
async fn an_address_in_use_is_named_and_costs_no_first_run() {
    let folder = TempDir::new().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut command = docent(folder.path());
    let (status, _, error) =
        run(command.args(["dev", "--no-sample"]).env("DOCENT_BIND_ADDRESS", &address)).await;
    assert!(!status.success());
    assert!(error.contains(&address), "{error}");
    let serving = Serving::start(docent(folder.path()).args(["dev", "--no-sample"])).await;
    assert!(serving.printed.contains("admin account"), "{}", serving.printed);
}

#[tokio::test]
async fn a_first_run_that_was_cut_short_begins_again() {
    let folder = TempDir::new().unwrap();
    let mut child = docent(folder.path()).arg("dev").spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut printed = String::new();
    while !printed.contains("first start") {
        assert!(in_time(stdout.read_line(&mut printed)).await.unwrap() > 0, "{printed}");
    }
    child.kill().await.unwrap();
    let serving = Serving::start(docent(folder.path()).arg("dev")).await;
    assert!(serving.printed.contains("lasts 15 minutes"), "{}", serving.printed);
    let password = serving.printed.split("password  ").nth(1).unwrap().split_whitespace().next().unwrap();
    Client::log_in(&serving, "admin@localhost", password).await;
}

#[tokio::test]
async fn nobody_has_to_read_what_it_prints() {
    let folder = TempDir::new().unwrap();
    let mut child = docent(folder.path()).args(["dev", "--no-sample"]).spawn().unwrap();
    drop(child.stdout.take());
    // A panic or an error would end it before the account is there and the marker gone.
    in_time(async {
        while !folder.path().join("data/docent.db").exists() || folder.path().join("data/first-run").exists()
        {
            assert!(child.try_wait().unwrap().is_none(), "it ended");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert!(child.try_wait().unwrap().is_none());
}

#[tokio::test]
async fn serve_refuses_weak_secrets_and_tells_every_problem_at_once() {
    let folder = TempDir::new().unwrap();
    let (status, _, error) = run(docent(folder.path())
        .arg("serve")
        .env("DOCENT_SECRET_KEY", "short")
        .env("DOCENT_RATE_LIMIT_PERIOD", "soon")
        .env("DOCENT_RATE_LIMIT_REQUEST", "5"))
    .await;
    assert!(!status.success());
    for part in ["DOCENT_SECRET_KEY", "32", "DOCENT_RATE_LIMIT_PERIOD", "DOCENT_DATABASE_URL"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert!(!error.contains("short\""), "the secret is not shown: {error}");
}

#[tokio::test]
async fn serve_with_the_untouched_example_names_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/.env.example");
    let example = std::fs::read_to_string(example).unwrap();
    let set = example.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='));
    let (status, _, errors) = run(docent(folder.path()).envs(set).arg("serve")).await;
    assert!(!status.success());
    for missing in ["DOCENT_SECRET_KEY must be set", "DOCENT_DATABASE_URL must be set"] {
        assert!(errors.contains(missing), "{errors}");
    }
}

#[tokio::test]
async fn healthcheck_succeeds_only_while_the_server_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let serving = Serving::start(docent(folder.path()).args(["dev", "--no-sample"])).await;
    let address = serving.base.trim_start_matches("http://").to_owned();
    let (status, printed, errors) =
        run(docent(folder.path()).args(["healthcheck", "--address", &address])).await;
    assert!(status.success() && printed.contains("\"ok\""), "{printed}{errors}");
    let everywhere = address.replace("127.0.0.1", "0.0.0.0");
    let mut by_setting = docent(folder.path());
    let (status, ..) =
        run(by_setting.env("DOCENT_BIND_ADDRESS", everywhere).args(["healthcheck", "--dev"])).await;
    assert!(status.success(), "the address it listens on is the one to ask");
    serving.kill().await;
    let (status, _, errors) = run(docent(folder.path()).args(["healthcheck", "--address", &address])).await;
    assert!(!status.success() && errors.contains(&address), "{errors}");
}

#[test]
fn the_image_is_built_with_the_toolchain_of_the_workspace() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap();
    let toolchain = read("rust-toolchain.toml");
    let channel = toolchain.split('"').nth(1).unwrap();
    let dockerfile = read("deploy/Dockerfile");
    assert!(
        dockerfile.contains(&format!("FROM rust:{channel}-")),
        "deploy/Dockerfile is not of Rust {channel}"
    );
}

#[tokio::test]
async fn serve_refuses_a_database_without_schema_until_it_is_migrated() {
    let folder = TempDir::new().unwrap();
    let embedded = |command: &mut Command| {
        let database = format!("sqlite://{}", folder.path().join("d.db").display());
        command
            .env("DOCENT_SECRET_KEY", SECRET)
            .env("DOCENT_DATABASE_URL", database)
            .env("DOCENT_REDIS_URL", "memory://")
            .env("DOCENT_VECTOR_DB", "embedded");
    };
    let mut serve = docent(folder.path());
    embedded(serve.arg("serve"));
    let (status, _, error) = run(&mut serve).await;
    assert!(!status.success());
    assert!(error.contains("docent migrate"), "{error}");

    let mut migrate = docent(folder.path());
    embedded(migrate.arg("migrate"));
    let (status, printed, _) = run(&mut migrate).await;
    assert!(status.success() && printed.contains("Done"), "{printed}");
    let mut again = docent(folder.path());
    embedded(again.arg("migrate"));
    let (_, printed, _) = run(&mut again).await;
    assert!(printed.contains("Nothing to do"), "{printed}");
}

#[tokio::test]
async fn accounts_need_good_passwords_and_free_addresses() {
    let folder = TempDir::new().unwrap();
    create_account(folder.path(), "ada@example.org", "correct horse").await;
    for (email, password, said) in [
        ("ADA@example.org", "correct horse", "exists already"),
        ("bob@example.org", "short", "at least 8"),
        ("bob", "correct horse", "e-mail address"),
    ] {
        let mut command = docent(folder.path());
        command.args(["users", "create", "--dev", "--password-stdin", email]).stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A refusal may come before the password is read.
        let _ = child.stdin.take().unwrap().write_all(format!("{password}\n").as_bytes()).await;
        let status = in_time(child.wait()).await.unwrap();
        assert!(!status.success());
        let error = rest(&mut child).await;
        assert!(error.contains(said), "{email}: {error}");
    }
}

#[tokio::test]
async fn config_shows_values_and_hides_secrets() {
    let folder = TempDir::new().unwrap();
    let mut command = docent(folder.path());
    let (status, printed, error) = run(command
        .args(["config", "--dev"])
        .env("DOCENT_SECRET_KEY", SECRET)
        .env("DOCENT_MAX_UPLOAD_BYTE", "1"))
    .await;
    assert!(status.success(), "{error}");
    assert!(printed.contains("DOCENT_MAX_UPLOAD_BYTES=50MiB"), "{printed}");
    assert!(!printed.contains(SECRET));
    assert!(error.contains("did you mean DOCENT_MAX_UPLOAD_BYTES?"), "{error}");
}
