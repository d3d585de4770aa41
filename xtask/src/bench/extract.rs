//! `cargo xtask bench extract DIR`: measures extraction with the real worker processes.

use anyhow::{Context, Result, ensure};
use docent_domain::extraction::{Coverage, Extraction};
use docent_domain::file_type::FileType;
use docent_extraction::{ExtractionLimits, WorkerExtractor, worker_main};
use docent_ports::text_extractor::{ExtractionError, TextExtractor};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};
use tokio::process::Command;

/// Timeout of pdftotext per file.
const PDFTOTEXT_TIMEOUT: Duration = Duration::from_secs(40);

/// Extracts the PDFs of a directory one after the other and prints time and memory.
pub(crate) fn run(folder: &Path, each: bool, keep: Option<&Path>) -> Result<ExitCode> {
    let files = pdfs(folder)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let worker = std::env::current_exe().context("path of this program")?;
    let folder_of_socket = tempfile::tempdir()?;
    let socket = folder_of_socket.path().join("peak");
    let peaks = UnixListener::bind(&socket)?;
    let args = vec!["extract-worker".into(), socket.into()];
    let extractor = WorkerExtractor::new(worker, args, ExtractionLimits::default());
    let ours = Meter::start()?;
    let mut texts = Vec::new();
    let (mut pages, mut max_peak) = (0, 0);
    for file in &files {
        let one = Meter::start()?;
        let extracted = runtime.block_on(extract_file(&extractor, file))?;
        let one = one.stop()?;
        pages += extracted.as_ref().map_or(0, |extraction| extraction.pages.len());
        let peak = take_peak(&peaks)?;
        max_peak = max_peak.max(peak.unwrap_or_default());
        if each {
            let memory = peak.map_or("killed".to_owned(), |kib| format!("{} MiB", kib >> 10));
            println!("{}: {}; {one}, {memory}", name(file), outcome(&extracted));
        }
        texts.push(extracted.ok().map(text));
    }
    let ours = ours.stop()?;
    println!("docent: {} files, {pages} pages, {ours}", files.len());
    println!("  {:.0} pages per CPU second, {:.0} per second", rate(pages, ours.cpu), rate(pages, ours.wall));
    println!("  peak memory of a worker (killed ones excluded): {} MiB", max_peak >> 10);
    if let Some(folder) = keep {
        fs::create_dir_all(folder)?;
        for (file, text) in files.iter().zip(&texts) {
            fs::write(folder.join(name(file)).with_extension("txt"), text.as_deref().unwrap_or_default())?;
        }
    }
    runtime.block_on(compare(&files, &texts, ours.cpu, each))?;
    Ok(ExitCode::SUCCESS)
}

fn pdfs(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pdf")));
    files.sort();
    ensure!(!files.is_empty(), "no PDFs in {}", folder.display());
    Ok(files)
}

pub(super) type Extracted = Result<Extraction, ExtractionError>;

/// Extracts a file.
pub(super) async fn extract_file(extractor: &WorkerExtractor, file: &Path) -> Result<Extracted> {
    let bytes = fs::read(file).with_context(|| format!("reading {}", file.display()))?;
    let stream = futures::stream::once(async { Ok(bytes.into()) });
    match extractor.extract(FileType::Pdf, Box::pin(stream)).await {
        Err(ExtractionError::Fault(fault)) => Err(fault).with_context(|| name(file)),
        extracted => Ok(extracted),
    }
}

fn outcome(extracted: &Extracted) -> String {
    match extracted {
        Ok(extraction) => {
            let coverage = Coverage::of(extraction);
            format!(
                "{} pages ({} empty, {} unreliable, {} truncated), {} characters, {} bookmarks",
                coverage.pages,
                coverage.empty_pages.len(),
                coverage.unreliable_pages.len(),
                coverage.truncated_pages.len(),
                coverage.characters,
                extraction.metadata.outline.len(),
            )
        }
        Err(error) => error.to_string(),
    }
}

fn text(extraction: Extraction) -> String {
    let pages: Vec<String> = extraction.pages.into_iter().map(|page| page.text).collect();
    pages.join("\u{c}")
}

fn name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Runs pdftotext on the same files and prints the agreement of the words.
async fn compare(files: &[PathBuf], texts: &[Option<String>], ours: Duration, each: bool) -> Result<()> {
    if Command::new("pdftotext").arg("-v").stderr(Stdio::null()).status().await.is_err() {
        println!("pdftotext is not installed: no comparison");
        return Ok(());
    }
    let meter = Meter::start()?;
    let mut outputs = Vec::new();
    for file in files {
        let mut command = Command::new("pdftotext");
        let run = command.arg(file).arg("-").stderr(Stdio::null()).kill_on_drop(true).output();
        // pdftotext has no limits of its own.
        let output = tokio::time::timeout(PDFTOTEXT_TIMEOUT, run).await.ok().transpose()?;
        outputs.push(output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()));
    }
    let theirs = meter.stop()?;
    println!("pdftotext: {theirs}");
    println!("  docent used {:.2} times its CPU time", ours.as_secs_f64() / theirs.cpu.as_secs_f64());
    let mut scores = Vec::new();
    for ((file, ours), theirs) in files.iter().zip(texts).zip(&outputs) {
        let (Some(ours), Some(theirs)) = (ours, theirs) else { continue };
        let score = word_f1(ours, theirs);
        if each {
            println!("  {}: word F1 {score:.4}", name(file));
        }
        scores.push(score);
    }
    println!("  word F1: {:.4} on average", scores.iter().sum::<f64>() / scores.len() as f64);
    Ok(())
}

/// F1 score (harmonic mean of precision and recall) of the words, counted with multiplicity.
fn word_f1(ours: &str, theirs: &str) -> f64 {
    let mut counts: HashMap<&str, i64> = HashMap::new();
    let (mut left, mut right) = (0, 0);
    // The bars and dashes of Markdown tables are not on the page.
    let is_mark = |word: &&str| word.contains('|') && word.chars().all(|c| matches!(c, '|' | '-'));
    for word in ours.split_whitespace().filter(|word| !is_mark(word)) {
        *counts.entry(word).or_default() += 1;
        left += 1;
    }
    let mut common = 0;
    for word in theirs.split_whitespace() {
        right += 1;
        if let Some(count @ 1..) = counts.get_mut(word) {
            *count -= 1;
            common += 1;
        }
    }
    if left + right == 0 { 1.0 } else { 2.0 * f64::from(common) / f64::from(left + right) }
}

/// Measures wall time, and the CPU time of child processes that end meanwhile.
struct Meter {
    start: Instant,
    cpu: Duration,
}

#[derive(Clone, Copy)]
struct Times {
    wall: Duration,
    cpu: Duration,
}

impl Meter {
    fn start() -> Result<Self> {
        Ok(Self { start: Instant::now(), cpu: children_cpu()? })
    }

    fn stop(self) -> Result<Times> {
        Ok(Times { wall: self.start.elapsed(), cpu: children_cpu()?.saturating_sub(self.cpu) })
    }
}

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.3} s, {:.3} s of CPU", self.wall.as_secs_f64(), self.cpu.as_secs_f64())
    }
}

fn rate(pages: usize, time: Duration) -> f64 {
    pages as f64 / time.as_secs_f64().max(1e-9)
}

pub(super) fn children_cpu() -> Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = |time: TimeVal| time.tv_sec().unsigned_abs() * 1_000_000 + time.tv_usec().unsigned_abs();
    Ok(Duration::from_micros(micros(usage.user_time()) + micros(usage.system_time())))
}

/// Runs an extraction worker, and sends its peak memory to a socket if one is given.
pub(crate) fn worker(socket: Option<&Path>) -> Result<ExitCode> {
    let Some(socket) = socket else { return Ok(worker_main()) };
    // The sandbox permits reading and writing what is open when the worker enters it.
    let mut status = File::open("/proc/self/status")?;
    let mut peak = File::from(OwnedFd::from(UnixStream::connect(socket)?));
    let code = worker_main();
    let mut text = String::new();
    status.read_to_string(&mut text)?;
    let kib = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    peak.write_all(kib.unwrap_or_default().as_bytes())?;
    Ok(code)
}

/// Receives the peak memory of the last worker; `None` if it was killed.
fn take_peak(peaks: &UnixListener) -> Result<Option<u64>> {
    let mut kib = String::new();
    peaks.accept()?.0.read_to_string(&mut kib)?;
    Ok(kib.parse().ok())
}
