//! `docent ingest`, against a running service and a scripted one.

use crate::accounts::objects;
use crate::client::{Client, fixture};
use crate::create_account;
use crate::program::{Serving, docent, in_time, rest, run};
use crate::remote::{EMAIL, PASSWORD, log_in, remote};
use docent_testkit::wire::{FakeLlm, Reply};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::{Child, Command};

const ID: &str = "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e";

/// A directory of valid files, one of them in a subdirectory.
fn valid_files(folder: &Path) -> PathBuf {
    let good = folder.join("good");
    std::fs::create_dir_all(good.join("deep")).unwrap();
    for (from, to) in [
        ("handbook.pdf", "handbook.pdf"),
        ("letter.pdf", "deep/Brief für Müller.PDF"),
        ("table.pdf", "table.pdf"),
    ] {
        std::fs::copy(fixture(from), good.join(to)).unwrap();
    }
    std::fs::write(good.join("notes.txt"), "no PDF").unwrap();
    good
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Starts a service on the embedded profile and logs in.
pub(crate) async fn service(folder: &Path) -> Serving {
    create_account(folder, EMAIL, PASSWORD).await;
    let mut command = docent(folder);
    command.args(["dev", "--no-sample"]);
    let serving = Serving::start(command.env("DOCENT_MAX_UPLOAD_BYTES", "1MiB")).await;
    let (code, error) = log_in(folder, &serving.base, PASSWORD).await;
    assert_eq!(code, Some(0), "{error}");
    serving
}

#[tokio::test]
async fn ingest_wait_reports_each_file_and_fails_if_one_failed() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let serving = service(folder).await;
    let good = valid_files(folder);
    let (broken, missing, large) =
        (folder.join("broken.pdf"), folder.join("missing.pdf"), folder.join("large.pdf"));
    std::fs::write(&broken, "no PDF").unwrap();
    std::fs::write(&large, [b"%PDF-1.7\n", &[0; 3 * 1024 * 1024][..]].concat()).unwrap();

    let named = [text(&good), text(&broken), text(&missing), text(&large)];
    let args = [&["ingest", "--wait", "--json", "--concurrency", "3"], &named[..]].concat();
    let (status, printed, error) = run(&mut remote(folder, &serving.base, &args)).await;
    assert_eq!(status.code(), Some(1), "{printed}{error}");
    let name = |object: &Value| Path::new(object["file"].as_str().unwrap()).file_name().unwrap().to_owned();
    let outcomes: BTreeMap<_, _> =
        objects(&printed).into_iter().map(|object| (name(&object), object)).collect();
    assert_eq!(outcomes.len(), 6, "{printed}");
    for title in ["handbook.pdf", "Brief für Müller.PDF", "table.pdf"] {
        let object = &outcomes[&PathBuf::from(title).into_os_string()];
        assert_eq!((&object["status"], &object["title"]), (&json!("ingested"), &json!(title)), "{object}");
        assert!(object["coverage"]["pages"].as_u64().unwrap() >= 1, "{object}");
    }
    for (path, words) in [
        (&broken, "this is a file of the type plain text; the service accepts PDF"),
        (&missing, "No such file"),
        (&large, "larger than"),
    ] {
        let object = &outcomes[path.file_name().unwrap()];
        assert_eq!((&object["status"], &object["id"]), (&json!("refused"), &Value::Null), "{object}");
        assert!(object["reason"].as_str().unwrap().contains(words), "{object}");
    }
    assert!(error.contains("uploading ") && error.contains("3 of 6 files ingested"), "{error}");
    let client = Client::log_in(&serving, EMAIL, PASSWORD).await;
    assert_eq!(client.settled().await.len(), 3, "rejected files leave no documents");

    let one = good.join("handbook.pdf");
    let args = ["ingest", "--wait", text(&one)];
    let (status, printed, _) = run(&mut remote(folder, &serving.base, &args)).await;
    assert!(status.success() && printed.contains("  ingested  handbook.pdf   "), "{printed}");
    assert!(printed.contains(" pages, 1 passage\n"), "{printed}");
}

#[tokio::test]
async fn ingest_refuses_other_types_before_the_upload() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    let files = ["notes.pdf", "table.docx"].map(|name| folder.path().join(name));
    std::fs::write(&files[0], "no PDF").unwrap();
    std::fs::write(&files[1], b"PK\x03\x04 no document").unwrap();
    fake.script(Reply::json(200, "[]"));
    fake.script(ready("pdf"));
    let args = [text(&files[0]), text(&files[1])];
    let (status, printed, error) = run(&mut ingest(folder.path(), &fake, &args)).await;
    assert_eq!(status.code(), Some(2), "{printed}{error}");
    for (name, of, setting) in [("notes.pdf", "plain text", "txt"), ("table.docx", "DOCX", "docx")] {
        let reason = format!("{name}: this is a file of the type {of}; the service accepts PDF (");
        assert!(printed.contains("refused") && printed.contains(&reason), "{printed}");
        assert!(printed.contains(&format!("adds {setting} to DOCENT_UPLOAD_TYPES")), "{printed}");
    }
    let paths: Vec<String> = fake.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/documents", "/health/ready"], "nothing was sent");

    // What the service accepts decides, even if it is not ready.
    fake.script(Reply::json(200, "[]"));
    fake.script(Reply::json(503, json!({ "upload_types": ["pdf", "txt"] }).to_string()));
    fake.script(document("notes.pdf"));
    let (status, printed, error) = run(&mut ingest(folder.path(), &fake, &args[..1])).await;
    assert!(status.success(), "{printed}{error}");
    let body = fake.requests().pop().unwrap().body;
    assert!(String::from_utf8_lossy(&body).contains("Content-Type: text/plain"));
}

#[tokio::test]
async fn ingest_without_wait_ends_after_upload() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let serving = service(folder).await;
    let good = valid_files(folder);
    let args = ["ingest", text(&good)];
    let (status, printed, error) = run(&mut remote(folder, &serving.base, &args)).await;
    assert!(status.success(), "{printed}{error}");
    let ids: Vec<&str> = printed.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert!(printed.lines().all(|line| line.contains("  pending   ")), "{printed}");
    let client = Client::log_in(&serving, EMAIL, PASSWORD).await;
    let known = client.settled().await;
    assert_eq!(ids.len(), 3);
    assert!(ids.iter().all(|id| known.contains(&((*id).to_owned(), "ingested".to_owned()))), "{known:?}");
}

#[tokio::test]
async fn ingest_with_upload_only_key_cannot_wait() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let serving = service(folder).await;
    let create = ["apikeys", "create", "--dev", EMAIL, "--name", "n", "--scopes", "ingest", "--json"];
    let (_, printed, _) = run(docent(folder).args(create)).await;
    let key = objects(&printed)[0]["key"].as_str().unwrap().to_owned();
    let file = fixture("handbook.pdf");
    let args = ["ingest", "--api-key", &key, text(&file)];
    let (status, printed, error) = run(&mut remote(folder, &serving.base, &args)).await;
    assert!(status.success() && printed.contains("handbook.pdf"), "{error}");
    let (status, printed, error) = run(remote(folder, &serving.base, &args).arg("--wait")).await;
    assert_eq!(status.code(), Some(2), "{error}");
    assert!(printed.is_empty() && error.contains("scope `read`"), "{error}");
}

#[tokio::test]
async fn ingest_without_login_or_service_starts_nothing() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let serving = service(folder).await;
    let (server, file) = (serving.base.clone(), fixture("handbook.pdf"));
    let args = ["ingest", text(&file)];
    for (more, words) in [
        (["--api-key", "dk_x"], "Could not validate credentials"),
        (["--credentials", "nowhere.json"], "docent login"),
        (["--server", "http://127.0.0.1:1"], "docent login"),
        (["--server", "ftp://example.org"], "not an http or https URL"),
    ] {
        let (status, printed, error) = run(remote(folder, &server, &args).args(more)).await;
        assert_eq!(status.code(), Some(2), "{more:?}: {error}");
        assert!(printed.is_empty() && error.contains(words), "{more:?}: {error}");
    }
    serving.terminate().await;
    let (status, _, error) = run(&mut remote(folder, &server, &args)).await;
    assert!(status.code() == Some(2) && error.contains("cannot be reached"), "{error}");
}

/// The readiness of a service that accepts one type of files.
fn ready(upload_type: &str) -> Reply {
    Reply::json(200, json!({ "status": "ok", "upload_types": [upload_type] }).to_string())
}

fn document(title: &str) -> Reply {
    Reply::json(
        202,
        json!({ "id": ID, "title": title, "status": "pending", "vector_doc_id": null }).to_string(),
    )
}

fn report(status: &str) -> Reply {
    let coverage = json!({ "pages": 12, "chunks": 17 });
    let warnings = ["1 of 12 pages: no text (blank, or a picture of text)"];
    let report =
        json!({ "id": ID, "status": status, "coverage": coverage, "failure": null, "warnings": warnings });
    Reply::json(200, report.to_string())
}

/// The command against a scripted service.
fn ingest(folder: &Path, fake: &FakeLlm, args: &[&str]) -> Command {
    let server = format!("http://{}", fake.address());
    let mut command = remote(folder, &server, &["ingest", "--concurrency", "1"]);
    command.args(args).env("DOCENT_API_KEY", "dk_x");
    command
}

#[tokio::test]
async fn ingest_honours_retry_after() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    let busy = |status| Reply::json(status, "{\"detail\": \"Too Many Requests\"}").header("Retry-After", "0");
    fake.script(busy(429));
    fake.script(Reply::json(200, "[]"));
    fake.script(ready("pdf"));
    fake.script(busy(429));
    fake.script(busy(503));
    fake.script(document("handbook.pdf"));
    fake.script(report("pending"));
    fake.script(busy(429));
    fake.script(report("ingested"));
    let file = fixture("handbook.pdf");
    let (status, printed, error) = run(&mut ingest(folder.path(), &fake, &["--wait", text(&file)])).await;
    assert!(status.success(), "{printed}{error}");
    assert_eq!(
        printed,
        format!(
            "{ID}  ingested  handbook.pdf   12 pages, 17 passages\n    \
             1 of 12 pages: no text (blank, or a picture of text)\n"
        )
    );
    assert!(error.contains("handbook.pdf: retrying in 0 s (Too Many Requests"), "{error}");
    let requests = fake.requests();
    let paths: Vec<&str> = requests.iter().map(|request| request.path.as_str()).collect();
    let (upload, report) = ("/documents/upload", format!("/documents/{ID}/report"));
    let before = ["/documents", "/documents", "/health/ready"];
    assert_eq!(paths, [&before[..], &[upload, upload, upload, &report, &report, &report]].concat());
    let bytes = std::fs::read(&file).unwrap();
    for request in &requests[3..6] {
        assert!(
            request.body.windows(bytes.len()).any(|part| part == bytes),
            "each attempt sends the whole file"
        );
    }
}

#[tokio::test]
async fn broken_upload_is_unknown_and_others_continue() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    fake.script(Reply::json(200, "[]"));
    fake.script(ready("pdf"));
    fake.script(Reply::raw(""));
    fake.script(document("letter.pdf"));
    let (first, second) = (fixture("handbook.pdf"), fixture("letter.pdf"));
    let (status, printed, error) =
        run(&mut ingest(folder.path(), &fake, &["--json", text(&first), text(&second)])).await;
    assert_eq!(status.code(), Some(1), "{error}");
    let [broken, uploaded] = objects(&printed).try_into().unwrap();
    assert_eq!(broken["status"], "unknown");
    assert!(broken["reason"].as_str().unwrap().contains("broke"), "{broken}");
    assert_eq!((&uploaded["status"], &uploaded["id"]), (&json!("pending"), &json!(ID)));
    assert_eq!(fake.requests().len(), 4, "not retried: the service may have received it");
}

#[tokio::test]
async fn ingest_wait_fails_if_status_is_unknown() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    fake.script(Reply::json(200, "[]"));
    fake.script(ready("pdf"));
    fake.script(document("handbook.pdf"));
    fake.script(Reply::json(404, "{\"detail\": \"Document not found\"}"));
    let file = fixture("handbook.pdf");
    let (status, printed, _) = run(&mut ingest(folder.path(), &fake, &["--wait", text(&file)])).await;
    assert_eq!(status.code(), Some(1));
    assert!(
        printed.contains("pending   handbook.pdf: its status is unknown (Document not found)"),
        "{printed}"
    );
}

/// Sends SIGINT, like Ctrl-C in a terminal.
pub(super) async fn interrupt(child: &Child) {
    let pid = child.id().unwrap().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().await.unwrap().success());
}

#[tokio::test]
async fn interrupted_ingest_lists_uploaded_documents() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    fake.script(Reply::json(200, "[]"));
    fake.script(ready("pdf"));
    fake.script(document("handbook.pdf"));
    // The report of the first file and the upload of the second: neither response is completed.
    fake.script(Reply::events(&[]).stall());
    fake.script(Reply::events(&[]).stall());
    let (first, second) = (fixture("handbook.pdf"), fixture("letter.pdf"));
    let mut child = ingest(folder.path(), &fake, &["--wait", text(&first), text(&second)]).spawn().unwrap();
    in_time(async {
        while fake.requests().len() < 5 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    interrupt(&child).await;
    let status = in_time(child.wait()).await.unwrap();
    let error = rest(&mut child).await;
    assert_eq!(status.code(), Some(130), "{status}: {error}");
    assert!(error.contains(&format!("still being ingested: {ID}")), "{error}");
    assert!(
        error.contains("1 of 2 files were uploaded and stay on the service, 1 were not uploaded"),
        "{error}"
    );
}

#[tokio::test]
async fn links_of_a_directory_that_lead_outside_are_named_and_not_uploaded() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let serving = service(folder).await;
    let good = valid_files(folder);
    std::os::unix::fs::symlink(fixture("letter.pdf"), good.join("outside.pdf")).unwrap();
    let args = ["ingest", "--json", text(&good)];
    let (status, printed, error) = run(&mut remote(folder, &serving.base, &args)).await;
    assert_eq!(status.code(), Some(0), "{printed}{error}");
    assert!(error.contains("are not followed: ") && error.contains("outside.pdf"), "{error}");
    assert_eq!(objects(&printed).len(), 3, "{printed}");
}
