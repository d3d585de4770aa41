//! The commands that look after an installation.

use crate::{
    client::{Client, fixture},
    create_account,
    program::{Serving, docent, run},
};
use std::path::Path;
use tempfile::TempDir;
use tokio::process::Command;

/// An embedded installation with one ingested document, nobody serving.
async fn installation() -> (TempDir, String) {
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
async fn the_doctor_finds_nothing_then_an_orphan_and_removes_it() {
    let (folder, _) = installation().await;
    let (status, printed, error) = run(&mut doctor(folder.path(), &[])).await;
    assert_eq!(status.code(), Some(0), "{printed}{error}");
    assert!(printed.contains("Nothing is wrong."), "{printed}");

    let orphan = folder.path().join("data/blobs/documents/0198f0a0-0000-7000-8000-000000000001.pdf");
    std::fs::write(&orphan, "a file that nobody knows").unwrap();
    let (status, printed, _) = run(&mut doctor(folder.path(), &[])).await;
    assert_eq!(status.code(), Some(0), "a new file may be an upload's: {printed}");
    let file = std::fs::File::options().write(true).open(&orphan).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();

    let (status, printed, _) = run(&mut doctor(folder.path(), &["--json"])).await;
    assert_eq!(status.code(), Some(1), "{printed}");
    let lines = printed.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let findings: Vec<_> = lines.filter(|line| line["kind"] == "finding").collect();
    assert_eq!(findings.len(), 1, "{printed}");
    assert_eq!(findings[0]["code"], "orphan_file");
    assert!(orphan.exists(), "it only looked");

    let (status, printed, _) = run(&mut doctor(folder.path(), &["--fix"])).await;
    assert_eq!(status.code(), Some(0), "{printed}");
    assert!(!orphan.exists());
    assert!(printed.contains("Found 1, mended 1"), "{printed}");
}

#[tokio::test]
async fn the_doctor_has_a_document_ingested_again_whose_chunks_are_lost() {
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
async fn beside_a_serving_process_the_doctor_says_what_it_leaves_out() {
    let (folder, _) = installation().await;
    let _serving = Serving::start(docent(folder.path()).args(["dev", "--no-sample"])).await;
    let (status, printed, _) = run(&mut doctor(folder.path(), &[])).await;
    assert_eq!(status.code(), Some(2), "{printed}");
    assert!(printed.contains("in use by another process"), "{printed}");
    assert!(printed.contains("unchecked  chunks without documents"), "{printed}");
    assert!(!printed.contains("unchecked  files"), "files are still checked: {printed}");
}

#[tokio::test]
async fn the_doctor_says_that_there_is_no_schema_yet_or_that_settings_are_wrong() {
    let folder = TempDir::new().unwrap();
    let (status, printed, _) = run(&mut doctor(folder.path(), &[])).await;
    assert_eq!(status.code(), Some(2), "{printed}");
    assert!(printed.contains("docent migrate"), "{printed}");
    let (status, _, error) = run(doctor(folder.path(), &[]).env("DOCENT_RATE_LIMIT_PERIOD", "soon")).await;
    assert_eq!(status.code(), Some(2));
    assert!(error.contains("DOCENT_RATE_LIMIT_PERIOD"), "{error}");
}
