//! Places of sentences: the chunk and the page that have them.

use docent_domain::chunk::page_at;
use docent_domain::retrieval::StoredChunk;
use docent_domain::summary::Place;
use docent_text::summary::key_sentences;
use std::collections::HashSet;

/// Finds the chunk of a page that has a sentence, or else most of its words; `None` if no chunk is of the page.
pub(super) fn find(chunks: &[StoredChunk], page: u32, text: &str) -> Option<Place> {
    let wanted = squeezed(text);
    let words = key_sentences::words(text);
    let of_page = chunks.iter().filter(|chunk| covers(chunk, page));
    let best = of_page.max_by_key(|chunk| {
        // Of equal chunks, the first one.
        let first = std::cmp::Reverse(chunk.ordinal);
        (squeezed(&chunk.text).contains(&wanted), shared(&words, &chunk.text), first)
    })?;
    Some(Place { page, chunk: best.ordinal })
}

/// The place of a statement about a chunk: the page that has most of its words. `None` if the chunk has none of them.
pub(super) fn in_chunk(chunk: &StoredChunk, text: &str) -> Option<Place> {
    let words = key_sentences::words(text);
    let starts = chunk.pages.iter().map(|page| page.at as usize);
    let ends = starts.clone().skip(1).chain([chunk.text.len()]);
    let pages = starts.zip(ends).filter_map(|(start, end)| Some((start, chunk.text.get(start..end)?)));
    let best = pages.map(|(start, part)| (shared(&words, part), std::cmp::Reverse(start))).max()?;
    let (count, std::cmp::Reverse(start)) = best;
    (count > 0).then(|| Place { page: page_at(&chunk.pages, start), chunk: chunk.ordinal })
}

/// Whether a chunk has text of a page.
pub(super) fn covers(chunk: &StoredChunk, page: u32) -> bool {
    (chunk.span.start.page..=chunk.span.end.page).contains(&page)
}

fn shared(words: &HashSet<String>, text: &str) -> usize {
    key_sentences::words(text).intersection(words).count()
}

/// The text without white space, which differs between chunks and sentences.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::chunk::{PageStart, Position, Span};

    fn chunk(ordinal: u32, pages: &[(u32, u32)], text: &str) -> StoredChunk {
        let at = |page| Position { page, offset: 0 };
        let span = Span { start: at(pages[0].0), end: at(pages[pages.len() - 1].0) };
        let pages = pages.iter().map(|(page, at)| PageStart { page: *page, at: *at }).collect();
        StoredChunk { ordinal, text: text.to_owned(), span, pages, dense: None }
    }

    #[test]
    fn sentence_is_in_the_chunk_that_has_it() {
        let chunks = [
            chunk(0, &[(1, 0)], "Pumps move water."),
            chunk(1, &[(1, 0), (2, 19)], "Motors need\nservice.\nPumps need oil."),
            chunk(2, &[(3, 0)], "Motors need service."),
        ];
        assert_eq!(find(&chunks, 1, "Motors need service."), Some(Place { page: 1, chunk: 1 }));
        assert_eq!(find(&chunks, 3, "Motors need service."), Some(Place { page: 3, chunk: 2 }));
        assert_eq!(find(&chunks, 1, "Water pumps"), Some(Place { page: 1, chunk: 0 }));
        assert_eq!(find(&chunks, 4, "Motors need service."), None);
    }

    #[test]
    fn statement_is_on_the_page_with_most_of_its_words() {
        let chunk = chunk(7, &[(1, 0), (2, 21)], "Motors need service.\nPumps need clean water.");
        assert_eq!(in_chunk(&chunk, "Clean water for pumps"), Some(Place { page: 2, chunk: 7 }));
        assert_eq!(in_chunk(&chunk, "Service of motors"), Some(Place { page: 1, chunk: 7 }));
        assert_eq!(in_chunk(&chunk, "Elephants"), None);
    }
}
