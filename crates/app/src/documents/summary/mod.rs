//! Summaries of documents.
//!
//! A summary is made on the first request, stored, and removed when the document is ingested again. Without a chat model it
//! consists of sentences of the document. A connected model writes it instead; if that fails, the sentences are used, and the
//! model is asked again some time later.

mod extractive;
mod model;
mod output;
mod place;
mod trial;

use super::get;
use crate::error::{Error, Result};
use crate::limits::{self, AnswerSlot};
use crate::search::SearchRequest;
use crate::{App, extractions, search};
use docent_domain::access::{Actor, Chat, Grant, ReadDocuments};
use docent_domain::document::{Document, DocumentState};
use docent_domain::extraction::Extraction;
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::{ChunkId, DocumentId};
use docent_domain::retrieval::{FoundChunk, ScoredChunk, StoredChunk};
use docent_domain::scope::Scope;
use docent_domain::selection::Selection;
use docent_domain::summary::{DocumentSummary, Fallback, Place, QUESTIONS_MAX, SuggestedQuestion};
use docent_ports::text_extractor::ExtractionError;
use std::sync::Arc;
use tracing::Instrument;

/// A document with its summary.
#[derive(Debug)]
pub struct SummarizedDocument {
    /// The document.
    pub document: Document,
    /// Its summary.
    pub summary: DocumentSummary,
}

/// The summary of a document. Without a current one, this creates it, with the connected chat model if the actor may ask
/// it. Concurrent calls make it once per process, and it is finished even if the caller is cancelled.
///
/// # Errors
/// [`Error::NotFound`], [`Error::SummaryNotFound`], or when the database, the vector store or the file cannot be read.
pub async fn get(
    app: &Arc<App>,
    actor: &Actor,
    grant: Grant<ReadDocuments>,
    scope: &Scope,
    id: DocumentId,
) -> Result<SummarizedDocument> {
    let document = get::get(app, grant, scope, id).await?;
    if app.answers_by_quoting() {
        return without_model(app, grant, scope, document).await;
    }
    let document = ingested(document)?;
    let chat = actor.authorize::<Chat>().ok();
    if let Some(summary) = usable(app, &document, chat).await? {
        return Ok(SummarizedDocument { document, summary });
    }
    let (shared, actor, scope) = (Arc::clone(app), actor.clone(), scope.clone());
    let make = async move {
        let _lock = shared.process.summaries.lock(&id.to_string()).await;
        if let Some(summary) = usable(&shared, &document, chat).await? {
            return Ok(SummarizedDocument { document, summary });
        }
        let slot = match &chat {
            Some(chat) => allowed(&shared, chat).await?,
            None => None,
        };
        // Sentences that are stored need not be selected again.
        if slot.is_none()
            && let Some(summary) = usable(&shared, &document, None).await?
        {
            return Ok(SummarizedDocument { document, summary });
        }
        let material = Material::read(&shared, document).await?;
        let reader = Reader { app: &shared, grant, scope: &scope };
        let written = match &slot {
            Some(_) => model::summarize(&shared, &actor, &material).await,
            None => Err(Fallback::NotAllowed),
        };
        let summary = match written {
            Ok(written) => extractive::complete(&reader, &material, written).await?,
            Err(fallback) => extractive::summarize(&reader, &material, Some(fallback)).await?,
        };
        store(&shared, &material.document, &summary).await;
        Ok(SummarizedDocument { document: material.document.clone(), summary })
    };
    let made = app.process.tasks.spawn(make.in_current_span());
    made.await.unwrap_or_else(|error| {
        let fault = Fault::new(Component::Service, FaultKind::Internal, "the summary's task panicked");
        Err(fault.caused_by(error).into())
    })
}

/// The stored summary of a document. Without a current one, this creates it from sentences of the document.
///
/// # Errors
/// As [`get`].
pub async fn get_without_model(
    app: &App,
    grant: Grant<ReadDocuments>,
    scope: &Scope,
    id: DocumentId,
) -> Result<SummarizedDocument> {
    let document = get::get(app, grant, scope, id).await?;
    without_model(app, grant, scope, document).await
}

/// The summary of a document without asking a chat model; see [`get`].
///
/// # Errors
/// As [`get`].
pub(crate) async fn without_model(
    app: &App,
    grant: Grant<ReadDocuments>,
    scope: &Scope,
    document: Document,
) -> Result<SummarizedDocument> {
    let document = ingested(document)?;
    let _lock = app.process.summaries.lock(&document.id.to_string()).await;
    if let Some(summary) = usable(app, &document, None).await? {
        return Ok(SummarizedDocument { document, summary });
    }
    let material = Material::read(app, document).await?;
    let summary = extractive::summarize(&Reader { app, grant, scope }, &material, None).await?;
    store(app, &material.document, &summary).await;
    Ok(SummarizedDocument { document: material.document.clone(), summary })
}

/// The passages that a summary refers to, in the order of its points.
///
/// # Errors
/// When the database or the vector store cannot be reached.
pub(crate) async fn passages(
    app: &App,
    scope: &Scope,
    SummarizedDocument { document, summary }: &SummarizedDocument,
) -> Result<Vec<ScoredChunk>> {
    let id = document.version_id;
    let index = app.active_index().await?.index;
    let described = summary.description.iter().filter_map(|it| Some((it.place?, it.text.as_str())));
    let places = described.chain(summary.points.iter().map(|it| (it.place, it.text.as_str())));
    let mut found: Vec<StoredChunk> = Vec::new();
    for (Place { page, chunk }, text) in places {
        if found.iter().any(|known| known.ordinal == chunk && place::covers(known, page)) {
            continue;
        }
        let stored = index.chunk_range(id, chunk..chunk.saturating_add(1)).await?;
        match stored.into_iter().find(|stored| place::covers(stored, page)) {
            Some(stored) => found.push(stored),
            // The index was built again with chunks of another size.
            None => {
                let all = index.chunks(id).await?;
                let moved = place::find(&all, page, text).map(|place| place.chunk);
                let is_known = |it: &StoredChunk| found.iter().any(|known| known.ordinal == it.ordinal);
                found.extend(all.into_iter().find(|it| Some(it.ordinal) == moved && !is_known(it)));
            }
        }
    }
    let searched = app.store.read_latest().await?.documents().searchable(&[id], scope).await?;
    let Some(version) = searched.get(&id) else { return Ok(Vec::new()) };
    let passage = |StoredChunk { ordinal, text, span, pages, .. }| {
        let title = document.title.as_str().to_owned();
        let chunk = ChunkId::of(id, ordinal);
        FoundChunk { id: chunk, version: id, title, text, span, pages, headings: String::new(), score: 1.0 }
            .in_version(version)
    };
    Ok(found.into_iter().map(passage).collect())
}

/// The slot of an answer by the model; `None` if a limit of the account or the API key is reached.
async fn allowed(app: &Arc<App>, chat: &Grant<Chat>) -> Result<Option<AnswerSlot>> {
    match limits::start_answer(app, chat).await {
        Ok(slot) => Ok(Some(slot)),
        Err(Error::LimitReached(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Who reads a document.
struct Reader<'a> {
    app: &'a App,
    grant: Grant<ReadDocuments>,
    scope: &'a Scope,
}

/// The input of a summary.
struct Material {
    document: Document,
    extraction: Extraction,
    chunks: Vec<StoredChunk>,
}

impl Material {
    async fn read(app: &App, document: Document) -> Result<Arc<Self>> {
        let file = document.file.as_ref().ok_or(Error::SummaryNotFound)?;
        let extraction = extractions::extract(app, file).await.map_err(|error| match error {
            ExtractionError::Fault(fault) => fault,
            // It was readable when it was ingested.
            ExtractionError::Document(_) => {
                Fault::new(Component::Service, FaultKind::Internal, "the file can no longer be read")
            }
        })?;
        let chunks = app.active_index().await?.index.chunks(document.version_id).await?;
        Ok(Arc::new(Self { document, extraction, chunks }))
    }

    fn language(&self) -> Option<&str> {
        self.document.coverage.as_ref()?.language.as_deref()
    }
}

/// The document, if it has text that can be summarized.
fn ingested(document: Document) -> Result<Document> {
    match &document.state {
        DocumentState::Ingested(_) => Ok(document),
        DocumentState::Pending(_) | DocumentState::Failed(_) => Err(Error::SummaryNotFound),
    }
}

/// The stored summary, unless it is of an earlier ingestion, or the connected model that this actor may ask can write a
/// better one.
async fn usable(
    app: &App,
    document: &Document,
    chat: Option<Grant<Chat>>,
) -> Result<Option<DocumentSummary>> {
    let stored = app.store.read_latest().await?.documents().summary(document.id).await?;
    let is_usable =
        |it: &DocumentSummary| it.is_of(document) && (chat.is_none() || !it.can_improve(app.now()));
    Ok(stored.filter(is_usable))
}

/// Stores a summary, unless the document was deleted or ingested again meanwhile. A fault is only logged: the summary is
/// made again by the next call.
async fn store(app: &App, document: &Document, summary: &DocumentSummary) {
    let stored = async {
        let mut work = app.store.begin().await?;
        let latest = work.documents().get(document.id).await?;
        if latest.is_some_and(|latest| summary.is_of(&latest)) {
            work.documents().set_summary(document.id, Some(summary)).await?;
            work.commit().await?;
        }
        Ok::<_, Fault>(())
    };
    if let Err(fault) = stored.await {
        app.note(&fault);
        tracing::warn!(document = %document.id, fault = %fault.report(), "a summary could not be stored");
    }
}

/// Those of the questions for which a search in the document finds their page first: at most [`QUESTIONS_MAX`]. Questions
/// without a page get that of the best passage. A model that answers by quoting must answer them too; asking a connected
/// one would cost too much.
async fn answerable(
    reader: &Reader<'_>,
    document: DocumentId,
    questions: impl IntoIterator<Item = (String, Option<u32>)>,
) -> Result<Vec<SuggestedQuestion>> {
    let selection = Selection { documents: Some(vec![document]), ..Selection::default() };
    let mut answerable: Vec<SuggestedQuestion> = Vec::new();
    for (text, page) in questions {
        let request = SearchRequest { query: &text, scope: reader.scope, selection: &selection, limit: 1 };
        let found = search::search(reader.app, reader.grant, request).await?;
        let Some(best) = found.passages.first() else { continue };
        let pages = best.span.start.page..=best.span.end.page;
        if page.is_none_or(|page| pages.contains(&page))
            && (!reader.app.answers_by_quoting() || trial::is_answered(reader, &selection, &text).await?)
        {
            answerable.push(SuggestedQuestion { page: page.unwrap_or(best.span.start.page), text });
        }
        if answerable.len() == QUESTIONS_MAX {
            break;
        }
    }
    Ok(answerable)
}
