//! Tests of the program as a process: first run, commands, kills, telemetry and deployment.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod accounts;
mod ask;
mod client;
mod collector;
mod command_line;
mod deploy;
mod embedding_prefixes;
mod eval;
mod first_run;
mod formats;
mod ingest;
#[cfg(feature = "live")]
mod live;
mod llm_check;
mod local_model;
mod maintenance;
mod model;
mod observability;
mod program;
mod recognition;
mod reindex;
mod remote;
mod shutdown;
mod sync;
mod upgrade;

use client::{Client, fixture};
use program::{SECRET, Serving, docent, in_time, rest, run};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

async fn create_account(folder: &Path, email: &str, password: &str) {
    create(folder, &["createsuperuser"], email, password).await;
}

async fn create(folder: &Path, command: &[&str], email: &str, password: &str) {
    let mut created = docent(folder);
    let command = created.args(command).args(["--dev", "--password-stdin", email]).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{password}\n").as_bytes()).await.unwrap();
    let status = in_time(child.wait()).await.unwrap();
    assert!(status.success(), "{}", rest(&mut child).await);
}

#[tokio::test]
async fn first_run_shows_sample_answer_and_later_runs_do_not() {
    let folder = TempDir::new().unwrap();
    let first = Serving::start(docent(folder.path()).arg("dev")).await;
    assert!(first.printed.contains("lasts **15 minutes**"), "{}", first.printed);
    assert!(first.printed.contains("page 4"), "{}", first.printed);
    let password = first.printed.split("password  ").nth(1).unwrap().split_whitespace().next().unwrap();
    let client = Client::log_in(&first, "admin@localhost", password).await;
    let (answer, sources) = client.ask("After how many failed logins are tries refused?").await;
    assert!(answer.contains("After **ten** failed logins") && answer.contains("page 4"), "{answer}");
    let includes_page_4 = |source: &Value| {
        source["page_start"].as_u64().unwrap() <= 4 && source["page_end"].as_u64().unwrap() >= 4
    };
    assert!(sources.iter().any(includes_page_4), "{sources:?}");
    let password = password.to_owned();
    let (status, printed) = first.terminate().await;
    assert!(status.success());
    for step in ["/auth/token", "/documents/upload", "/documents/DOCUMENT-ID", "include_sources", "/admin"] {
        assert!(printed.contains(step), "the next steps do not mention {step}");
    }

    let second = Serving::start(docent(folder.path()).arg("dev")).await;
    assert!(!second.printed.contains("password"));
    let client = Client::log_in(&second, "admin@localhost", &password).await;
    assert_eq!(client.get("/documents").await.as_array().unwrap().len(), 1, "one sample, not two");
}

#[tokio::test]
async fn no_sample_skips_sample_guide() {
    let folder = TempDir::new().unwrap();
    let serving = Serving::start(docent(folder.path()).args(["dev", "--no-sample"])).await;
    assert!(!serving.printed.contains("sample"));
}

#[tokio::test]
async fn uploads_are_ingested_once_despite_kills() {
    let folder = TempDir::new().unwrap();
    create_account(folder.path(), "ada@example.org", "correct horse").await;
    for round in 0..4_u64 {
        let serving = Serving::start(docent(folder.path()).args(["dev", "--no-sample"])).await;
        let client = Client::log_in(&serving, "ada@example.org", "correct horse").await;
        for _ in 0..3 {
            client.upload(&fixture("handbook.pdf")).await;
        }
        // Each round kills the process at a different point.
        tokio::time::sleep(Duration::from_millis(40 * round)).await;
        serving.kill().await;
    }
    let serving = Serving::start(docent(folder.path()).args(["dev", "--no-sample"])).await;
    let client = Client::log_in(&serving, "ada@example.org", "correct horse").await;
    let states = client.settled().await;
    assert_eq!(states.len(), 12);
    assert!(states.iter().all(|(_, state)| state == "ingested"), "{states:?}");
    let found = client.found("How long is the return period for pumps?").await;
    let chunks: BTreeSet<usize> = found.values().map(BTreeSet::len).collect();
    assert!(chunks.len() == 1 && !chunks.contains(&0), "copies have the same number of chunks: {found:?}");
    let all: BTreeSet<&String> = found.values().flatten().collect();
    assert_eq!(all.len(), 12 * chunks.first().unwrap(), "each copy has its own chunks");
}

#[tokio::test]
async fn signal_to_process_group_loses_no_document() {
    let folder = TempDir::new().unwrap();
    create_account(folder.path(), "ada@example.org", "correct horse").await;
    let serving = Serving::start(docent(folder.path()).args(["dev", "--no-sample"]).process_group(0)).await;
    let client = Client::log_in(&serving, "ada@example.org", "correct horse").await;
    for _ in 0..12 {
        client.upload(&fixture("handbook.pdf")).await;
    }
    let mut child = serving.child;
    // Like Ctrl-C in a terminal.
    let group = format!("-{}", child.id().unwrap());
    assert!(Command::new("kill").args(["-INT", "--", &group]).status().await.unwrap().success());
    assert!(in_time(child.wait()).await.unwrap().success());
    let serving = Serving::start(docent(folder.path()).args(["dev", "--no-sample"])).await;
    let client = Client::log_in(&serving, "ada@example.org", "correct horse").await;
    let states = client.settled().await;
    assert!(states.len() == 12 && states.iter().all(|(_, state)| state == "ingested"), "{states:?}");
}

#[tokio::test]
async fn data_dir_is_locked_by_one_process() {
    let folder = TempDir::new().unwrap();
    let _first = Serving::start(docent(folder.path()).args(["dev", "--no-sample"])).await;
    let (status, _, error) = run(docent(folder.path()).args(["dev", "--no-sample"])).await;
    assert!(!status.success());
    assert!(error.contains("another process"), "{error}");
}

#[tokio::test]
async fn address_in_use_is_reported_and_keeps_first_run() {
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
async fn lost_database_is_detected_and_is_not_a_first_run() {
    let folder = TempDir::new().unwrap();
    let (database, log) = (folder.path().join("data/docent.db"), folder.path().join("data/docent.db-wal"));
    let (lost, lost_log) = (folder.path().join("lost.db"), folder.path().join("lost.db-wal"));
    let serving = Serving::start(docent(folder.path()).arg("dev")).await;
    let url = format!("{}/health/ready", serving.base);
    let ready = async || in_time(client::client().get(&url).send()).await.unwrap().status();
    assert_eq!(ready().await, 200);
    std::fs::rename(&database, &lost).unwrap();
    // A result is kept for some seconds.
    in_time(async {
        while ready().await != 503 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    })
    .await;
    serving.terminate().await;
    // SQLite does not move the write-ahead log with the file.
    std::fs::rename(&log, &lost_log).unwrap();
    let _ = std::fs::remove_file(folder.path().join("data/docent.db-shm"));
    for attempt in ["without a database", "with an empty one"] {
        let (status, printed, error) = run(docent(folder.path()).arg("dev")).await;
        assert!(!status.success(), "{attempt}: {printed}");
        assert!(error.contains("data/index") && error.contains("docent restore"), "{attempt}: {error}");
        assert!(attempt != "without a database" || !database.exists(), "no database is created");
        std::fs::write(&database, "").unwrap();
    }
    std::fs::rename(&lost, &database).unwrap();
    std::fs::rename(&lost_log, &log).unwrap();
    let again = Serving::start(docent(folder.path()).arg("dev")).await;
    assert!(!again.printed.contains("first start"), "{}", again.printed);
}

#[tokio::test]
async fn dev_runs_with_closed_stdout() {
    let folder = TempDir::new().unwrap();
    let mut child = docent(folder.path()).args(["dev", "--no-sample"]).spawn().unwrap();
    drop(child.stdout.take());
    // A panic or an error would end the process before the first run has finished.
    in_time(async {
        while !folder.path().join("data/docent.db").exists() || folder.path().join("data/first-run").exists()
        {
            assert!(child.try_wait().unwrap().is_none(), "the process ended");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert!(child.try_wait().unwrap().is_none());
}

#[tokio::test]
async fn serve_rejects_weak_secret_and_reports_all_problems() {
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
    assert!(!error.contains("short\""), "the secret is hidden: {error}");
}

#[tokio::test]
async fn fatal_errors_use_the_log_format() {
    let folder = TempDir::new().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let cases = [
        ("serve", "DOCENT_RATE_LIMIT_PERIOD", "soon", "DOCENT_RATE_LIMIT_PERIOD is \"soon\""),
        ("dev", "DOCENT_BIND_ADDRESS", &*address, "listening on"),
    ];
    for (command, variable, value, words) in cases {
        let mut program = docent(folder.path());
        let (status, _, error) =
            run(program.arg(command).env("DOCENT_LOG_FORMAT", "json").env(variable, value)).await;
        assert!(!status.success());
        let lines: Vec<Value> = error.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let last = lines.last().unwrap();
        assert_eq!(last["level"], "ERROR");
        assert!(last["message"].as_str().unwrap().contains(words), "{last}");
    }
}

#[tokio::test]
async fn worker_rejects_stores_of_one_process() {
    let folder = TempDir::new().unwrap();
    for (variable, value, expected) in [
        ("DOCENT_VECTOR_DB", "embedded", "DOCENT_VECTOR_DB=qdrant"),
        ("DOCENT_REDIS_URL", "memory://", "DOCENT_REDIS_URL"),
    ] {
        let mut command = docent(folder.path());
        command
            .arg("worker")
            .env("DOCENT_SECRET_KEY", SECRET)
            .env("DOCENT_DATABASE_URL", "postgres://docent@127.0.0.1:1/docent")
            .env(variable, value);
        let (status, _, error) = run(&mut command).await;
        assert!(!status.success());
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn serve_requires_migrated_schema() {
    let folder = TempDir::new().unwrap();
    let embedded = |command: &mut Command| {
        let database = format!("sqlite://{}", folder.path().join("d.db").display());
        command.env("DOCENT_SECRET_KEY", SECRET).env("DOCENT_DATABASE_URL", database);
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
async fn user_create_rejects_weak_password_and_taken_email() {
    let folder = TempDir::new().unwrap();
    create_account(folder.path(), "ada@example.org", "correct horse").await;
    for (email, password, expected) in [
        ("ADA@example.org", "correct horse", "already in use"),
        ("bob@example.org", "short", "at least 8"),
        ("bob", "correct horse", "email address"),
    ] {
        let mut command = docent(folder.path());
        command.args(["users", "create", "--dev", "--password-stdin", email]).stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The command may fail before it reads the password.
        let _ = child.stdin.take().unwrap().write_all(format!("{password}\n").as_bytes()).await;
        let status = in_time(child.wait()).await.unwrap();
        assert!(!status.success());
        let error = rest(&mut child).await;
        assert!(error.contains(expected), "{email}: {error}");
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

#[tokio::test]
async fn openapi_prints_reference_document_without_settings() {
    let folder = TempDir::new().unwrap();
    let (status, printed, error) = run(docent(folder.path()).arg("openapi")).await;
    assert!(status.success(), "{error}");
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/openapi.json");
    assert_eq!(printed, std::fs::read_to_string(reference).unwrap());
}
