//! Recognises text with the program tesseract, in worker processes.

use super::frame::{ProgramRequest, Request, Task};
use super::limits::ExtractionLimits;
use super::tsv;
use super::worker::CANNOT_RUN;
use super::workers::{End, Interrupted, Workers};
use async_trait::async_trait;
use bytes::Bytes;
use docent_domain::document::FailureCode;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::recognition::{Languages, RecognitionFailure, RecognizedPage};
use docent_ports::text_recognizer::{PageScan, RecognitionError, TextRecognizer};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::spawn_blocking;

/// Maximum size of the program's output for a page; a full page of small print has a twentieth of it.
const MAX_OUTPUT: u64 = 8 << 20;
/// The data by which tesseract finds out how a page is turned.
const ORIENTATION: &str = "osd";
/// Page segmentation modes: with and without the orientation, and as one block, whose rows go across columns like those of
/// tables.
const SEGMENT_TURNED: &str = "1";
const SEGMENT: &str = "3";
const SEGMENT_BLOCK: &str = "6";
/// Tells ink from paper by the surroundings of each pixel, which reads photographs with uneven light and dark cells of
/// tables, instead of by one threshold for the image, which reads print best.
const LOCAL_THRESHOLD: &str = "thresholding_method=2";
/// The first version that has it.
const LOCAL_THRESHOLD_SINCE: u32 = 5;
/// Signs in tesseract's messages that a language is not installed.
const NO_LANGUAGE: [&str; 2] = ["Failed loading language", "Error opening data file"];

/// Recognises text with tesseract, each page in its own process.
#[derive(Debug)]
pub struct TesseractRecognizer {
    workers: Workers,
    installation: Installation,
    name: String,
}

/// Why tesseract cannot be used.
#[derive(Debug, Error)]
pub enum TesseractError {
    /// The program is in none of the folders.
    #[error("the program tesseract was not found; install it, on Debian with `apt install tesseract-ocr`")]
    NotFound,
    /// The program cannot be started or does not respond as expected.
    #[error("{program} does not work: {reason}")]
    Broken {
        /// Path of the program.
        program: String,
        /// What is wrong.
        reason: String,
    },
}

/// The program and its language data.
#[derive(Clone, Debug)]
struct Installation {
    program: PathBuf,
    version: String,
    languages: Vec<String>,
}

impl Installation {
    /// Asks the program for its version and languages.
    fn inspect(program: &Path) -> Result<Self, TesseractError> {
        let broken =
            |reason: String| TesseractError::Broken { program: program.display().to_string(), reason };
        let run = |argument: &str| {
            // With the environment that recognitions have.
            let mut command = Command::new(program);
            command.arg(argument).env_clear().stdin(Stdio::null());
            let output = command.output().map_err(|error| broken(error.to_string()))?;
            if !output.status.success() {
                return Err(broken(format!("`tesseract {argument}` failed ({})", output.status)));
            }
            // Early versions write to standard error.
            let bytes = if output.stdout.is_empty() { output.stderr } else { output.stdout };
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let version = run("--version")?;
        let version = version.lines().next().and_then(|line| line.strip_prefix("tesseract "));
        let version = version.ok_or_else(|| broken("`tesseract --version` names no version".to_owned()))?;
        let languages = run("--list-langs")?;
        // The first line is a heading.
        let languages = languages.lines().skip(1).map(|line| line.trim().to_owned()).collect();
        Ok(Self { program: program.to_owned(), version: version.trim().to_owned(), languages })
    }

    fn has(&self, language: &str) -> bool {
        self.languages.iter().any(|installed| installed == language)
    }

    /// Returns an error text if a language is not installed.
    fn check(&self, languages: &Languages) -> Result<(), String> {
        let missing: Vec<&str> =
            languages.codes().iter().map(String::as_str).filter(|code| !self.has(code)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let packages = missing.iter().map(|code| format!("tesseract-ocr-{}", code.replace('_', "-")));
        let packages = packages.collect::<Vec<_>>().join(" ");
        let installed = self.languages.iter().filter(|code| *code != ORIENTATION).cloned();
        Err(format!(
            "tesseract has no data for {}; install it, on Debian with `apt install {packages}`, or choose from: {}",
            missing.join(", "),
            installed.collect::<Vec<_>>().join(", "),
        ))
    }
}

impl TesseractRecognizer {
    /// Finds tesseract in these folders. Workers are started as `command` with `args`, which must run
    /// [`worker_main`](super::worker_main).
    ///
    /// # Errors
    /// If the program is in none of the folders or does not work.
    pub fn find(
        folders: impl IntoIterator<Item = PathBuf>,
        command: PathBuf,
        args: Vec<OsString>,
        limits: ExtractionLimits,
    ) -> Result<Self, TesseractError> {
        let mut programs = folders.into_iter().map(|folder| folder.join("tesseract"));
        let program = programs.find(|program| program.is_file()).ok_or(TesseractError::NotFound)?;
        let installation = Installation::inspect(&program)?;
        let name = format!("tesseract {}", installation.version);
        let workers = Workers::new(Component::Recognizer, command, args, limits);
        Ok(Self { workers, installation, name })
    }

    /// Checks that data for these languages was installed when the recognizer was created.
    ///
    /// # Errors
    /// A sentence that says what to install.
    pub fn check_languages(&self, languages: &Languages) -> Result<(), String> {
        self.installation.check(languages)
    }

    /// Whether the installed version has local thresholds.
    fn has_local_threshold(&self) -> bool {
        let major = self.installation.version.trim_start_matches('v').split('.').next();
        major.and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major >= LOCAL_THRESHOLD_SINCE)
    }

    fn request(&self, scan: &PageScan<'_>, option: Option<&str>) -> Request {
        let segmentation = match option {
            Some(_) if scan.is_picture => SEGMENT_BLOCK,
            _ if self.installation.has(ORIENTATION) => SEGMENT_TURNED,
            _ => SEGMENT,
        };
        let (languages, dpi) = (scan.languages.to_string(), scan.dpi.to_string());
        let args = ["stdin", "stdout", "-l", &languages, "--dpi", &dpi, "--psm", segmentation];
        let option = option.map(|option| ["-c", option]);
        let args = args.iter().chain(option.iter().flatten()).chain(&["tsv"]);
        let program = ProgramRequest {
            program: self.installation.program.clone(),
            args: args.map(|arg| (*arg).to_owned()).collect(),
            // Its threads would mostly wait for each other; pages are recognised concurrently instead.
            env: vec![("OMP_THREAD_LIMIT".to_owned(), "1".to_owned())],
        };
        Request::new(&self.workers.limits, Task::Program(program))
    }

    /// Runs the program on an image.
    async fn run(
        &self,
        scan: &PageScan<'_>,
        option: Option<&str>,
    ) -> Result<RecognizedPage, RecognitionError> {
        let request = self.request(scan, option);
        let png = Bytes::copy_from_slice(scan.png);
        let png = Box::pin(futures::stream::once(async move { Ok(png) }));
        let (output, end) = match self.workers.run(&request, png, receive).await {
            Ok(result) => result,
            Err(Interrupted::Fault(fault)) => return Err(fault.into()),
            Err(Interrupted::TimedOut) => return Err(RecognitionError::Page(RecognitionFailure::Timeout)),
        };
        match output {
            Ok(output) if end.exit_code() == Some(0) => {
                // Off the async threads, and a panic is contained: what is on a scan is decided outside.
                let page = spawn_blocking(move || tsv::parse(&output)).await;
                page.ok().flatten().ok_or(RecognitionError::Page(RecognitionFailure::Invalid))
            }
            Ok(_) => Err(cause(&end, io::ErrorKind::UnexpectedEof.into())),
            Err(error) => Err(cause(&end, error)),
        }
    }
}

/// Reads the program's output.
async fn receive(stdout: impl AsyncRead + Unpin) -> io::Result<String> {
    let mut output = String::new();
    stdout.take(MAX_OUTPUT + 1).read_to_string(&mut output).await?;
    if output.len() as u64 > MAX_OUTPUT {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the output is too long"));
    }
    Ok(output)
}

/// Classifies the end of a process without usable output.
fn cause(end: &End, error: io::Error) -> RecognitionError {
    let fault = |kind, message: &'static str| {
        Fault::new(Component::Recognizer, kind, message).caused_by(end.log()).into()
    };
    match end.exit_code() {
        Some(CANNOT_RUN) => fault(FaultKind::Unavailable, "the program tesseract cannot be started"),
        Some(1..) if NO_LANGUAGE.iter().any(|sign| end.log().contains(sign)) => {
            fault(FaultKind::Unconfigured, "tesseract has no data for the languages")
        }
        // It rejected the image, or its output is not a table of words.
        Some(_) => RecognitionError::Page(RecognitionFailure::Invalid),
        None => match end.cause(error) {
            Ok(FailureCode::ExtractionMemory) => RecognitionError::Page(RecognitionFailure::Memory),
            Ok(FailureCode::ExtractionTimeout) => RecognitionError::Page(RecognitionFailure::Timeout),
            Ok(_) => RecognitionError::Page(RecognitionFailure::Crashed),
            Err(fault) if fault.kind() == FaultKind::InvalidResponse => {
                RecognitionError::Page(RecognitionFailure::Invalid)
            }
            Err(fault) => fault.into(),
        },
    }
}

#[async_trait]
impl TextRecognizer for TesseractRecognizer {
    async fn recognize(&self, scan: PageScan<'_>) -> Result<RecognizedPage, RecognitionError> {
        let page = self.run(&scan, None).await?;
        let is_certain = page.is_reliable() && !scan.is_picture;
        if is_certain || !self.has_local_threshold() {
            return Ok(page);
        }
        match self.run(&scan, Some(LOCAL_THRESHOLD)).await {
            Ok(other) if other.confident_characters() > page.confident_characters() => Ok(other),
            // The limits of the second attempt take nothing from the first one.
            Ok(_) | Err(RecognitionError::Page(_)) => Ok(page),
            Err(error) => Err(error),
        }
    }

    async fn check(&self, languages: &Languages) -> Result<()> {
        let fault = |kind, message: String| Fault::new(Component::Recognizer, kind, message);
        let program = self.installation.program.clone();
        let inspected = spawn_blocking(move || Installation::inspect(&program)).await;
        let inspected = inspected
            .map_err(|error| fault(FaultKind::Internal, "the check panicked".into()).caused_by(error))?;
        let installation = inspected.map_err(|error| fault(FaultKind::Unavailable, error.to_string()))?;
        installation.check(languages).map_err(|missing| fault(FaultKind::Unconfigured, missing))
    }

    fn name(&self) -> &str {
        &self.name
    }
}
