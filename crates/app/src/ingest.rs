//! Reading an uploaded document into the vector store.
//!
//! The steps are extract, chunk, embed and index. Each one is a function of the stored file, and
//! chunk ids are a function of the document, so that beginning again after a crash overwrites what
//! the last try left and doubles nothing.

use crate::{
    App, extractions,
    generations::Opened,
    settings::Settings,
    spans::{self, stage},
    tokens,
};
use docent_domain::{
    chunk::Chunk,
    chunking::chunk_pages,
    document::{Document, Failure, FailureCode},
    extraction::{Coverage, ExtractedPage, Extraction, IngestionStats},
    fault::{Component, Fault, FaultKind},
    headings,
    id::DocumentId,
    metrics::Stage,
    retrieval::{Embedding, IndexEntry, IndexedDocument, Passages},
};
use docent_ports::embedder::Embedder;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

/// Chunks that are embedded in one call.
const BATCH: usize = 64;
/// Characters of a document's beginning that help to find all of it.
const LEAD_CHARACTERS: usize = 1500;

/// Why an ingestion ended without success.
#[derive(Debug)]
pub enum IngestError {
    /// The document is to blame; what was learnt of its pages goes with it.
    Document(Failure, Option<Coverage>),
    /// Something else is; it may work later. What was learnt of the pages by then goes with it.
    Fault(Fault, Option<Coverage>),
    /// The index that it was for is to be removed: another one serves by now.
    Moved,
}

impl From<Fault> for IngestError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault, None)
    }
}

impl IngestError {
    /// What it was, for programs.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Document(failure, _) => failure.code.as_str(),
            Self::Fault(fault, _) => fault.kind().code(),
            Self::Moved => "moved",
        }
    }

    /// The same after the pages were read: that later work failed makes them no less known.
    fn after(self, coverage: &Coverage) -> Self {
        match self {
            Self::Fault(fault, None) => Self::Fault(fault, Some(coverage.clone())),
            other => other,
        }
    }

    pub(crate) fn of(code: FailureCode, coverage: Option<Coverage>) -> Self {
        Self::Document(Failure::of(code), coverage)
    }
}

/// Ingests a document: when this returns, its chunks are what this index has of it. None when it was
/// cancelled; then nothing is being written any more. What it takes is added to `effort`.
///
/// # Errors
/// See [`IngestError`]. Cancel-safe in that a later call puts everything right.
pub async fn ingest(
    app: &App,
    opened: &Opened,
    document: &Document,
    cancelled: &CancellationToken,
    effort: &mut IngestionStats,
) -> Option<Result<Coverage, IngestError>> {
    // Writing is not broken off: what is on its way to the vector store would still arrive there.
    let prepared = cancelled.run_until_cancelled(prepare(app, opened, document, effort)).await?;
    if cancelled.is_cancelled() {
        return None;
    }
    Some(match prepared {
        Ok(prepared) => write(app, opened, prepared, effort).await,
        Err(error) => Err(error),
    })
}

/// A document, ready to be written into the vector store.
struct Prepared {
    document: IndexedDocument,
    entries: Vec<IndexEntry>,
    coverage: Coverage,
}

async fn prepare(
    app: &App,
    opened: &Opened,
    document: &Document,
    effort: &mut IngestionStats,
) -> Result<Prepared, IngestError> {
    let embedder = opened.embedder()?;
    let file = document.file.as_ref().ok_or_else(|| IngestError::of(FailureCode::FileMissing, None))?;
    app.extractor.name().clone_into(&mut effort.extractor);
    let work = traced(stage(Stage::Extract, None), extractions::extraction(app, file));
    let extraction = timed(app, document.id, Stage::Extract, &mut effort.extract, work).await?;
    let turn = app.process.running.chunking_permit().await;
    let work = traced(stage(Stage::Chunk, None), cut(extraction, &app.settings));
    let (coverage, lead, chunks) = timed(app, document.id, Stage::Chunk, &mut effort.chunk, work).await?;
    drop(turn);
    let work = embed(&**embedder, document, &lead, &chunks);
    let embeddings = timed(app, document.id, Stage::Embed, &mut effort.embed, work).await;
    let embeddings = embeddings.map_err(|error| error.after(&coverage))?;
    let indexed = IndexedDocument {
        id: document.id,
        title: document.title.clone(),
        filename: file.name.as_str().to_owned(),
    };
    let entries = chunks.into_iter().zip(embeddings).map(|(chunk, e)| entry(document, chunk, e)).collect();
    Ok(Prepared { document: indexed, entries, coverage })
}

async fn write(
    app: &App,
    opened: &Opened,
    prepared: Prepared,
    effort: &mut IngestionStats,
) -> Result<Coverage, IngestError> {
    // What was embedded may have taken long. A collection that was removed meanwhile would come into being again.
    if !app.is_kept(opened.generation.id).await? {
        return Err(IngestError::Moved);
    }
    let Prepared { document, entries, coverage } = prepared;
    let id = document.id;
    let span = stage(Stage::Index, Some(entries.len()));
    let work = async { Ok(opened.index.replace(&document, entries).await?) };
    let written = timed(app, id, Stage::Index, &mut effort.index, traced(span, work)).await;
    written.map_err(|error| error.after(&coverage))?;
    Ok(coverage)
}

/// Takes note of a step, and of how long it took.
async fn timed<T>(
    app: &App,
    document: DocumentId,
    stage: Stage,
    spent: &mut Duration,
    work: impl Future<Output = T>,
) -> T {
    app.process.running.set_stage(document, stage);
    let started = app.now();
    let done = work.await;
    let took = app.since(started);
    *spent += took;
    app.recorder.stage_ended(stage, took);
    done
}

/// Does a step's work within its span.
async fn traced<T>(span: Span, work: impl Future<Output = Result<T, IngestError>>) -> Result<T, IngestError> {
    let done = work.instrument(span.clone()).await;
    done.inspect_err(|error| spans::fail(&span, error.code()))
}

/// Judges and cuts the pages, off the async threads: counting tokens is work.
async fn cut(
    extraction: Extraction,
    limits: &Settings,
) -> Result<(Coverage, String, Vec<Chunk>), IngestError> {
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
        Ok((coverage, lead(&chunks), chunks, extraction.pages))
    };
    let (coverage, lead, chunks, pages) = tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| {
            Fault::new(Component::Service, FaultKind::Internal, "cutting into chunks").caused_by(error)
        })?
        .map_err(|error| *error)?;
    if chunks.is_empty() {
        let code = no_text(&pages, &coverage);
        return Err(IngestError::of(code, Some(coverage)));
    }
    Ok((coverage, lead, chunks))
}

/// Why there is nothing to index.
fn no_text(pages: &[ExtractedPage], coverage: &Coverage) -> FailureCode {
    if coverage.unreliable_pages.is_empty() || pages.is_empty() {
        FailureCode::NoText
    } else {
        FailureCode::UnmappedText
    }
}

fn lead(chunks: &[Chunk]) -> String {
    lead_of(chunks.first().map_or("", |chunk| chunk.text.as_str()))
}

/// The lead of a document whose first chunk has this text.
pub(crate) fn lead_of(first_chunk: &str) -> String {
    first_chunk.chars().take(LEAD_CHARACTERS).collect()
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
        let texts: Vec<(u32, &str)> =
            batch.iter().map(|chunk| (chunk.span.start.page, chunk.text.as_str())).collect();
        let passages = Passages { title: document.title.as_str(), lead, chunks: &texts, headings };
        let work = async {
            let batch = embedder.embed_passages(passages).await?;
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

fn entry(document: &Document, chunk: Chunk, embedding: Embedding) -> IndexEntry {
    IndexEntry {
        id: chunk.id(document.id),
        ordinal: chunk.ordinal,
        text: chunk.text,
        span: chunk.span,
        pages: chunk.pages,
        embedding,
    }
}
