//! Ingests an uploaded document into the vector store.
//!
//! The stages are extract, recognise, chunk, embed and index. Each depends only on the stored file, and chunk IDs depend only on
//! the version. A repeated ingestion after a crash therefore overwrites the earlier chunks and creates no
//! duplicates.

use crate::generations::OpenIndex;
use crate::picture_descriptions::Describer;
use crate::recognition::{self, Progress, RecognizeError};
use crate::spans::{self, stage};
use crate::{App, extractions, language, tokens};
use chrono::TimeDelta;
use docent_domain::chunk::Chunk;
use docent_domain::document::{Document, Failure, FailureCode};
use docent_domain::extraction::{Coverage, ExtractedPage, Extraction, IngestionStats};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::file_type::FileType;
use docent_domain::id::DocumentId;
use docent_domain::labels::DocumentLabels;
use docent_domain::metrics::Stage;
use docent_domain::retrieval::{Embedding, IndexEntry, IndexedVersion, Passages};
use docent_ports::embedder::Embedder;
use docent_ports::text_extractor::ExtractionError;
use docent_text::chunking::chunk_pages;
use docent_text::headings;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

/// Number of chunks that one call embeds.
const BATCH: usize = 64;
/// Number of characters at the beginning of a document that are embedded as context of each of its chunks.
const LEAD_CHARACTERS: usize = 3000;

/// What to do about documents without text if there is no recognizer.
const NO_RECOGNIZER: &str = "text recognition is not set up: install the program tesseract (Debian package tesseract-ocr) on the \
    server, set DOCENT_OCR to auto if it is off, and restart the service";

/// Why an ingestion ended without success.
#[derive(Debug)]
pub enum IngestError {
    /// The document cannot be ingested; with its coverage, if the pages were read.
    Document(Failure, Option<Coverage>),
    /// A component failed, and a retry may succeed; with the coverage, if the pages were read.
    Fault(Fault, Option<Coverage>),
    /// The index is about to be removed: another one is active.
    IndexReplaced,
    /// The document makes way for others and continues after this pause.
    Suspended(TimeDelta),
}

impl From<Fault> for IngestError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault, None)
    }
}

impl From<ExtractionError> for IngestError {
    fn from(error: ExtractionError) -> Self {
        match error {
            ExtractionError::Document(failure) => Self::Document(failure, None),
            ExtractionError::Fault(fault) => fault.into(),
        }
    }
}

impl From<RecognizeError> for IngestError {
    fn from(error: RecognizeError) -> Self {
        match error {
            RecognizeError::Document(failure) => Self::Document(failure, None),
            RecognizeError::Fault(fault) => fault.into(),
        }
    }
}

impl IngestError {
    /// A machine-readable code.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Document(failure, _) => failure.code.as_str(),
            Self::Fault(fault, _) => fault.kind().code(),
            Self::IndexReplaced => "moved",
            Self::Suspended(_) => "suspended",
        }
    }

    /// Adds the coverage to an error that occurred after the pages were read.
    fn with_coverage(self, coverage: &Coverage) -> Self {
        match self {
            Self::Fault(fault, None) => Self::Fault(fault, Some(coverage.clone())),
            Self::Document(failure, None) => Self::Document(failure, Some(coverage.clone())),
            other => other,
        }
    }

    /// Turns a fault about one of the passages into a failure of the document, which names the passage.
    fn of_document(self, chunks: &[Chunk], coverage: &Coverage) -> Self {
        let Self::Fault(fault, _) = &self else { return self };
        let passage = fault.passage().and_then(|position| Some((position + 1, chunks.get(position)?)));
        let Some((number, chunk)) = passage.filter(|_| !fault.is_transient()) else { return self };
        let (page, last) = (chunk.span.start.page, chunk.span.end.page);
        let place = match coverage.page_labels.get(page) {
            Some(label) => label,
            None if page == last => format!("page {page}"),
            None => format!("pages {page} to {last}"),
        };
        let status = fault.status().map(|status| format!(" with status {status}")).unwrap_or_default();
        let refused = format!("the {} refused passage {number} ({place}){status}", fault.component().name());
        // What the back end says is for staff.
        tracing::warn!(passage = number, page, fault = %fault.report(), "a passage cannot be embedded");
        Self::Document(
            Failure::because(FailureCode::Embedding, format!("{refused}, and embeds others")),
            None,
        )
    }

    pub(crate) fn of(code: FailureCode, coverage: Option<Coverage>) -> Self {
        Self::Document(Failure::of(code), coverage)
    }
}

/// Ingests the current version of a document: replaces its chunks in this index, and adds durations to `stats`. Returns none if it was
/// cancelled before writing began.
///
/// # Errors
/// See [`IngestError`]. Cancel-safe: a later call replaces whatever was written.
pub async fn ingest(
    app: &App,
    target: &OpenIndex,
    document: &Document,
    cancelled: &CancellationToken,
    stats: &mut IngestionStats,
) -> Option<Result<Coverage, IngestError>> {
    // Writing is not cancelled: a request that was already sent to the vector store would still take effect.
    let prepared = cancelled.run_until_cancelled(prepare(app, target, document, stats)).await?;
    if cancelled.is_cancelled() {
        return None;
    }
    Some(match prepared {
        Ok(prepared) => write(app, target, prepared, stats).await,
        Err(error) => Err(error),
    })
}

/// A version of a document, ready to be written into the vector store.
struct Prepared {
    document: DocumentId,
    version: IndexedVersion,
    entries: Vec<IndexEntry>,
    coverage: Coverage,
}

async fn prepare(
    app: &App,
    target: &OpenIndex,
    document: &Document,
    stats: &mut IngestionStats,
) -> Result<Prepared, IngestError> {
    let embedder = target.embedder()?;
    let file = document.file.as_ref().ok_or_else(|| IngestError::of(FailureCode::FileMissing, None))?;
    if file.bytes == 0 {
        return Err(IngestError::of(FailureCode::Empty, None));
    }
    app.extractor.name(file.file_type).clone_into(&mut stats.extractor);
    let work = async { Ok(extractions::extract(app, file).await?) };
    let work = traced(stage(Stage::Extract, None), work);
    let mut extraction = timed(app, document.id, Stage::Extract, &mut stats.extract, work).await?;
    app.process.running.set_pages(document.id, extraction.pages.len());
    if recognition::is_needed(&extraction) && recognition::is_possible(app).await {
        // Boxed, because it is large and most documents need none.
        let mut describer = Describer::of(app, &extraction);
        let work = Box::pin(recognition::recognize(app, document, file, &mut extraction, describer.as_mut()));
        let work = async { Ok(work.await?) };
        let work = traced(stage(Stage::Recognize, None), work);
        let progress = timed(app, document.id, Stage::Recognize, &mut stats.extract, work).await;
        if let Some(describer) = describer {
            describer.record(document).await;
        }
        if let Progress::Suspended(pause) = progress? {
            return Err(IngestError::Suspended(pause));
        }
    }
    let permit = app.process.running.chunking_permit().await;
    let work = traced(stage(Stage::Chunk, None), chunk(app, extraction, file.file_type));
    let Chunked { coverage, lead, chunks, .. } =
        timed(app, document.id, Stage::Chunk, &mut stats.chunk, work).await?;
    drop(permit);
    let work = async {
        let embeddings = embed(&**embedder, document, &lead, &chunks).await;
        embeddings.map_err(|error| error.of_document(&chunks, &coverage))
    };
    let embedded = timed(app, document.id, Stage::Embed, &mut stats.embed, work).await;
    let embeddings = embedded.map_err(|error| error.with_coverage(&coverage))?;
    let shortened = embeddings.iter().filter(|embedding| embedding.is_shortened).count();
    stats.shortened_passages = u32::try_from(shortened).unwrap_or(u32::MAX);
    let labels = DocumentLabels::with_coverage(document, Some(&coverage));
    let version = IndexedVersion { id: document.version_id, labels };
    let headings = headings::before_chunks(chunks.iter().map(|chunk| chunk.text.as_str()));
    let chunks = chunks.into_iter().zip(headings).zip(embeddings);
    let entries = chunks.map(|((chunk, headings), e)| entry(document, chunk, headings, e)).collect();
    Ok(Prepared { document: document.id, version, entries, coverage })
}

async fn write(
    app: &App,
    target: &OpenIndex,
    prepared: Prepared,
    stats: &mut IngestionStats,
) -> Result<Coverage, IngestError> {
    // Embedding can take long. Writing to a collection that was removed meanwhile would create it again.
    if !app.is_writable(target.generation.id).await? {
        return Err(IngestError::IndexReplaced);
    }
    let Prepared { document, version, entries, coverage } = prepared;
    let span = stage(Stage::Index, Some(entries.len()));
    let work = async { Ok(target.index.replace(&version, entries).await?) };
    let written = timed(app, document, Stage::Index, &mut stats.index, traced(span, work)).await;
    written.map_err(|error| error.with_coverage(&coverage))?;
    Ok(coverage)
}

/// Runs a stage and records its duration.
async fn timed<T>(
    app: &App,
    document: DocumentId,
    stage: Stage,
    duration: &mut Duration,
    work: impl Future<Output = T>,
) -> T {
    app.process.running.set_stage(document, stage);
    let started = app.now();
    let done = work.await;
    let took = app.since(started);
    *duration += took;
    app.recorder.stage_ended(stage, took);
    done
}

/// Runs a stage in its span.
async fn traced<T>(span: Span, work: impl Future<Output = Result<T, IngestError>>) -> Result<T, IngestError> {
    let done = work.instrument(span.clone()).await;
    done.inspect_err(|error| spans::fail(&span, error.code()))
}

/// A document that was split into chunks.
struct Chunked {
    coverage: Coverage,
    lead: String,
    chunks: Vec<Chunk>,
    extraction: Extraction,
}

/// Checks the limits and splits the pages into chunks, off the async threads because counting tokens is CPU-bound.
async fn chunk(app: &App, extraction: Extraction, file_type: FileType) -> Result<Chunked, IngestError> {
    let limits = &app.settings;
    let (size, max_characters, max_chunks) = (limits.chunk_size, limits.max_characters, limits.max_chunks);
    let work = move || {
        let mut coverage = Coverage::of(&extraction);
        if coverage.characters > max_characters {
            return Err(Box::new(IngestError::of(FailureCode::TooMuchText, Some(coverage))));
        }
        let counter = tokens::Counter::default();
        let chunks = chunk_pages(&extraction.pages, size, |text| counter.count(text));
        coverage.chunks = chunks.len() as u32;
        coverage.tokens = chunks.iter().map(|chunk| u64::from(chunk.tokens)).sum();
        if coverage.chunks > max_chunks {
            return Err(Box::new(IngestError::of(FailureCode::TooManyChunks, Some(coverage))));
        }
        let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
        coverage.language = language::detect(&texts).map(str::to_owned);
        let lead = lead_of(chunks.iter().map(|chunk| chunk.text.as_str()));
        Ok(Chunked { coverage, lead, chunks, extraction })
    };
    let chunked = tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| {
            Fault::new(Component::Service, FaultKind::Internal, "splitting into chunks panicked")
                .caused_by(error)
        })?
        .map_err(|error| *error)?;
    if chunked.chunks.is_empty() {
        let failure = no_text(app, file_type, &chunked.extraction.pages, &chunked.coverage).await;
        return Err(IngestError::Document(failure, Some(chunked.coverage)));
    }
    Ok(chunked)
}

/// The failure of a document without chunks.
async fn no_text(app: &App, file_type: FileType, pages: &[ExtractedPage], coverage: &Coverage) -> Failure {
    if pages.is_empty() {
        return Failure::of(FailureCode::Empty);
    }
    let code =
        if coverage.unreliable_pages.is_empty() { FailureCode::NoText } else { FailureCode::UnmappedText };
    let Failure { reason: sentence, .. } = Failure::of_type(code, file_type);
    if !file_type.has_page_images() && pages.iter().all(|page| page.pictures.is_empty()) {
        return Failure::because(code, sentence);
    }
    let failed = coverage.recognition.as_ref().map_or(0, |recognition| recognition.failed_pages.len());
    let reason = match (app.recognizer.detected().await, failed) {
        (None, _) => NO_RECOGNIZER.to_owned(),
        (Some(_), 0) => "no text was recognised on the images of its pages".to_owned(),
        (Some(_), failed) => format!("recognising it failed on {failed} of {} pages", coverage.pages),
    };
    Failure::because(code, format!("{sentence}; {reason}"))
}

/// The beginning of a document, given its chunks. A cover often has several short ones.
pub(crate) fn lead_of<'a>(chunks: impl Iterator<Item = &'a str>) -> String {
    let text = chunks.flat_map(|chunk| chunk.chars().chain(['\n']));
    text.take(LEAD_CHARACTERS).collect::<String>().trim_end().to_owned()
}

async fn embed(
    embedder: &dyn Embedder,
    document: &Document,
    lead: &str,
    chunks: &[Chunk],
) -> Result<Vec<Embedding>, IngestError> {
    let mut embeddings = Vec::with_capacity(chunks.len());
    let headings = headings::of_chunks(chunks.iter().map(|chunk| chunk.text.as_str()));
    for (batch, headings) in chunks.chunks(BATCH).zip(headings.chunks(BATCH)) {
        let done = embeddings.len();
        let texts: Vec<(u32, &str)> =
            batch.iter().map(|chunk| (chunk.span.start.page, chunk.text.as_str())).collect();
        let passages = Passages { title: document.title.as_str(), lead, chunks: &texts, headings };
        let work = async {
            let batch = embedder.embed_passages(passages).await.map_err(|fault| match fault.passage() {
                Some(position) => fault.with_passage(done + position),
                None => fault,
            })?;
            if batch.len() != texts.len() {
                let message = format!("{} embeddings for {} chunks", batch.len(), texts.len());
                return Err(Fault::new(Component::Embedder, FaultKind::InvalidResponse, message).into());
            }
            Ok(batch)
        };
        embeddings.extend(traced(stage(Stage::Embed, Some(texts.len())), work).await?);
    }
    Ok(embeddings)
}

/// The entry of a chunk with its headings.
fn entry(document: &Document, chunk: Chunk, headings: String, embedding: Embedding) -> IndexEntry {
    IndexEntry {
        id: chunk.id(document.version_id),
        ordinal: chunk.ordinal,
        text: chunk.text,
        span: chunk.span,
        pages: chunk.pages,
        headings,
        embedding,
    }
}
