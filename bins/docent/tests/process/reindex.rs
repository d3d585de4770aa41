//! `docent reindex` beside a serving process.

use crate::client::{Client, fixture};
use crate::create_account;
use crate::maintenance::QUESTION;
use crate::program::{Serving, docent, in_time, run};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::Command;

const DOCUMENTS: usize = 6;

fn reindex(folder: &Path) -> Command {
    let mut command = docent(folder);
    command.args(["reindex", "--dev"]);
    command
}

/// The answer, and the chunks found in each document.
async fn ask_and_search(client: &Client) -> (String, BTreeMap<String, BTreeSet<String>>) {
    (client.ask(QUESTION).await.0, client.found(QUESTION).await)
}

// Invariant: An interrupted build can be resumed, and the previous index remains active.
#[tokio::test]
async fn killed_reindex_resumes_while_current_index_stays_active() {
    let folder = TempDir::new().unwrap();
    create_account(folder.path(), "ada@example.org", "correct horse").await;
    let serving = Serving::start(docent(folder.path()).args(["dev", "--no-sample"])).await;
    let client = Client::log_in(&serving, "ada@example.org", "correct horse").await;
    for _ in 0..DOCUMENTS {
        client.upload(&fixture("handbook.pdf")).await;
    }
    client.settled().await;
    let before = ask_and_search(&client).await;
    assert_eq!(before.1.values().filter(|chunks| !chunks.is_empty()).count(), DOCUMENTS);
    for pause in [20, 100, 200, 300] {
        let mut child = reindex(folder.path()).spawn().unwrap();
        tokio::time::sleep(Duration::from_millis(pause)).await;
        assert_eq!(ask_and_search(&client).await, before, "the current index stays active");
        child.kill().await.unwrap();
    }
    let (status, printed, error) = run(reindex(folder.path()).arg("--json")).await;
    assert!(status.success(), "{printed}{error}");
    let output: serde_json::Value = serde_json::from_str(printed.trim()).unwrap();
    assert_eq!((&output["kind"], &output["documents"]), (&"switched".into(), &DOCUMENTS.into()), "{printed}");
    assert_eq!(ask_and_search(&client).await, before, "the new index gives the same results");
    // New documents go into the new index, and the next start opens it.
    client.upload(&fixture("handbook.pdf")).await;
    client.settled().await;
    let after = ask_and_search(&client).await;
    assert_eq!(after.1.values().filter(|chunks| !chunks.is_empty()).count(), DOCUMENTS + 1);
    serving.terminate().await;
    let serving = Serving::start(docent(folder.path()).args(["dev", "--no-sample"])).await;
    let client = Client::log_in(&serving, "ada@example.org", "correct horse").await;
    assert_eq!(ask_and_search(&client).await, after);
    serving.terminate().await;
    let mut doctor = docent(folder.path());
    let (status, printed, _) = run(doctor.args(["doctor", "--dev"])).await;
    assert_eq!(status.code(), Some(0), "{printed}");
}

#[tokio::test]
async fn stopped_reindex_can_be_abandoned() {
    let (folder, _) = crate::maintenance::installation().await;
    let (status, _, error) = run(reindex(folder.path()).args(["--embedding-model", "vectors"])).await;
    assert_eq!(status.code(), Some(2), "{error}");
    assert!(error.contains("DOCENT_EMBEDDING_BASE_URL"), "it names the setting: {error}");

    // Wherever it is stopped, the unfinished build can be abandoned.
    let mut child = reindex(folder.path()).spawn().unwrap();
    let pid = child.id().unwrap().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().await.unwrap().success());
    in_time(child.wait()).await.unwrap();
    let (status, printed, error) = run(reindex(folder.path()).arg("--abandon")).await;
    assert!(status.success(), "{error}");
    assert!(printed.contains("Discarded") || printed.contains("There is no unfinished build"), "{printed}");
    let (status, printed, error) = run(&mut reindex(folder.path())).await;
    assert!(status.success(), "{error}");
    assert!(printed.contains("The new index is active: 1 documents"), "{printed}");
}
