//! Questions about a page: “What is on page 14?”

use super::{searchable, versions};
use crate::App;
use crate::error::Result;
use docent_domain::chunk::Span;
use docent_domain::id::ChunkId;
use docent_domain::retrieval::{FoundChunk, ScoredChunk};
use docent_domain::scope::Scope;
use docent_text::neighbours::MERGED_RANKS;
use docent_text::page_reference::{NamedPage, PageReference};

/// Puts the chunks of the pages that a query names first: those of the document with the best chunk. They need not have
/// words of the query. Without named pages nothing changes.
///
/// # Errors
/// When a store fails.
pub(super) async fn put_first(
    app: &App,
    query: &str,
    scope: &Scope,
    found: Vec<ScoredChunk>,
) -> Result<Vec<ScoredChunk>> {
    let pages = PageReference::of(query).pages;
    let Some(best) = found.first().filter(|_| !pages.is_empty()) else { return Ok(found) };
    let (document, title, score) = (best.document_id, best.title.clone(), best.score);
    let versions = versions(app, scope, &[document]).await?;
    let Some(version) = versions.first().copied() else { return Ok(found) };
    let stored = app.active_index().await?.index.chunks(version).await?;
    let last = stored.iter().map(|chunk| chunk.span.end.page).max().unwrap_or(0);
    let is_named = |span: Span| {
        pages.iter().any(|page| {
            let number = match page {
                NamedPage::Number(number) => *number,
                NamedPage::Last => last,
            };
            (span.start.page..=span.end.page).contains(&number)
        })
    };
    let named = stored.into_iter().filter(|chunk| is_named(chunk.span)).take(MERGED_RANKS);
    let named = named.map(|chunk| FoundChunk {
        id: ChunkId::of(version, chunk.ordinal),
        version,
        title: title.clone(),
        text: chunk.text,
        span: chunk.span,
        pages: chunk.pages,
        headings: String::new(),
        score,
    });
    let named = searchable(app, scope, named.collect()).await?;
    let (mut first, rest): (Vec<ScoredChunk>, Vec<ScoredChunk>) =
        found.into_iter().partition(|chunk| chunk.document_id == document && is_named(chunk.span));
    for chunk in named {
        if first.iter().all(|other| other.id != chunk.id) {
            first.push(chunk);
        }
    }
    for chunk in &mut first {
        chunk.score = score;
    }
    first.extend(rest);
    Ok(first)
}
