//! Tests of extraction with real and misbehaving worker processes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "../src/pdf/samples.rs"]
mod samples;

use bytes::Bytes;
use docent_domain::document::FailureCode;
use docent_domain::extraction::Extraction;
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::file_type::FileType;
use docent_extraction::{ExtractionLimits, WorkerExtractor, WorkerRenderer};
use docent_ports::page_renderer::{ImageSize, PageImageRequest, PageRenderer, RenderError};
use docent_ports::text_extractor::{ExtractionError, TextExtractor};
use docent_testkit::contract::text_extractor::{Subject, failure_code, pieces};
use futures::future::join_all;
use futures::{StreamExt, stream};
use lopdf::Dictionary;
use samples::{Sample, line};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::num::{NonZeroU16, NonZeroU32, NonZeroUsize};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn worker(limits: ExtractionLimits) -> WorkerExtractor {
    WorkerExtractor::new(env!("CARGO_BIN_EXE_docent-extract-worker").into(), Vec::new(), limits)
}

/// An extractor whose worker is a shell script.
fn script(script: &str, limits: ExtractionLimits) -> WorkerExtractor {
    WorkerExtractor::new("/bin/sh".into(), vec!["-c".into(), script.into()], limits)
}

async fn extract(extractor: &WorkerExtractor, pdf: Vec<u8>) -> Result<Extraction, ExtractionError> {
    extractor.extract(FileType::Pdf, pieces(pdf, 64 << 10)).await
}

async fn run_script(text: &str) -> Result<Extraction, ExtractionError> {
    extract(&script(text, ExtractionLimits::default()), Sample::of_texts(&["text"])).await
}

fn expect_fault(result: Result<Extraction, ExtractionError>) -> (Component, FaultKind) {
    match result {
        Err(ExtractionError::Fault(fault)) => (fault.component(), fault.kind()),
        other => panic!("{other:?}"),
    }
}

mod contract {
    use super::*;

    fn subject() -> Subject {
        let extractor = Arc::new(worker(ExtractionLimits::default()));
        let locked_pdf = Sample::new().page(&line(72, 700, "sealed")).encrypted("secret");
        Subject { extractor, pdf: Sample::of_texts, locked_pdf }
    }

    docent_testkit::text_extractor_contract!(async { (subject(), ()) });
}

#[tokio::test]
async fn scan_is_drawn_within_limits_of_its_own() {
    let worker = env!("CARGO_BIN_EXE_docent-extract-worker");
    let limits = ExtractionLimits::default();
    let viewing = ExtractionLimits { wall: Duration::ZERO, ..limits };
    let renderer = WorkerRenderer::new(worker.into(), Vec::new(), viewing, limits);
    let page = NonZeroU32::MIN;
    let scan = PageImageRequest::scan(FileType::Pdf, page, NonZeroU16::new(72).unwrap());
    let view = PageImageRequest { size: ImageSize::Width(NonZeroU16::new(200).unwrap()), ..scan.clone() };
    let pdf = || pieces(Sample::of_texts(&["text"]), 64 << 10);
    let is_late = |error: &RenderError| matches!(error, RenderError::Document(failure) if failure.code == FailureCode::ExtractionTimeout);
    assert!(renderer.render(pdf(), &view).await.is_err_and(|error| is_late(&error)));
    assert!(renderer.words(pdf(), page).await.is_err_and(|error| is_late(&error)));
    assert!(renderer.render(pdf(), &scan).await.unwrap().starts_with(b"\x89PNG"));
}

#[tokio::test]
async fn file_over_a_limit_fails_with_its_code() {
    let limits = ExtractionLimits { file_bytes: 100, ..ExtractionLimits::default() };
    let result = extract(&worker(limits), Sample::of_texts(&["text"])).await;
    assert_eq!(failure_code(result), Some(FailureCode::TooLarge));
    // More than a pipe holds: the worker closes it before the end.
    let result = extract(&worker(limits), vec![b' '; 1 << 20]).await;
    assert_eq!(failure_code(result), Some(FailureCode::TooLarge));
    let limits = ExtractionLimits { pages: 1, ..ExtractionLimits::default() };
    let result = extract(&worker(limits), Sample::of_texts(&["one", "two"])).await;
    assert_eq!(failure_code(result), Some(FailureCode::TooManyPages));
    let limits = ExtractionLimits { text_bytes: 5, ..ExtractionLimits::default() };
    let result = extract(&worker(limits), Sample::of_texts(&["one", "two"])).await;
    assert_eq!(failure_code(result), Some(FailureCode::TooMuchText));
}

#[tokio::test]
async fn damaged_file_is_unreadable() {
    let result = extract(&worker(ExtractionLimits::default()), b"%PDF-1.7 and no more".to_vec()).await;
    assert_eq!(failure_code(result), Some(FailureCode::Unreadable));
}

#[tokio::test]
async fn page_over_its_limit_does_not_affect_other_pages() {
    let mut sample = Sample::new();
    let mut resources = sample.form(line(72, 600, "leaf").into_bytes(), Dictionary::new());
    for _ in 0..30 {
        resources = sample.form(b"/X0 Do /X0 Do".to_vec(), resources);
    }
    let pdf = sample.page_with("/X0 Do", resources).page(&line(72, 700, "next page")).bytes();
    let pages = extract(&worker(ExtractionLimits::default()), pdf).await.unwrap().pages;
    assert_eq!((pages[0].truncated, pages[1].truncated), (true, false));
    assert_eq!(pages[1].text, "next page\n");
}

#[tokio::test]
async fn memory_is_limited() {
    let limits = ExtractionLimits { memory_bytes: 400 << 20, ..ExtractionLimits::default() };
    // The interpreter holds some hundred bytes for each glyph of one string.
    let content = format!("BT /F1 12 Tf ({}) Tj ET", "x".repeat(8 << 20));
    let pdf = Sample::new().deflated_page(content.into_bytes()).bytes();
    assert_eq!(failure_code(extract(&worker(limits), pdf).await), Some(FailureCode::ExtractionMemory));
}

#[tokio::test]
async fn processor_time_is_limited() {
    let limits = ExtractionLimits { cpu: Duration::from_secs(1), ..ExtractionLimits::default() };
    let busy = script("ulimit -S -t 1; while :; do :; done", limits);
    assert_eq!(failure_code(extract(&busy, Vec::new()).await), Some(FailureCode::ExtractionTimeout));
}

#[tokio::test]
async fn wall_time_is_limited() {
    let limits = ExtractionLimits { wall: Duration::from_millis(50), ..ExtractionLimits::default() };
    let idle = script("cat >/dev/null; exec sleep 1000", limits);
    assert_eq!(failure_code(extract(&idle, Vec::new()).await), Some(FailureCode::ExtractionTimeout));
}

#[tokio::test]
async fn missing_input_is_a_blob_store_timeout() {
    let limits = ExtractionLimits { wall: Duration::from_millis(50), ..ExtractionLimits::default() };
    let start = stream::iter([Ok(Bytes::from_static(b"%PDF-1.7"))]);
    let result = worker(limits).extract(FileType::Pdf, Box::pin(start.chain(stream::pending()))).await;
    assert_eq!(expect_fault(result), (Component::BlobStore, FaultKind::Timeout));
}

#[tokio::test]
async fn worker_killed_by_a_signal_is_a_crash() {
    for signal in ["SEGV", "ABRT", "BUS", "SYS"] {
        let result = run_script(&format!("kill -{signal} $$")).await;
        assert_eq!(failure_code(result), Some(FailureCode::ExtractionCrashed), "{signal}");
    }
}

#[tokio::test]
async fn worker_killed_or_out_of_memory_exceeded_memory() {
    for script in ["kill -KILL $$", "echo 'memory allocation of 9 bytes failed' >&2; kill -ABRT $$"] {
        assert_eq!(failure_code(run_script(script).await), Some(FailureCode::ExtractionMemory), "{script}");
    }
}

#[tokio::test]
async fn invalid_output_of_a_worker_is_a_fault() {
    for script in [
        "echo garbage that is no frame; cat >/dev/null",
        // More than a pipe holds: a worker that is still writing is killed.
        "exec cat /dev/zero",
        // Cut frames, and pages that are not confirmed.
        r"printf '\000\000\000\020{\042Comp'; cat >/dev/null",
        r"printf '\000\000'; cat >/dev/null",
        "cat >/dev/null",
        r"printf '\000\000\000\026{\042Complete\042:{\042pages\042:1}}'; cat >/dev/null",
    ] {
        assert_eq!(
            expect_fault(run_script(script).await),
            (Component::Extractor, FaultKind::InvalidResponse),
            "{script}"
        );
    }
}

#[tokio::test]
async fn failing_worker_is_a_fault() {
    assert_eq!(expect_fault(run_script("exit 3").await), (Component::Extractor, FaultKind::Unavailable));
    let missing = WorkerExtractor::new("/nonexistent/worker".into(), Vec::new(), ExtractionLimits::default());
    let result = extract(&missing, Vec::new()).await;
    assert_eq!(expect_fault(result), (Component::Extractor, FaultKind::Unavailable));
}

/// What a confined process attempts: the action, its target, and whether the attempt kills the process.
#[cfg(target_os = "linux")]
fn attempts(folder: &std::path::Path, server: &str, socket: &str) -> Vec<(&'static str, String, bool)> {
    let path = |name| folder.join(name).display().to_string();
    vec![
        ("read", path("secret"), false),
        ("write", path("new"), false),
        ("connect", server.to_owned(), true),
        ("send", "127.0.0.1:0".to_owned(), true),
        ("connect-unix", socket.to_owned(), true),
        ("run", "/bin/true".to_owned(), true),
        ("thread", String::new(), true),
    ]
}

/// Attempts an action in another process; returns the exit code, or the signal that killed it as a negative number.
#[cfg(target_os = "linux")]
fn attempt(arguments: &[&str]) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    let status = Command::new(env!("CARGO_BIN_EXE_docent-extract-worker")).args(arguments).status().unwrap();
    status.code().unwrap_or_else(|| -status.signal().unwrap())
}

// Invariant: A file that takes over a PDF worker finds neither files nor sockets nor programs, and cannot
// inspect the service.
#[cfg(target_os = "linux")]
#[test]
fn confined_process_can_open_neither_files_nor_sockets_nor_run_programs() {
    const SIGSYS: i32 = 31;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("secret"), "secret").unwrap();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let address = server.local_addr().unwrap().to_string();
    for (action, target, is_killed) in attempts(folder.path(), &address, socket.to_str().unwrap()) {
        assert_eq!(attempt(&[action, &target, "unconfined"]), 0, "{action}: possible without the sandbox");
        let _ = fs::remove_file(folder.path().join("new"));
        assert_eq!(attempt(&[action, &target]), if is_killed { -SIGSYS } else { 1 }, "{action}");
    }
    assert!(!folder.path().join("new").exists());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn sandbox_of_the_worker_is_complete() {
    let sandbox = worker(ExtractionLimits::default()).check_sandbox().await.unwrap();
    assert_eq!(sandbox.missing(), Vec::<&str>::new());
    let crashed = script("kill -SYS $$", ExtractionLimits::default()).check_sandbox().await;
    assert_eq!(crashed.unwrap_err().kind(), FaultKind::Unavailable);
}

#[cfg(target_os = "linux")]
#[test]
fn kernel_ends_workers_first_when_memory_is_short() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_docent-extract-worker"));
    let mut worker = command.stdin(Stdio::piped()).spawn().unwrap();
    let score = |process: &str| fs::read_to_string(format!("/proc/{process}/oom_score_adj")).unwrap();
    let (process, own) = (worker.id().to_string(), score("self"));
    // The worker waits for its request.
    let deadline = Instant::now() + Duration::from_secs(20);
    while score(&process).trim() != "1000" {
        assert!(Instant::now() < deadline, "the score is {}", score(&process));
        std::thread::yield_now();
    }
    assert_ne!(own.trim(), "1000");
    drop(worker.stdin.take());
    worker.wait().unwrap();
}

#[tokio::test]
async fn worker_has_no_environment() {
    let script = r#"cat >/dev/null; [ -z "$CARGO_MANIFEST_DIR$HOME" ] || exit 3; kill -SEGV $$"#;
    assert_eq!(failure_code(run_script(script).await), Some(FailureCode::ExtractionCrashed));
}

#[tokio::test]
async fn dropped_extraction_kills_its_worker() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("alive");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let text = format!("exec 3>{}; echo up >&3; exec sleep 1000", fifo.display());
    let extractor = script(&text, ExtractionLimits::default());
    let mut extraction =
        extractor.extract(FileType::Pdf, Box::pin(stream::pending::<Result<Bytes, Fault>>()));
    let up = tokio::task::spawn_blocking(move || {
        let mut reader = BufReader::new(File::open(fifo).unwrap());
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        (reader, line)
    });
    let (mut reader, line) = tokio::select! {
        up = up => up.unwrap(),
        result = &mut extraction => panic!("{result:?}"),
    };
    assert_eq!(line, "up\n");
    drop(extraction);
    // Ends when the other end of the pipe is closed.
    let rest = tokio::task::spawn_blocking(move || reader.read_line(&mut String::new()).unwrap());
    assert_eq!(rest.await.unwrap(), 0);
}

#[tokio::test]
async fn concurrent_workers_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let limits = ExtractionLimits { workers: NonZeroUsize::MIN, ..ExtractionLimits::default() };
    let text = format!("echo start >> {0}; cat >/dev/null; echo end >> {0}", log.display());
    let extractor = script(&text, limits);
    join_all((0..5).map(|_| extract(&extractor, Vec::new()))).await;
    assert_eq!(fs::read_to_string(log).unwrap(), "start\nend\n".repeat(5));
}
