//! `GET /documents/{doc_id}/report`
//!
//! What became of an upload: how much of the file can be found, what that took, and why it failed.

use crate::{
    api::Reply,
    context::State,
    extract::{self, granted::Granted},
};
use actix_web::{HttpResponse, web::Path};
use docent_app::documents::get as use_case;
use docent_domain::{
    access::ReadDocuments,
    document::{Document, DocumentState, Failure},
    extraction::{Coverage, Effort},
};
use serde::Serialize;

pub(crate) async fn report(by: Granted<ReadDocuments>, context: State, id: Path<String>) -> Reply {
    let id = extract::id("doc_id", &id)?;
    let document = use_case::get(&context.app, by.grant, id).await?;
    Ok(HttpResponse::Ok().json(Report::from(&document)))
}

#[derive(Serialize)]
struct Report<'a> {
    id: String,
    status: &'static str,
    coverage: Option<CoverageView<'a>>,
    effort: Option<EffortView<'a>>,
    failure: Option<FailureView<'a>>,
    warnings: Vec<String>,
}

/// Page numbers count from 1.
#[derive(Serialize)]
struct CoverageView<'a> {
    pages: u32,
    pages_with_text: u32,
    pages_without_text: &'a [u32],
    pages_unreliable: &'a [u32],
    pages_truncated: &'a [u32],
    characters: u64,
    chunks: u32,
    tokens: u64,
}

#[derive(Serialize)]
struct EffortView<'a> {
    extractor: &'a str,
    attempts: u32,
    seconds: Seconds,
}

/// Of the last try, by stage.
#[derive(Serialize)]
struct Seconds {
    extract: f64,
    chunk: f64,
    embed: f64,
    index: f64,
}

#[derive(Serialize)]
struct FailureView<'a> {
    code: &'static str,
    reason: &'a str,
}

impl<'a> From<&'a Document> for Report<'a> {
    fn from(document: &'a Document) -> Self {
        let failure = match &document.state {
            DocumentState::Failed(failed) => Some(&failed.failure),
            DocumentState::Pending(_) | DocumentState::Ingested(_) => None,
        };
        Self {
            id: document.id.to_string(),
            status: document.state.name(),
            coverage: document.coverage.as_ref().map(CoverageView::from),
            effort: document.effort.as_ref().map(EffortView::from),
            failure: failure.map(FailureView::from),
            warnings: document.coverage.as_ref().map(Coverage::warnings).unwrap_or_default(),
        }
    }
}

impl<'a> From<&'a Coverage> for CoverageView<'a> {
    fn from(coverage: &'a Coverage) -> Self {
        Self {
            pages: coverage.pages,
            pages_with_text: coverage.pages_with_text(),
            pages_without_text: &coverage.empty_pages,
            pages_unreliable: &coverage.unreliable_pages,
            pages_truncated: &coverage.truncated_pages,
            characters: coverage.characters,
            chunks: coverage.chunks,
            tokens: coverage.tokens,
        }
    }
}

impl<'a> From<&'a Effort> for EffortView<'a> {
    fn from(effort: &'a Effort) -> Self {
        let seconds = Seconds {
            extract: effort.extract.as_secs_f64(),
            chunk: effort.chunk.as_secs_f64(),
            embed: effort.embed.as_secs_f64(),
            index: effort.index.as_secs_f64(),
        };
        Self { extractor: &effort.extractor, attempts: effort.attempts, seconds }
    }
}

impl<'a> From<&'a Failure> for FailureView<'a> {
    fn from(failure: &'a Failure) -> Self {
        Self { code: failure.code.as_str(), reason: &failure.reason }
    }
}
