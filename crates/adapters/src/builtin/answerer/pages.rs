//! Questions about a page: the passages of the page.

use docent_domain::retrieval::ScoredChunk;
use docent_text::page_reference::NamedPage;

/// The numbers of the pages that a question names.
pub(super) fn numbers(pages: &[NamedPage], chunks: &[ScoredChunk]) -> Vec<u32> {
    // The search has put the chunks of these pages first, so that of the last page is among them.
    let of_best = chunks.iter().filter(|chunk| chunk.document_id == chunks[0].document_id);
    let last = of_best.map(|chunk| chunk.span.end.page).max().unwrap_or(0);
    let number = |page: &NamedPage| match page {
        NamedPage::Number(number) => *number,
        NamedPage::Last => last,
    };
    pages.iter().map(number).collect()
}

/// The chunks with text of these pages of the document that was found first.
pub(super) fn chunks_of(chunks: &[ScoredChunk], pages: &[u32]) -> Vec<ScoredChunk> {
    let has_page = |chunk: &&ScoredChunk| {
        let span = chunk.span.start.page..=chunk.span.end.page;
        chunk.document_id == chunks[0].document_id && pages.iter().any(|page| span.contains(page))
    };
    chunks.iter().filter(has_page).cloned().collect()
}
