//! Creates the text recognizer.

use super::{this_program, worker_args};
use anyhow::{Context, anyhow};
use docent::config::{Recognizer, Secret, Settings};
use docent_adapters::extraction::{ExtractionLimits, TesseractError, TesseractRecognizer};
use docent_adapters::http_recognizer::HttpRecognizer;
use docent_ports::text_recognizer::TextRecognizer;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

/// Where programs are looked for if `PATH` is not set.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Maximum size of a page image.
const IMAGE_BYTES: u64 = 128 << 20;

/// Creates the configured recognizer, if any. With `auto`, a program that does not work counts as missing.
///
/// # Errors
/// If it cannot be used.
pub(super) fn recognizer(settings: &Settings) -> anyhow::Result<Option<Arc<dyn TextRecognizer>>> {
    let recognition = &settings.recognition;
    match &recognition.ocr {
        Recognizer::Off => Ok(None),
        Recognizer::Http(url) => {
            let key = recognition.ocr_api_key.as_ref().map(Secret::expose);
            let recognizer = HttpRecognizer::new(url.as_str(), key, recognition.ocr_timeout);
            Ok(Some(Arc::new(recognizer.context("DOCENT_OCR")?)))
        }
        Recognizer::Tesseract => Ok(Some(Arc::new(tesseract(settings)?.context("DOCENT_OCR")?))),
        Recognizer::Auto => match tesseract(settings)? {
            Ok(recognizer) => Ok(Some(Arc::new(recognizer))),
            Err(TesseractError::NotFound) => Ok(None),
            Err(error @ TesseractError::Broken { .. }) => {
                tracing::warn!(%error, "scanned pages are not recognised");
                Ok(None)
            }
        },
    }
}

/// Finds tesseract. The outer error is about its languages.
fn tesseract(settings: &Settings) -> anyhow::Result<Result<TesseractRecognizer, TesseractError>> {
    let recognition = &settings.recognition;
    let path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from(DEFAULT_PATH));
    // Relative folders would depend on the working directory.
    let folders: Vec<PathBuf> = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
    let workers = NonZeroUsize::new(settings.ingestion.ingest_concurrency).unwrap_or(NonZeroUsize::MIN);
    let (cpu, wall) = (recognition.ocr_timeout, recognition.ocr_timeout * 5);
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
