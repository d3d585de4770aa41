//! Detection of the program tesseract; a script replaces the program.

use crate::client::Client;
use crate::create_account;
use crate::program::{Serving, docent, in_time, run};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;
use tokio::process::Command;

/// `docent dev` with a program tesseract that answers once the file `gate` exists.
fn dev(folder: &Path) -> Command {
    let programs = folder.join("programs");
    std::fs::create_dir_all(&programs).unwrap();
    let script = format!(
        "#!/bin/sh\nwhile [ ! -e '{}' ]; do sleep 0.02; done\n\
         case $1 in --version) echo tesseract 5.9;; *) printf 'List of languages\\neng\\n';; esac\n",
        folder.join("gate").display()
    );
    let program = programs.join("tesseract");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = docent(folder);
    command.args(["dev", "--no-sample"]).env("DOCENT_OCR", "auto").env("PATH", &programs);
    command
}

#[tokio::test]
async fn start_does_not_wait_for_tesseract() {
    let folder = TempDir::new().unwrap();
    create_account(folder.path(), "ada@example.org", "correct horse").await;
    let serving = Serving::start(&mut dev(folder.path())).await;
    let client = Client::log_in(&serving, "ada@example.org", "correct horse").await;
    assert_eq!(client.get("/documents").await, json!([]));
    std::fs::write(folder.path().join("gate"), "").unwrap();
    let health = in_time(client.get("/health/ready")).await;
    assert_eq!(health["text_recognition"], json!(true), "{health}");
    assert_eq!(health["checks"]["text_recognizer"], json!("ok"), "{health}");
}

#[tokio::test]
async fn language_without_data_ends_the_process() {
    let folder = TempDir::new().unwrap();
    create_account(folder.path(), "ada@example.org", "correct horse").await;
    std::fs::write(folder.path().join("gate"), "").unwrap();
    let (status, _, error) = run(dev(folder.path()).env("DOCENT_OCR_LANGUAGES", "deu")).await;
    assert!(!status.success());
    assert!(error.contains("DOCENT_OCR_LANGUAGES: tesseract has no data for deu"), "{error}");
}
