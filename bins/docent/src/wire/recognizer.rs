//! Creates the text recognizer, or detects it.

use super::workers::{this_program, worker_args};
use anyhow::{Context, anyhow};
use async_trait::async_trait;
use docent::config::{Recognizer, Secret, Settings};
use docent_extraction::{ExtractionLimits, TesseractError, TesseractRecognizer};
use docent_models::http_recognizer::HttpRecognizer;
use docent_ports::text_recognizer::{RecognizerDetection, TextRecognizer};
use futures::future::{BoxFuture, Shared, pending, ready};
use futures::{FutureExt, TryFutureExt};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::spawn_blocking;

/// Where programs are looked for if `PATH` is not set.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Longest time for the recognition of a page; processor time of tesseract.
const PAGE_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum size of a page image.
const IMAGE_BYTES: u64 = 128 << 20;

/// The detection of the configured recognizer. Asking a program for its version and languages takes longer than the rest
/// of a start, so that only what needs the recognizer waits for it.
#[derive(Clone)]
pub(crate) struct Detection(Shared<BoxFuture<'static, Detected>>);

type Detected = Result<Option<Arc<dyn TextRecognizer>>, Arc<anyhow::Error>>;

impl Detection {
    /// Starts it.
    ///
    /// # Errors
    /// If the URL of a service cannot be used.
    pub(super) fn start(settings: &Settings) -> anyhow::Result<Self> {
        let recognition = &settings.recognition;
        let known: Option<Arc<dyn TextRecognizer>> = match &recognition.ocr {
            Recognizer::Tesseract | Recognizer::Auto => {
                let settings = settings.clone();
                return Ok(Self::of(move || installed(&settings)));
            }
            Recognizer::Off => None,
            Recognizer::Http(url) => {
                let key = recognition.ocr_api_key.as_ref().map(Secret::expose);
                let recognizer = HttpRecognizer::new(url.as_str(), key, PAGE_TIMEOUT);
                Some(Arc::new(recognizer.context("DOCENT_OCR")?))
            }
        };
        Ok(Self(ready(Ok(known)).boxed().shared()))
    }

    /// Starts a detection that blocks its thread.
    fn of(detect: impl FnOnce() -> anyhow::Result<Option<Arc<dyn TextRecognizer>>> + Send + 'static) -> Self {
        let detecting = spawn_blocking(detect);
        let detected = async { detecting.await.context("the detection of the recognizer panicked")? };
        Self(detected.map_err(Arc::new).boxed().shared())
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// If the recognizer cannot be used.
    pub(crate) async fn check(&self) -> anyhow::Result<()> {
        self.0.clone().await.map(drop).map_err(|error| anyhow!("{error:#}"))
    }

    /// Returns the error of [`Self::check`], and waits for ever without one.
    pub(crate) async fn failure(&self) -> anyhow::Error {
        match self.check().await {
            Ok(()) => pending().await,
            Err(error) => error,
        }
    }
}

#[async_trait]
impl RecognizerDetection for Detection {
    async fn detected(&self) -> Option<Arc<dyn TextRecognizer>> {
        match self.0.clone().await {
            Ok(detected) => detected,
            // The process ends with this error. Until then scans must not fail as if there were no recognizer.
            Err(_) => pending().await,
        }
    }
}

/// The installed tesseract. With `auto`, a program that does not work counts as missing.
///
/// # Errors
/// If it is required and cannot be used, or has no data for the languages.
fn installed(settings: &Settings) -> anyhow::Result<Option<Arc<dyn TextRecognizer>>> {
    match tesseract(settings)? {
        Ok(recognizer) => Ok(Some(Arc::new(recognizer))),
        Err(error) if settings.recognition.ocr == Recognizer::Tesseract => Err(error).context("DOCENT_OCR"),
        Err(TesseractError::NotFound) => Ok(None),
        Err(error @ TesseractError::Broken { .. }) => {
            tracing::warn!(%error, "scanned pages are not recognised");
            Ok(None)
        }
    }
}

/// Finds tesseract. The outer error is about its languages.
fn tesseract(settings: &Settings) -> anyhow::Result<Result<TesseractRecognizer, TesseractError>> {
    let recognition = &settings.recognition;
    let path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from(DEFAULT_PATH));
    // Relative folders would depend on the working directory.
    let folders: Vec<PathBuf> = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
    let workers = NonZeroUsize::new(settings.ingestion.ingest_concurrency).unwrap_or(NonZeroUsize::MIN);
    let (cpu, wall) = (PAGE_TIMEOUT, PAGE_TIMEOUT * 5);
    let limits =
        ExtractionLimits { file_bytes: IMAGE_BYTES, cpu, wall, workers, ..ExtractionLimits::default() };
    let found = TesseractRecognizer::find(folders, this_program()?, worker_args(), limits);
    if let Ok(recognizer) = &found {
        let languages = &recognition.ocr_languages;
        recognizer
            .check_languages(languages)
            .map_err(|missing| anyhow!("DOCENT_OCR_LANGUAGES: {missing}"))?;
    }
    Ok(found)
}
