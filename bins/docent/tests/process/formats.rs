//! Files of other types than PDF, read by a running service.

#[path = "../../../../crates/adapters/extraction/tests/hostile/mod.rs"]
mod hostile;

use crate::client::Client;
use crate::create_account;
use crate::program::{Serving, docent};
use hostile::{HIDDEN, TEXT};
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::net::TcpListener;
use tempfile::TempDir;

#[tokio::test]
async fn hostile_files_end_in_text_or_a_named_failure_and_the_service_continues() {
    let folder = TempDir::new().unwrap();
    create_account(folder.path(), "ada@example.org", "correct horse").await;
    let mut command = docent(folder.path());
    command.args(["dev", "--no-sample"]).env("DOCENT_UPLOAD_TYPES", "all");
    let mut serving = Serving::start(&mut command).await;
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let files = hostile::files(&format!("http://{}", server.local_addr().unwrap()));
    // Making the files takes longer than the service keeps an idle connection.
    let client = Client::log_in(&serving, "ada@example.org", "correct horse").await;
    let mut uploaded = Vec::new();
    for file in files {
        let path = folder.path().join(file.name);
        std::fs::write(&path, file.bytes).unwrap();
        uploaded.push((client.upload(&path).await, file.name, file.failure));
    }
    let _ = client.settled().await;
    for (id, name, failure) in uploaded {
        let report = client.get(&format!("/documents/{id}/report")).await;
        let code = failure.map_or(Value::Null, |code| json!(code.as_str()));
        assert_eq!(report["failure"]["code"], code, "{name}: {report}");
        if failure.is_none() {
            assert_eq!(report["status"], "ingested", "{name}: {report}");
            let page = client.get(&format!("/documents/{id}/pages/1/text")).await;
            let text = page["text"].as_str().unwrap();
            assert!(text.contains(TEXT) && !text.contains(HIDDEN), "{name}: {text:.1000}");
        }
    }
    assert_eq!(server.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "remote content was fetched");
    assert!(serving.child.try_wait().unwrap().is_none());
    let (status, _) = serving.terminate().await;
    assert!(status.success(), "{status}");
}
