//! Titles of tables, and the pages of financial statements.

use super::passage::Passage;
use docent_text::lexical::Analyzer;
use docent_text::neighbours::follows;
use std::sync::Arc;

/// The most pages of statements that are searched for at once.
const STATEMENT_PAGES: u32 = 6;

/// The pages of the statements that begin in these passages of a document, as a question names them, with the page before: a
/// statement is often found by its end. `None` if no statement begins in them.
pub(super) fn statement_pages(passages: &[&Passage<'_>]) -> Option<String> {
    let of = |passage: &&Passage<'_>| {
        let rows = passage.units.iter().enumerate().filter(|(_, unit)| unit.is_in_statement());
        rows.map(|(index, _)| passage.page(index)).collect::<Vec<_>>()
    };
    let mut pages: Vec<u32> = passages.iter().flat_map(of).collect();
    pages.sort_unstable();
    pages.dedup();
    // A report has its statements after each other; other pages quote from them.
    let reach =
        |first: &u32| pages.iter().filter(|page| (*first..first + STATEMENT_PAGES).contains(page)).count();
    let first = pages.iter().rev().max_by_key(|first| reach(first)).copied()?;
    let last = pages.iter().filter(|page| **page < first + STATEMENT_PAGES).max().copied()?;
    let title = &passages.first()?.chunk.title;
    Some(format!("{title} pages {} to {}", first.saturating_sub(1).max(1), last.max(2)))
}

/// Gives the rows with which a passage begins the caption of their table in the passage before, if that was found too.
pub(super) fn carry_captions(passages: &mut [Passage<'_>], analyzer: Analyzer) {
    for at in 0..passages.len() {
        let chunk = passages[at].chunk;
        let Some(first) = passages[at].units.first().and_then(|unit| unit.sentence.row.as_ref()) else {
            continue;
        };
        let caption = passages.iter().find_map(|other| {
            let is_before = other.chunk.document_id == chunk.document_id
                && other.chunk.span.start < chunk.span.start
                && follows(other.chunk.span.end, chunk.span.start);
            let last = other.units.last()?.sentence.row.as_ref().filter(|_| is_before)?;
            (last.header == first.header && !last.caption.is_empty()).then(|| Arc::clone(&last.caption))
        });
        let Some(caption) = caption.filter(|_| first.caption.is_empty()) else { continue };
        let (header, terms) = (Arc::clone(&first.header), analyzer.terms(&caption));
        for unit in &mut passages[at].units {
            let row = unit.sentence.row.as_mut().filter(|row| Arc::ptr_eq(&row.header, &header));
            let Some(row) = row else { break };
            row.caption = Arc::clone(&caption);
            unit.above.extend(terms.iter().cloned());
        }
    }
}
