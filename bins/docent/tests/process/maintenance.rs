//! Maintenance commands: doctor, backup and restore.

use crate::client::{Client, fixture};
use crate::create_account;
use crate::program::{Serving, docent, run};
use std::path::Path;
use tempfile::TempDir;
use tokio::process::Command;

/// An embedded installation with one ingested document and no running service.
pub(super) async fn installation() -> (TempDir, String) {
    let folder = TempDir::new().unwrap();
    create_account(folder.path(), "ada@example.org", "correct horse").await;
    let serving = Serving::start(docent(folder.path()).args(["dev", "--no-sample"])).await;
    let client = Client::log_in(&serving, "ada@example.org", "correct horse").await;
    client.upload(&fixture("handbook.pdf")).await;
    let states = client.settled().await;
    let [(id, state)] = states.as_slice() else { panic!("{states:?}") };
    assert_eq!(state, "ingested");
    let id = id.clone();
    serving.terminate().await;
    (folder, id)
}

fn doctor(folder: &Path, more: &[&str]) -> Command {
    let mut command = docent(folder);
    command.args(["doctor", "--dev"]).args(more);
    command
}

#[tokio::test]
async fn doctor_finds_and_removes_orphan_file() {
    let (folder, _) = installation().await;
    let (status, printed, error) = run(&mut doctor(folder.path(), &[])).await;
    assert_eq!(status.code(), Some(0), "{printed}{error}");
    assert!(printed.contains("No problems found."), "{printed}");

    let orphan = folder.path().join("data/blobs/documents/0198f0a0-0000-7000-8000-000000000001.pdf");
    std::fs::write(&orphan, "a file without a document").unwrap();
    let (status, printed, _) = run(&mut doctor(folder.path(), &[])).await;
    assert_eq!(status.code(), Some(0), "a new file may belong to an upload: {printed}");
    let file = std::fs::File::options().write(true).open(&orphan).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();

    let (status, printed, _) = run(&mut doctor(folder.path(), &["--json"])).await;
    assert_eq!(status.code(), Some(1), "{printed}");
    let lines = printed.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let findings: Vec<_> = lines.filter(|line| line["kind"] == "finding").collect();
    assert_eq!(findings.len(), 1, "{printed}");
    assert_eq!(findings[0]["code"], "orphan_file");
    assert!(orphan.exists(), "without --fix nothing is removed");

    let (status, printed, _) = run(&mut doctor(folder.path(), &["--fix"])).await;
    assert_eq!(status.code(), Some(0), "{printed}");
    assert!(!orphan.exists());
    assert!(printed.contains("Found 1, repaired 1"), "{printed}");
}

#[tokio::test]
async fn doctor_reingests_document_with_lost_chunks() {
    let (folder, id) = installation().await;
    std::fs::remove_dir_all(folder.path().join("data/index")).unwrap();
    let (status, printed, _) = run(&mut doctor(folder.path(), &[])).await;
    assert_eq!(status.code(), Some(1), "{printed}");
    assert!(printed.contains(&format!("wrong_chunks {id}")), "{printed}");
    let (status, printed, _) = run(&mut doctor(folder.path(), &["--fix"])).await;
    assert_eq!(status.code(), Some(0), "{printed}");

    let serving = Serving::start(docent(folder.path()).args(["dev", "--no-sample"])).await;
    let client = Client::log_in(&serving, "ada@example.org", "correct horse").await;
    assert_eq!(client.settled().await, [(id, "ingested".to_owned())]);
    let (_, sources) = client.ask("How long is the return period for pumps?").await;
    assert!(!sources.is_empty());
    serving.terminate().await;
    let (status, printed, _) = run(&mut doctor(folder.path(), &[])).await;
    assert_eq!(status.code(), Some(0), "{printed}");
}

#[tokio::test]
async fn doctor_lists_skipped_checks_beside_running_service() {
    let (folder, _) = installation().await;
    let _serving = Serving::start(docent(folder.path()).args(["dev", "--no-sample"])).await;
    let (status, printed, _) = run(&mut doctor(folder.path(), &[])).await;
    assert_eq!(status.code(), Some(2), "{printed}");
    assert!(
        printed.contains("in use     vector store: another process, such as a running service, has"),
        "{printed}"
    );
    assert!(printed.contains("ok         key-value store"), "tokens are in the database: {printed}");
    assert!(printed.contains("Found 0, repaired 0, skipped 2 checks."), "no component is down: {printed}");
    assert!(printed.contains("unchecked  chunks without documents"), "{printed}");
    assert!(!printed.contains("unchecked  files"), "files are still checked: {printed}");
}

#[tokio::test]
async fn doctor_reports_missing_schema_and_invalid_settings() {
    let folder = TempDir::new().unwrap();
    let (status, printed, _) = run(&mut doctor(folder.path(), &[])).await;
    assert_eq!(status.code(), Some(2), "{printed}");
    assert!(printed.contains("docent migrate"), "{printed}");
    let (status, _, error) = run(doctor(folder.path(), &[]).env("DOCENT_RATE_LIMIT_PERIOD", "soon")).await;
    assert_eq!(status.code(), Some(2));
    assert!(error.contains("DOCENT_RATE_LIMIT_PERIOD"), "{error}");
}

pub(super) const QUESTION: &str = "How long is the return period for pumps?";

/// Starts a service and asks; returns the answer and its sources with IDs and scores.
pub(super) async fn ask(folder: &Path, question: &str) -> (String, Vec<serde_json::Value>) {
    let serving = Serving::start(docent(folder).args(["dev", "--no-sample"])).await;
    let client = Client::log_in(&serving, "ada@example.org", "correct horse").await;
    let answer = client.ask(question).await;
    assert!(!answer.1.is_empty());
    serving.terminate().await;
    answer
}

fn backup(folder: &Path, file: &Path) -> Command {
    let mut command = docent(folder);
    command.args(["backup", "--dev"]).arg(file);
    command
}

fn restore(folder: &Path, file: &Path) -> Command {
    let mut command = docent(folder);
    command.args(["restore", "--dev"]).arg(file);
    command
}

#[tokio::test]
async fn restored_installation_gives_same_answers() {
    let (folder, id) = installation().await;
    let before = ask(folder.path(), QUESTION).await;
    let file = folder.path().join("a.tar.gz");
    let (status, printed, error) = run(&mut backup(folder.path(), &file)).await;
    assert!(status.success(), "{error}");
    assert!(printed.contains("Saved 1 accounts, 1 documents, 1 files"), "{printed}");
    let (status, _, error) = run(&mut backup(folder.path(), &file)).await;
    assert!(!status.success() && error.contains("already exists"), "{error}");

    let other = TempDir::new().unwrap();
    let (status, printed, error) = run(&mut restore(other.path(), &file)).await;
    assert!(status.success(), "{error}");
    assert!(printed.contains("Restored 1 accounts, 1 documents"), "{printed}");
    let (status, printed, _) = run(&mut doctor(other.path(), &[])).await;
    assert_eq!(status.code(), Some(0), "{printed}");
    assert_eq!(ask(other.path(), QUESTION).await, before);
    let pdf = format!("data/blobs/documents/{id}.pdf");
    assert!(
        std::fs::read(folder.path().join(&pdf)).unwrap() == std::fs::read(other.path().join(&pdf)).unwrap()
    );

    let (status, _, error) = run(&mut restore(other.path(), &file)).await;
    assert!(!status.success());
    assert!(error.contains("1 accounts, 1 documents"), "the error names the existing records: {error}");
}

#[tokio::test]
async fn backup_beside_running_service_omits_chunks() {
    let (folder, id) = installation().await;
    let before = ask(folder.path(), QUESTION).await;
    let serving = Serving::start(docent(folder.path()).args(["dev", "--no-sample"])).await;
    let file = folder.path().join("a.tar.gz");
    let (status, printed, error) = run(&mut backup(folder.path(), &file)).await;
    assert!(status.success(), "{error}");
    assert!(error.contains("chunks are left out"), "{error}");
    assert!(printed.contains("1 files and 0 chunks"), "{printed}");
    serving.terminate().await;

    let other = TempDir::new().unwrap();
    let (status, printed, error) = run(&mut restore(other.path(), &file)).await;
    assert!(status.success(), "{error}");
    assert!(printed.contains("1 documents will be ingested"), "{printed}");
    let serving = Serving::start(docent(other.path()).args(["dev", "--no-sample"])).await;
    let client = Client::log_in(&serving, "ada@example.org", "correct horse").await;
    assert_eq!(client.settled().await, [(id, "ingested".to_owned())]);
    serving.terminate().await;
    assert_eq!(ask(other.path(), QUESTION).await, before);
}

#[tokio::test]
async fn damaged_archive_is_rejected_before_writing() {
    let (folder, _) = installation().await;
    let file = folder.path().join("a.tar.gz");
    assert!(run(&mut backup(folder.path(), &file)).await.0.success());
    let whole = std::fs::read(&file).unwrap();
    let mut altered = whole.clone();
    altered[whole.len() / 2] ^= 1;
    let other = TempDir::new().unwrap();
    for wrong in [&whole[..whole.len() / 2], &whole[..whole.len() - 1], &altered[..], b"no archive"] {
        std::fs::write(&file, wrong).unwrap();
        let (status, _, error) = run(&mut restore(other.path(), &file)).await;
        assert!(!status.success());
        assert!(error.contains("archive"), "{error}");
        let blobs = other.path().join("data/blobs/documents");
        assert!(!blobs.exists(), "nothing is written");
    }
    std::fs::write(&file, whole).unwrap();
    assert!(run(&mut restore(other.path(), &file)).await.0.success());
}

// Invariant: A restore writes all records or none.
#[tokio::test]
async fn killed_backup_and_restore_can_be_repeated() {
    let (folder, _) = installation().await;
    let before = ask(folder.path(), QUESTION).await;
    let file = folder.path().join("a.tar.gz");
    let other = TempDir::new().unwrap();
    let pauses = [0, 5, 15, 30, 50, 80, 120, 200];
    for pause in pauses {
        let mut child = backup(folder.path(), &file).spawn().unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(pause)).await;
        child.kill().await.unwrap();
        // The archive is either complete or missing.
        if file.exists() {
            break;
        }
    }
    if !file.exists() {
        let (status, _, error) = run(&mut backup(folder.path(), &file)).await;
        assert!(status.success(), "{error}");
    }
    for pause in pauses {
        let mut child = restore(other.path(), &file).spawn().unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(pause)).await;
        child.kill().await.unwrap();
    }
    // Either nothing was restored, and the command succeeds now, or everything was.
    let (status, _, error) = run(&mut restore(other.path(), &file)).await;
    assert!(status.success() || error.contains("1 accounts, 1 documents"), "{error}");
    assert_eq!(ask(other.path(), QUESTION).await, before);
    let (status, printed, _) = run(&mut doctor(other.path(), &[])).await;
    assert_eq!(status.code(), Some(0), "{printed}");
}
