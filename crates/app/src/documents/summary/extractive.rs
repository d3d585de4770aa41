//! Summaries of sentences of the document.

use super::model::Written;
use super::{Material, Reader, answerable, place};
use crate::App;
use crate::error::Result;
use docent_domain::document::DocumentState;
use docent_domain::extraction::PageLabels;
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::summary::{Description, DocumentSummary, Fallback, Heading, KeyPoint, QUESTIONS_MAX};
use docent_text::summary::key_sentences::{self, KeySentences};
use docent_text::summary::{outline, questions};
use std::sync::Arc;

/// What can be derived from the text without a model.
struct Derived {
    sentences: KeySentences,
    headings: Vec<Heading>,
    questions: Vec<questions::Candidate>,
}

/// A summary of the most important sentences.
///
/// # Errors
/// When a search fails.
pub(super) async fn summarize(
    reader: &Reader<'_>,
    material: &Arc<Material>,
    fallback: Option<Fallback>,
) -> Result<DocumentSummary> {
    let Derived { sentences, headings, questions } = derive(material).await?;
    let chunks = &material.chunks;
    let point = |page, text: String| Some(KeyPoint { place: place::find(chunks, page, &text)?, text });
    let description = sentences
        .description
        .map(|it| Description { place: place::find(chunks, it.page, &it.text), text: it.text });
    let questions = questions.into_iter().map(|question| (question.text, Some(question.page)));
    let questions = answerable(reader, material.document.id, questions).await?;
    Ok(DocumentSummary {
        description,
        points: sentences.points.into_iter().filter_map(|it| point(it.page, it.text)).collect(),
        headings,
        years: sentences.years,
        questions,
        fallback,
        ..empty(reader.app, material)
    })
}

/// A summary of the model, with what a model is not needed for.
///
/// # Errors
/// When a search fails.
pub(super) async fn complete(
    reader: &Reader<'_>,
    material: &Arc<Material>,
    written: Written,
) -> Result<DocumentSummary> {
    let Derived { sentences, headings, questions } = derive(material).await?;
    let id = material.document.id;
    let mut suggested = answerable(reader, id, written.questions.into_iter().map(|it| (it, None))).await?;
    if suggested.len() < QUESTIONS_MAX {
        let others = questions.into_iter().map(|question| (question.text, Some(question.page)));
        suggested.extend(answerable(reader, id, others).await?);
        suggested.truncate(QUESTIONS_MAX);
    }
    Ok(DocumentSummary {
        description: written.description,
        points: written.points,
        headings,
        years: sentences.years,
        questions: suggested,
        model: Some(reader.app.model.model().to_owned()),
        ..empty(reader.app, material)
    })
}

fn empty(app: &App, material: &Material) -> DocumentSummary {
    let now = app.now();
    let ingested_at = match &material.document.state {
        DocumentState::Ingested(ingested) => ingested.at,
        DocumentState::Pending(_) | DocumentState::Failed(_) => now,
    };
    DocumentSummary {
        version: material.document.version_id,
        ingested_at,
        created_at: now,
        description: None,
        points: Vec::new(),
        headings: Vec::new(),
        years: Vec::new(),
        questions: Vec::new(),
        model: None,
        fallback: None,
    }
}

/// Reads the text off the async threads: a long one takes a second.
async fn derive(material: &Arc<Material>) -> Result<Derived> {
    let material = Arc::clone(material);
    let work = move || {
        let Material { document, extraction, .. } = &*material;
        let no_labels = PageLabels::default();
        let labels = document.coverage.as_ref().map_or(&no_labels, |coverage| &coverage.page_labels);
        let headings = outline::headings(&extraction.metadata.outline, labels);
        let title = document.title.as_str();
        let questions = questions::candidates(title, material.language(), &headings, &extraction.pages);
        let sentences = key_sentences::select(title, &extraction.pages);
        Derived { sentences, headings, questions }
    };
    Ok(tokio::task::spawn_blocking(work).await.map_err(|error| {
        Fault::new(Component::Service, FaultKind::Internal, "summarizing panicked").caused_by(error)
    })?)
}
