//! Merging of search results that follow each other in a document.
//!
//! Chunks are cut by size, so an answer often spans two of them, and neighbours match the same words. Merged, they leave
//! room for other places.

use crate::table;
use docent_domain::chunk::{PageStart, Position};
use docent_domain::retrieval::ScoredChunk;

/// Results that can be merged with a better one: the first of a ranking.
pub const MERGED_RANKS: usize = 10;
/// Maximum number of chunks of a result.
const CHUNKS_MAX: usize = 3;
/// Chunks of a page with fewer bytes between them follow each other: only white space separates them.
const GAP_BYTES: u32 = 4;
/// A longer overlap is not looked for.
const OVERLAP_BYTES_MAX: usize = 4096;

/// Merges each of the first [`MERGED_RANKS`] chunks with a better one that it follows or precedes. The result has the ID,
/// the rank and the score of the better one.
pub fn merge(chunks: Vec<ScoredChunk>) -> Vec<ScoredChunk> {
    let mut merged: Vec<(ScoredChunk, usize)> = Vec::with_capacity(chunks.len());
    for (rank, chunk) in chunks.into_iter().enumerate() {
        let neighbour = merged
            .iter_mut()
            .find(|(other, size)| rank < MERGED_RANKS && *size < CHUNKS_MAX && are_neighbours(other, &chunk));
        match neighbour {
            Some((other, size)) => {
                *size += 1;
                join(other, chunk);
            }
            None => merged.push((chunk, 1)),
        }
    }
    merged.into_iter().map(|(chunk, _)| chunk).collect()
}

fn are_neighbours(a: &ScoredChunk, b: &ScoredChunk) -> bool {
    let (first, second) = if a.span.start <= b.span.start { (a, b) } else { (b, a) };
    (first.document_id, first.version) == (second.document_id, second.version)
        && follows(first.span.end, second.span.start)
}

/// Whether a chunk that starts at `start` overlaps one that ends at `end`, or follows it.
pub fn follows(end: Position, start: Position) -> bool {
    match start.page.checked_sub(end.page) {
        None => true,
        Some(0) => start.offset <= end.offset.saturating_add(GAP_BYTES),
        // Where a page ends is not known; the previous chunk ends there if this one begins the next page.
        Some(1) => start.offset <= GAP_BYTES,
        Some(_) => false,
    }
}

/// Adds the text and pages of a neighbour.
fn join(chunk: &mut ScoredChunk, other: ScoredChunk) {
    let recognized = chunk.recognized || other.recognized;
    let is_first = chunk.span.start <= other.span.start;
    let (first, second) = if is_first { (chunk.clone(), other) } else { (other, chunk.clone()) };
    let mut text = first.text;
    let is_overlapping = second.span.start < first.span.end;
    let skipped =
        if is_overlapping { overlap(&text, &second.text) } else { table_header(&text, &second.text) };
    if !is_overlapping {
        text.push('\n');
    }
    let base = text.len();
    text.push_str(second.text.get(skipped..).unwrap_or_default());
    let mut pages = first.pages;
    for page in second.pages {
        if pages.last().is_none_or(|last| last.page < page.page) {
            let at = (base as u32 + page.at).saturating_sub(skipped as u32);
            pages.push(PageStart { page: page.page, at });
        }
    }
    let label = first.label;
    chunk.span.start = first.span.start;
    chunk.span.end = first.span.end.max(second.span.end);
    (chunk.text, chunk.pages, chunk.recognized, chunk.label) = (text, pages, recognized, label);
}

/// The number of bytes at the end of `first` with which `second` begins.
fn overlap(first: &str, second: &str) -> usize {
    let longest = first.len().min(second.len()).min(OVERLAP_BYTES_MAX);
    let is_overlap = |length: &usize| {
        second.is_char_boundary(*length) && first.as_bytes().ends_with(&second.as_bytes()[..*length])
    };
    (1..=longest).rev().find(is_overlap).unwrap_or(0)
}

/// The number of bytes of the table header with which `second` begins if `first` has rows of the same table.
fn table_header(first: &str, second: &str) -> usize {
    if table::ranges(second).first().is_none_or(|table| table.start > 0) {
        return 0;
    }
    let header: usize = second.split_inclusive('\n').take(2).map(str::len).sum();
    if first.contains(&second[..header]) { header } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunking::chunk_pages;
    use docent_domain::chunk::{ChunkSize, Span};
    use docent_domain::extraction::ExtractedPage;
    use docent_domain::id::{ChunkId, DocumentId, VersionId};
    use uuid::Uuid;

    fn document(n: u128) -> DocumentId {
        DocumentId::from_uuid(Uuid::from_u128(n))
    }

    /// The chunks of a document with these pages.
    fn chunks(n: u128, pages: &[String], tokens: usize, overlap: usize) -> Vec<ScoredChunk> {
        let pages: Vec<ExtractedPage> = (1..)
            .zip(pages)
            .map(|(number, text)| ExtractedPage { number, text: text.clone(), ..ExtractedPage::default() })
            .collect();
        let size = ChunkSize { tokens, overlap };
        let words = |text: &str| text.split_whitespace().count();
        let scored = |chunk: docent_domain::chunk::Chunk| ScoredChunk {
            headings: String::new(),
            id: ChunkId::of(VersionId::first(document(n)), chunk.ordinal),
            document_id: document(n),
            version: 1,
            title: "t".to_owned(),
            text: chunk.text,
            span: chunk.span,
            pages: chunk.pages,
            score: 1.0,
            recognized: false,
            label: None,
        };
        chunk_pages(&pages, size, words).into_iter().map(scored).collect()
    }

    fn prose(sentences: std::ops::Range<usize>) -> String {
        sentences
            .map(|n| format!("Sentence number {n} says something. "))
            .collect::<String>()
            .trim()
            .to_owned()
    }

    #[test]
    fn neighbours_are_merged_without_their_overlap() {
        let pages = [prose(0..12), prose(12..24)];
        let all = chunks(1, &pages, 30, 10);
        assert!(all.len() > 4);
        for first in 0..all.len() - 1 {
            for pair in [[first, first + 1], [first + 1, first]] {
                let given: Vec<ScoredChunk> = pair.iter().map(|n| all[*n].clone()).collect();
                let merged = merge(given.clone());
                assert_eq!(merged.len(), 1, "{pair:?}");
                let merged = &merged[0];
                assert_eq!(merged.id, given[0].id);
                assert_eq!(merged.span, Span { start: all[first].span.start, end: all[first + 1].span.end });
                assert!(
                    merged.text.starts_with(&all[first].text) && merged.text.ends_with(&all[first + 1].text)
                );
                let numbers = merged.text.matches("Sentence number").count();
                let distinct: std::collections::HashSet<&str> =
                    merged.text.split_inclusive('.').map(str::trim).collect();
                assert_eq!(numbers, distinct.len(), "{}", merged.text);
                for start in &merged.pages {
                    let page = &pages[start.page as usize - 1];
                    let text = &merged.text[start.at as usize..];
                    assert!(start.at == 0 || text.starts_with(&page[..20]), "{merged:?}");
                }
            }
        }
    }

    #[test]
    fn parts_of_a_table_are_merged_with_one_header() {
        let rows: String = (0..20).map(|n| format!("| Row {n} | {n} |\n")).collect();
        let all = chunks(1, &[format!("| Label | Value |\n|---|---|\n{rows}")], 60, 5);
        assert!(all.len() > 1);
        let merged = merge(all[..2].to_vec()).remove(0);
        assert_eq!(merged.text.matches("| Label | Value |").count(), 1, "{}", merged.text);
        let table = table::ranges(&merged.text);
        assert_eq!(table.len(), 1, "the rows are one table: {}", merged.text);
    }

    #[test]
    fn other_places_are_not_merged() {
        let pages = [prose(0..40)];
        let (one, other) = (chunks(1, &pages, 30, 10), chunks(2, &pages, 30, 10));
        let apart = vec![one[0].clone(), one[3].clone(), other[1].clone()];
        assert_eq!(merge(apart.clone()), apart);
        let newer = ScoredChunk { version: 2, ..one[1].clone() };
        let versions = vec![one[0].clone(), newer];
        assert_eq!(merge(versions.clone()), versions, "of another version");
    }

    #[test]
    fn result_has_at_most_three_chunks_of_the_first_ten() {
        let all = chunks(1, &[prose(0..60)], 30, 10);
        let merged = merge(all[..4].to_vec());
        assert_eq!(merged.len(), 2);
        assert_eq!((merged[0].span.end, merged[1].id), (all[2].span.end, all[3].id));
        let filler = (10..).map(|n| chunks(n, &[prose(0..1)], 30, 10).remove(0));
        let late: Vec<ScoredChunk> =
            [all[0].clone()].into_iter().chain(filler.take(9)).chain([all[1].clone()]).collect();
        assert_eq!(merge(late.clone()), late);
    }
}
