//! `docent sync`, against a running service.

use crate::accounts::objects;
use crate::client::{Client, fixture};
use crate::create_account;
use crate::ingest::service;
use crate::program::{Serving, run};
use crate::remote::{EMAIL, PASSWORD, remote};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// Names of the changes by path.
type Changes = BTreeMap<String, String>;

/// Another account.
const OTHER: &str = "eve@example.org";

struct Synced {
    folder: TempDir,
    serving: Serving,
}

impl Synced {
    /// Starts a service with a collection, and creates an empty directory.
    async fn start() -> Self {
        let folder = TempDir::new().unwrap();
        let serving = service(folder.path()).await;
        std::fs::create_dir_all(folder.path().join("files/deep")).unwrap();
        let synced = Self { folder, serving };
        synced.docent(&["collections", "create", "Manuals"], 0).await;
        synced
    }

    /// Runs a command and returns what it printed.
    async fn docent(&self, args: &[&str], code: i32) -> (String, String) {
        let (status, printed, error) = run(&mut remote(self.folder.path(), &self.serving.base, args)).await;
        assert_eq!(status.code(), Some(code), "{printed}{error}");
        (printed, error)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join("files").join(name)
    }

    /// Writes a PDF whose bytes depend on `mark`.
    fn write(&self, name: &str, mark: u32) {
        let mut bytes = std::fs::read(fixture("letter.pdf")).unwrap();
        bytes.extend_from_slice(format!("% {mark}\n").as_bytes());
        std::fs::write(self.path(name), bytes).unwrap();
    }

    fn args<'a>(&'a self, directory: &'a str, options: &[&'a str]) -> Vec<&'a str> {
        [&["sync", directory, "--collection", "Manuals", "--json"], options].concat()
    }

    /// Synchronises and returns the changes.
    async fn sync(&self, options: &[&str], code: i32) -> Changes {
        let directory = self.path("").to_str().unwrap().to_owned();
        let (printed, _) = self.docent(&self.args(&directory, options), code).await;
        let text = |object: &Value, field: &str| object[field].as_str().unwrap().to_owned();
        objects(&printed).iter().map(|object| (text(object, "path"), text(object, "action"))).collect()
    }

    /// Starts to synchronise, and kills the program after a while.
    async fn kill_after(&self, pause: Duration, options: &[&str]) {
        let directory = self.path("").to_str().unwrap().to_owned();
        let args = self.args(&directory, options);
        let mut command = remote(self.folder.path(), &self.serving.base, &args);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        tokio::time::sleep(pause).await;
        child.kill().await.unwrap();
    }

    /// The sizes of the documents' latest files by path. Two documents with the same path fail the test.
    async fn stored(&self) -> BTreeMap<String, u64> {
        let client = Client::log_in(&self.serving, EMAIL, PASSWORD).await;
        let mut stored = BTreeMap::new();
        for document in client.get("/documents?limit=1000").await.as_array().unwrap() {
            let report = client.get(&format!("/documents/{}/report", document["id"].as_str().unwrap())).await;
            let file = if report["replacement"].is_null() {
                &report["file"]
            } else {
                &report["replacement"]["file"]
            };
            let path = report["attributes"]["path"].as_str().unwrap().to_owned();
            assert_eq!(
                stored.insert(path, file["bytes"].as_u64().unwrap()),
                None,
                "a file was uploaded twice"
            );
        }
        stored
    }

    /// The sizes of the files by path.
    fn files(&self) -> BTreeMap<String, u64> {
        let size = |path: &Path| std::fs::metadata(path).unwrap().len();
        let (mut files, mut folders) = (BTreeMap::new(), vec![self.path("")]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(self.path("")).unwrap().to_str().unwrap().to_owned();
                    files.insert(name, size(&path));
                }
            }
        }
        files
    }
}

fn changes(expected: &[(&str, &str)]) -> Changes {
    expected.iter().map(|(path, action)| ((*path).to_owned(), (*action).to_owned())).collect()
}

#[tokio::test]
async fn sync_makes_the_collection_have_the_files_of_the_directory() {
    let synced = Synced::start().await;
    for (n, name) in ["a.pdf", "b.pdf", "deep/c.pdf", "deep/d.pdf"].iter().enumerate() {
        synced.write(name, n as u32);
    }
    let added = changes(&[("a.pdf", "add"), ("b.pdf", "add"), ("deep/c.pdf", "add"), ("deep/d.pdf", "add")]);
    assert_eq!(synced.sync(&["--dry-run"], 0).await, added);
    assert!(synced.stored().await.is_empty(), "a dry run changes nothing");
    assert_eq!(synced.sync(&[], 0).await, added);
    assert_eq!(synced.stored().await, synced.files());
    assert!(synced.sync(&[], 0).await.is_empty(), "there is nothing left to do");

    synced.write("a.pdf", 1_000_000);
    std::fs::rename(synced.path("b.pdf"), synced.path("deep/b.pdf")).unwrap();
    std::fs::remove_file(synced.path("deep/c.pdf")).unwrap();
    synced.write("e.pdf", 5);
    let kept = changes(&[("a.pdf", "replace"), ("deep/b.pdf", "move"), ("e.pdf", "add")]);
    assert_eq!(synced.sync(&["--dry-run"], 0).await, kept, "nothing is deleted unless asked for");
    let deleted = changes(&[("deep/c.pdf", "delete")]);
    assert_eq!(synced.sync(&["--delete"], 0).await, kept.into_iter().chain(deleted).collect::<Changes>());
    assert_eq!(synced.stored().await, synced.files());
}

#[tokio::test]
async fn sync_refuses_to_delete_most_documents_and_to_read_a_missing_directory() {
    let synced = Synced::start().await;
    for n in 0..4 {
        synced.write(&format!("{n}.pdf"), n);
    }
    synced.sync(&[], 0).await;
    for n in 0..3 {
        std::fs::remove_file(synced.path(&format!("{n}.pdf"))).unwrap();
    }
    let directory = synced.path("").to_str().unwrap().to_owned();
    let (_, error) = synced.docent(&synced.args(&directory, &["--delete"]), 2).await;
    assert!(error.contains("3 of 4 documents would be deleted"), "{error}");
    assert_eq!(synced.stored().await.len(), 4);
    let missing = synced.path("missing").to_str().unwrap().to_owned();
    let (_, error) = synced.docent(&synced.args(&missing, &["--delete", "--max-delete", "100"]), 2).await;
    assert!(error.contains("No such file"), "{error}");
    assert_eq!(synced.stored().await.len(), 4);
    assert_eq!(synced.sync(&["--delete", "--max-delete", "75"], 0).await.len(), 3);
    assert_eq!(synced.stored().await, synced.files());
}

#[tokio::test]
async fn second_sync_of_a_directory_refuses_to_start() {
    let synced = Synced::start().await;
    synced.write("a.pdf", 1);
    let directory = synced.path("").to_str().unwrap().to_owned();
    let lock = std::fs::File::open(synced.path("")).unwrap();
    lock.lock().unwrap();
    let (_, error) = synced.docent(&synced.args(&directory, &[]), 2).await;
    assert!(error.contains("another `docent sync` of this directory is running"), "{error}");
    assert!(synced.stored().await.is_empty());
    drop(lock);
    assert_eq!(synced.sync(&[], 0).await, changes(&[("a.pdf", "add")]));
}

#[tokio::test]
async fn file_that_cannot_be_synchronised_fails_and_its_document_is_not_deleted() {
    use std::os::unix::ffi::OsStrExt;

    let synced = Synced::start().await;
    synced.write("a.pdf", 1);
    synced.sync(&[], 0).await;
    let renamed = synced.path("").join(std::ffi::OsStr::from_bytes(b"\xe9.pdf"));
    std::fs::rename(synced.path("a.pdf"), &renamed).unwrap();
    synced.write("b.pdf", 2);
    let directory = synced.path("").to_str().unwrap().to_owned();
    let (_, error) = synced.docent(&synced.args(&directory, &["--delete", "--max-delete", "100"]), 2).await;
    assert!(error.contains("the name is not UTF-8"), "{error}");
    assert_eq!(synced.stored().await.len(), 1);
    let made = synced.sync(&[], 1).await;
    assert_eq!(made, changes(&[("b.pdf", "add"), ("\u{fffd}.pdf", "none")]));
    assert_eq!(synced.stored().await.len(), 2);
}

#[tokio::test]
async fn document_in_another_collection_leaves_this_one_instead_of_being_deleted() {
    let synced = Synced::start().await;
    synced.write("a.pdf", 1);
    synced.write("b.pdf", 2);
    synced.sync(&[], 0).await;
    let client = Client::log_in(&synced.serving, EMAIL, PASSWORD).await;
    let mut shared = None;
    for document in client.get("/documents?limit=1000").await.as_array().unwrap() {
        if document["title"] == "a.pdf" {
            shared = document["id"].as_str().map(str::to_owned);
        }
    }
    let shared = shared.unwrap();
    let report = client.get(&format!("/documents/{shared}/report")).await;
    let everyone = "00000000-0000-0000-0000-000000000001";
    let body = json!({ "collection_ids": [report["collection_ids"][0], everyone] });
    let request = client.http.patch(format!("{}/documents/{shared}", client.base)).bearer_auth(&client.token);
    assert_eq!(request.json(&body).send().await.unwrap().status(), 200);
    std::fs::remove_file(synced.path("a.pdf")).unwrap();
    assert_eq!(synced.sync(&["--delete"], 0).await, changes(&[("a.pdf", "delete")]));
    let report = client.get(&format!("/documents/{shared}/report")).await;
    assert_eq!(report["collection_ids"], json!([everyone]));
    assert!(synced.sync(&["--delete"], 0).await.is_empty());
}

#[tokio::test]
async fn sync_killed_at_any_moment_is_completed_by_the_next_one() {
    let synced = Synced::start().await;
    for n in 0..40 {
        synced.write(&format!("deep/{n}.pdf"), n);
    }
    for n in 0..5 {
        synced.kill_after(Duration::from_millis(40 + 97 * n), &[]).await;
    }
    synced.sync(&[], 0).await;
    assert_eq!(synced.stored().await, synced.files());
    for n in 0..10 {
        synced.write(&format!("deep/{n}.pdf"), 1_000_000 + n);
        std::fs::remove_file(synced.path(&format!("deep/{}.pdf", n + 10))).unwrap();
    }
    for n in 0..5 {
        synced.kill_after(Duration::from_millis(40 + 97 * n), &["--delete"]).await;
    }
    synced.sync(&["--delete"], 0).await;
    assert_eq!(synced.stored().await, synced.files());
}

#[tokio::test]
async fn sync_leaves_documents_of_other_accounts_alone() {
    let synced = Synced::start().await;
    create_account(synced.folder.path(), OTHER, PASSWORD).await;
    synced.docent(&["collections", "members", "set", "Manuals", OTHER, "--role", "contributor"], 0).await;
    let (printed, _) = synced.docent(&["collections", "list", "--json"], 0).await;
    let manuals = objects(&printed).into_iter().find(|it| it["name"] == "Manuals").unwrap();
    let other = Client::log_in(&synced.serving, OTHER, PASSWORD).await;
    let mut planted = Vec::new();
    for (path, mark) in [("report.pdf", 1), ("gone.pdf", 2)] {
        let id = manuals["id"].as_str().unwrap();
        let query = format!("?collection_id={id}&attributes=%7B%22path%22%3A%22{path}%22%7D");
        synced.write("report.pdf", mark);
        planted.push(other.upload_to(&query, &synced.path("report.pdf")).await);
    }
    // Also with the content of the other account's document.
    synced.write("report.pdf", 1);
    assert_eq!(synced.sync(&["--delete"], 0).await, changes(&[("report.pdf", "add")]));
    assert!(synced.sync(&["--delete"], 0).await.is_empty());
    synced.write("report.pdf", 3);
    assert_eq!(synced.sync(&["--delete"], 0).await, changes(&[("report.pdf", "replace")]));
    for id in &planted {
        let report = other.get(&format!("/documents/{id}/report")).await;
        assert_eq!((&report["version"], &report["replacement"]), (&json!(1), &Value::Null), "{report}");
    }
    let all = ["--all-owners", "--delete", "--max-delete", "100", "--dry-run"];
    assert_eq!(
        synced.sync(&all, 0).await,
        changes(&[("report.pdf", "delete"), ("gone.pdf", "delete")]),
        "the own document of report.pdf stays, since it is unchanged"
    );
}

#[tokio::test]
async fn links_that_lead_outside_are_named_and_not_uploaded() {
    use std::os::unix::fs::symlink;

    let synced = Synced::start().await;
    synced.write("a.pdf", 1);
    synced.write("b.pdf", 2);
    let secret = synced.folder.path().join("secret.pdf");
    std::fs::rename(synced.path("b.pdf"), &secret).unwrap();
    symlink("a.pdf", synced.path("inside.pdf")).unwrap();
    symlink(&secret, synced.path("outside.pdf")).unwrap();
    symlink("../..", synced.path("deep/parent")).unwrap();
    let directory = synced.path("").to_str().unwrap().to_owned();
    let (_, error) = synced.docent(&synced.args(&directory, &[]), 0).await;
    let named = "symbolic links that lead outside of the directory are not followed: ";
    let links = error.lines().find_map(|line| line.split_once(named)).unwrap().1;
    assert!(
        links.contains("outside.pdf") && links.contains("parent") && !links.contains("inside.pdf"),
        "{error}"
    );
    assert_eq!(synced.stored().await.into_keys().collect::<Vec<_>>(), ["a.pdf", "inside.pdf"]);

    // A file that becomes such a link is neither replaced nor deleted.
    std::fs::remove_file(synced.path("a.pdf")).unwrap();
    symlink(&secret, synced.path("a.pdf")).unwrap();
    assert!(synced.sync(&["--delete"], 0).await.is_empty());
    assert_eq!(synced.stored().await.len(), 2);
}
