//! Tests of the tesseract adapter with misbehaving programs in tesseract's place.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use docent_domain::fault::{Component, FaultKind};
use docent_domain::recognition::{Languages, RecognitionFailure, RecognizedPage};
use docent_extraction::{ExtractionLimits, TesseractError, TesseractRecognizer};
use docent_ports::text_recognizer::{PageScan, RecognitionError, TextRecognizer};
use docent_testkit::script::script;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// The beginning of the output for a page of 100 by 100 pixels.
const PAGE: &str = r"level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n1\t1\t0\t0\t0\t0\t0\t0\t100\t100\t-1\t\n";
/// The row of a word, as printf takes it.
const WORD: &str = r"5\t1\t1\t1\t1\t1\t10\t10\t20\t10\t90\t%s\n";

/// A folder with a program `tesseract` that runs `recognize` for a page.
fn program(languages: &str, recognize: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let commands = format!(
        "case \"$1\" in
--version) printf 'tesseract 5.9.1\\n leptonica-1\\n';;
--list-langs) printf 'List of available languages (2):\\n{languages}\\n';;
*) {recognize}
esac
"
    );
    script(&folder.path().join("tesseract"), &commands);
    folder
}

fn find(folder: &TempDir, limits: ExtractionLimits) -> Result<TesseractRecognizer, TesseractError> {
    let worker = PathBuf::from(env!("CARGO_BIN_EXE_docent-extract-worker"));
    TesseractRecognizer::find([folder.path().to_owned()], worker, Vec::new(), limits)
}

async fn recognize_with(script: &str, limits: ExtractionLimits) -> Result<RecognizedPage, RecognitionError> {
    let folder = program(r"eng\nosd", script);
    let recognizer = find(&folder, limits).unwrap();
    let scan =
        PageScan { png: &vec![b'x'; 100_000], dpi: 300, is_picture: false, languages: &Languages::default() };
    recognizer.recognize(scan).await
}

async fn recognize(script: &str) -> Result<RecognizedPage, RecognitionError> {
    recognize_with(script, ExtractionLimits::default()).await
}

fn failure(result: Result<RecognizedPage, RecognitionError>) -> RecognitionFailure {
    match result {
        Err(RecognitionError::Page(failure)) => failure,
        other => panic!("{other:?}"),
    }
}

fn fault(result: Result<RecognizedPage, RecognitionError>) -> (Component, FaultKind) {
    match result {
        Err(RecognitionError::Fault(fault)) => (fault.component(), fault.kind()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn program_reads_the_image_and_its_words_are_returned() {
    let page = recognize(&format!("bytes=$(wc -c); printf '{PAGE}{WORD}' $bytes")).await.unwrap();
    assert_eq!(page.text(), "100000\n");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn kernel_ends_the_program_first_when_memory_is_short() {
    let score = format!("cat >/dev/null; printf '{PAGE}{WORD}' $(cat /proc/self/oom_score_adj)");
    assert_eq!(recognize(&score).await.unwrap().text(), "1000\n");
}

#[tokio::test]
async fn arguments_name_languages_resolution_and_orientation() {
    let all = format!("printf '{PAGE}{WORD}' \"$(echo \"$@\" | tr ' ' '_')\"; cat >/dev/null");
    let page = recognize(&all).await.unwrap();
    assert_eq!(page.text(), "stdin_stdout_-l_eng_--dpi_300_--psm_1_tsv\n");
    let folder = program("eng", &all);
    let recognizer = find(&folder, ExtractionLimits::default()).unwrap();
    let scan = PageScan { png: b"x", dpi: 150, is_picture: false, languages: &Languages::default() };
    let page = recognizer.recognize(scan).await.unwrap();
    assert_eq!(page.text(), "stdin_stdout_-l_eng_--dpi_150_--psm_3_tsv\n");
    assert_eq!(recognizer.name(), "tesseract 5.9.1");
}

#[tokio::test]
async fn images_that_one_threshold_does_not_read_are_read_with_local_ones() {
    // The first attempt finds `first`, the second one what its arguments are.
    let script = |first: &str, confidence: u32| {
        let other = format!("printf '{PAGE}{WORD}' \"$(echo \"$@\" | tr ' ' '_')\"");
        let word = WORD.replace("90", &confidence.to_string());
        format!(
            "cat >/dev/null; case \"$*\" in *threshold*) {other};; *) printf '{PAGE}{word}' {first};; esac"
        )
    };
    let local = "stdin_stdout_-l_eng_--dpi_300_--psm_1_-c_thresholding_method=2_tsv\n";
    assert_eq!(recognize(&script("blot", 20)).await.unwrap().text(), local);
    assert_eq!(recognize(&script("print", 90)).await.unwrap().text(), "print\n");
    let picture = async |first: &str| {
        let folder = program(r"eng\nosd", &script(first, 90));
        let recognizer = find(&folder, ExtractionLimits::default()).unwrap();
        let scan = PageScan { png: b"x", dpi: 300, is_picture: true, languages: &Languages::default() };
        recognizer.recognize(scan).await.unwrap().text()
    };
    let block = local.replace("--psm_1", "--psm_6");
    assert_eq!(picture("cell").await, block, "more words that are certain");
    // What the second attempt cannot do takes nothing from the first one.
    let failing = format!(
        "cat >/dev/null; case \"$*\" in *threshold*) kill -KILL $$;; *) printf '{PAGE}{WORD}' cell;; esac"
    );
    let folder = program(r"eng\nosd", &failing);
    let recognizer = find(&folder, ExtractionLimits::default()).unwrap();
    let scan = PageScan { png: b"x", dpi: 300, is_picture: true, languages: &Languages::default() };
    assert_eq!(recognizer.recognize(scan).await.unwrap().text(), "cell\n");
    let long = "x".repeat(150);
    assert_eq!(picture(&long).await, format!("{long}\n"));
}

#[tokio::test]
async fn program_has_limits_and_a_bare_environment() {
    let limits = ExtractionLimits {
        memory_bytes: 512 << 20,
        cpu: Duration::from_secs(7),
        ..ExtractionLimits::default()
    };
    let script = format!(
        "cat >/dev/null; printf '{PAGE}{WORD}' $(ulimit -v)/$(ulimit -S -t)/$(ulimit -c)/$OMP_THREAD_LIMIT/$HOME"
    );
    let page = recognize_with(&script, limits).await.unwrap();
    assert_eq!(page.text(), "524288/7/0/1/\n");
}

#[tokio::test]
async fn unusable_output_fails_the_page() {
    let endless = format!(
        "printf '{PAGE}'; while :; do printf '5\\t1\\t1\\t1\\t1\\t1\\t10\\t10\\t20\\t10\\t90\\tword\\n'; done"
    );
    for script in [
        "cat >/dev/null",
        "echo garbage",
        "head -c 1000 /dev/urandom",
        "cat >/dev/null; exit 1",
        "echo 'Error during processing.' >&2; exit 1",
        &format!("printf '{PAGE}{WORD}' half; exit 3"),
        &endless,
    ] {
        assert_eq!(failure(recognize(script).await), RecognitionFailure::Invalid, "{script}");
    }
}

#[tokio::test]
async fn program_over_a_limit_fails_the_page_with_its_code() {
    let wall = ExtractionLimits { wall: Duration::from_millis(200), ..ExtractionLimits::default() };
    let result = recognize_with("cat >/dev/null; exec sleep 1000", wall).await;
    assert_eq!(failure(result), RecognitionFailure::Timeout);
    let cpu = ExtractionLimits { cpu: Duration::from_secs(1), ..ExtractionLimits::default() };
    let result = recognize_with("while :; do :; done", cpu).await;
    assert_eq!(failure(result), RecognitionFailure::Timeout);
    for (script, expected) in [
        (
            "echo \"terminate called after throwing an instance of 'std::bad_alloc'\" >&2; kill -ABRT $$",
            RecognitionFailure::Memory,
        ),
        ("kill -KILL $$", RecognitionFailure::Memory),
        ("kill -SEGV $$", RecognitionFailure::Crashed),
    ] {
        assert_eq!(failure(recognize(script).await), expected, "{script}");
    }
}

#[tokio::test]
async fn missing_language_data_is_a_fault_that_names_the_package() {
    let script = "echo \"Failed loading language 'deu'\" >&2; exit 1";
    assert_eq!(fault(recognize(script).await), (Component::Recognizer, FaultKind::Unconfigured));
    let recognizer = find(&program(r"eng\nosd", "exit 1"), ExtractionLimits::default()).unwrap();
    let missing = recognizer.check_languages(&Languages::parse("deu+chi_sim+eng").unwrap()).unwrap_err();
    assert!(missing.contains("deu, chi_sim"), "{missing}");
    assert!(missing.contains("apt install tesseract-ocr-deu tesseract-ocr-chi-sim"), "{missing}");
    assert!(missing.ends_with("choose from: eng"), "{missing}");
    recognizer.check_languages(&Languages::default()).unwrap();
}

#[tokio::test]
async fn removed_program_is_unavailable() {
    let folder = program("eng", "exit 0");
    let recognizer = find(&folder, ExtractionLimits::default()).unwrap();
    fs::remove_file(folder.path().join("tesseract")).unwrap();
    let scan = PageScan { png: b"x", dpi: 300, is_picture: false, languages: &Languages::default() };
    let result = recognizer.recognize(scan).await;
    assert_eq!(fault(result), (Component::Recognizer, FaultKind::Unavailable));
    let fault = recognizer.check(&Languages::default()).await.unwrap_err();
    assert_eq!((fault.component(), fault.kind()), (Component::Recognizer, FaultKind::Unavailable));
}

#[tokio::test]
async fn program_is_found_in_the_first_folder_that_has_it() {
    let (empty, folder) = (tempfile::tempdir().unwrap(), program("eng", "exit 0"));
    assert!(matches!(find(&empty, ExtractionLimits::default()), Err(TesseractError::NotFound)));
    let folders = [empty.path().to_owned(), folder.path().to_owned()];
    let worker = PathBuf::from(env!("CARGO_BIN_EXE_docent-extract-worker"));
    TesseractRecognizer::find(folders, worker, Vec::new(), ExtractionLimits::default()).unwrap();
    fs::write(folder.path().join("tesseract"), "#!/bin/sh\nexit 1\n").unwrap();
    let error = find(&folder, ExtractionLimits::default()).unwrap_err();
    assert!(
        error.to_string().ends_with("does not work: `tesseract --version` failed (exit status: 1)"),
        "{error}"
    );
}

/// How long a test waits for something that happens at once.
const SOON: Duration = Duration::from_secs(30);

/// A named pipe that a program and its children hold open.
struct Pipe {
    folder: TempDir,
    /// Receives a message when a program has started a child, and when no process holds the pipe any more.
    started: oneshot::Receiver<()>,
    ended: oneshot::Receiver<()>,
}

impl Pipe {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let ((start, started), (end, ended)) = (oneshot::channel(), oneshot::channel());
        thread::spawn(move || {
            let mut pipe = BufReader::new(File::open(path).unwrap());
            let _ = pipe.read_line(&mut String::new());
            let _ = start.send(());
            let _ = pipe.read_to_end(&mut Vec::new());
            let _ = end.send(());
        });
        Self { folder, started, ended }
    }

    /// Commands that start a child that runs on, which also holds the pipes to the service.
    fn child(&self) -> String {
        let path = self.folder.path().join("pipe");
        format!("exec 3>{}; sleep 1000 & echo started >&3; cat >/dev/null", path.display())
    }

    async fn wait_until_closed(self) {
        timeout(SOON, self.ended).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn children_of_a_program_over_the_time_limit_are_killed() {
    let pipe = Pipe::new();
    let limits = ExtractionLimits { wall: Duration::from_secs(2), ..ExtractionLimits::default() };
    let result = recognize_with(&format!("{}; exec sleep 1000", pipe.child()), limits).await;
    assert_eq!(failure(result), RecognitionFailure::Timeout);
    pipe.wait_until_closed().await;
}

#[tokio::test]
async fn children_of_an_abandoned_recognition_are_killed() {
    let mut pipe = Pipe::new();
    let script = format!("{}; exec sleep 1000", pipe.child());
    let recognition = tokio::spawn(async move { recognize(&script).await });
    timeout(SOON, &mut pipe.started).await.unwrap().unwrap();
    recognition.abort();
    pipe.wait_until_closed().await;
}

#[tokio::test]
async fn children_that_a_program_leaves_behind_are_killed() {
    let pipe = Pipe::new();
    let script = format!("{}; printf '{PAGE}{WORD}' word", pipe.child());
    let page = timeout(SOON, recognize(&script)).await.expect("the output has ended").unwrap();
    assert_eq!(page.text(), "word\n");
    pipe.wait_until_closed().await;
}
