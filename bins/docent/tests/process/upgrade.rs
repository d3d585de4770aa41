//! A data directory of an earlier release.

use crate::client::Client;
use crate::program::{Serving, docent, run};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::fs::File;
use std::path::Path;
use tempfile::TempDir;

const PASSWORD: &str = "correct horse battery staple";
/// A key of Bob's with the scopes `read` and `chat`.
const KEY: &str = "dk_rahpoy76pfdm_c8fu44isxkyh86erume6j5yza6cbnribhm6hpixcruxdvco6xur6";
const EVERYONE: &str = "00000000-0000-0000-0000-000000000001";

/// A release without collections and versions made this directory: Ada, a superuser, uploaded `handbook.pdf`, and Bob
/// `letter.pdf`; he asked a question about the handbook.
fn unpack(folder: &Path) {
    let path = "../../tests/fixtures/data/before-collections.tar.gz";
    let file = File::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    tar::Archive::new(GzDecoder::new(file)).unpack(folder).unwrap();
}

fn titles(documents: &Value) -> Vec<&str> {
    let titles = documents.as_array().unwrap().iter().map(|document| document["title"].as_str().unwrap());
    let mut titles: Vec<_> = titles.collect();
    titles.sort_unstable();
    titles
}

#[tokio::test]
async fn data_of_the_release_before_collections_is_used() {
    let folder = TempDir::new().unwrap();
    unpack(folder.path());
    let mut command = docent(folder.path());
    let serving = Serving::start(command.args(["dev"])).await;
    let ada = Client::log_in(&serving, "ada@example.org", PASSWORD).await;
    let bob = Client::log_in(&serving, "bob@example.org", PASSWORD).await;
    let key = Client { http: bob.http.clone(), base: bob.base.clone(), token: KEY.to_owned() };

    // Everybody reads everything, as before.
    for client in [&ada, &bob, &key] {
        assert_eq!(titles(&client.get("/documents").await), ["handbook.pdf", "letter.pdf"]);
        let found = client.found("pump").await;
        assert!(found.len() == 2 && found.values().any(|chunks| !chunks.is_empty()), "{found:?}");
    }
    let collections = bob.get("/collections").await;
    let roles: Vec<_> = collections.as_array().unwrap().iter().map(|it| (&it["kind"], &it["role"])).collect();
    assert_eq!(roles, [(&json!("everyone"), &json!("contributor")), (&json!("personal"), &json!("manager"))]);
    let documents = bob.get("/documents?include=access").await;
    for document in documents.as_array().unwrap() {
        let access = &document["access"];
        assert_eq!(access["collection_ids"], json!([EVERYONE]));
        assert_eq!(access["can_delete"], json!(document["title"] == "letter.pdf"), "{document}");
    }
    let conversation = bob.get("/conversations/01900000-0000-7000-8000-000000000001").await;
    let source = &conversation["messages"][1]["sources"][0];
    assert!(source["text"].as_str().unwrap().contains("Northwind Pumps"), "{source}");
    assert_eq!(source.get("available"), None);

    // The documents have a first version, labels and what a replacement needs.
    let letter = documents.as_array().unwrap().iter().find(|it| it["title"] == "letter.pdf").unwrap();
    let path = format!("/documents/{}", letter["id"].as_str().unwrap());
    let change = json!({ "attributes": { "year": 2026 } });
    let changed = bob.http.patch(format!("{}{path}", bob.base)).bearer_auth(&bob.token).json(&change);
    assert_eq!(changed.send().await.unwrap().status(), 200);
    let bytes = std::fs::read(crate::fixture("table.pdf")).unwrap();
    let part =
        reqwest::multipart::Part::bytes(bytes).file_name("table.pdf").mime_str("application/pdf").unwrap();
    let form = reqwest::multipart::Form::new().part("file", part);
    let replaced = bob.http.put(format!("{}{path}/file", bob.base)).bearer_auth(&bob.token).multipart(form);
    assert_eq!(replaced.send().await.unwrap().status(), 202);
    let report = crate::in_time(async {
        loop {
            let report = bob.get(&format!("{path}/report")).await;
            if report["version"] == 2 {
                break report;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    });
    assert_eq!(report.await["file"]["name"], "table.pdf");
    let (status, error) = serving.terminate().await;
    assert!(status.success(), "{error}");
    // The index of that release is searched until another is built, and nothing else is to be done.
    let (status, printed, error) = run(docent(folder.path()).args(["doctor", "--dev"])).await;
    assert!(!status.success() && printed.contains("other_model"), "{printed}{error}");
    assert!(printed.contains("Found 1, repaired 0"), "{printed}");
    let (status, printed, error) = run(docent(folder.path()).args(["reindex", "--dev"])).await;
    assert!(status.success(), "{printed}{error}");
    let (status, printed, error) = run(docent(folder.path()).args(["doctor", "--dev"])).await;
    assert!(status.success(), "{printed}{error}");
}
