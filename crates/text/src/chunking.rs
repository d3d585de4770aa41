//! Splitting of a document's text into chunks.
//!
//! The text is split into lines and sentences, which are packed into chunks of about [`ChunkSize::tokens`]. If a
//! paragraph or a sentence ends in the last quarter of a chunk, the chunk ends there. Chunks can span pages.
//!
//! A [Markdown table](crate::table) is kept whole if it fits into a chunk. A longer one is cut between rows, and each
//! part begins with the table's header.

use crate::table;
use docent_domain::chunk::{Chunk, ChunkSize, PageStart, Position, Span};
use docent_domain::extraction::{ExtractedPage, PageQuality};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Splits the pages with reliable text into chunks. `count` returns the number of tokens of a text.
///
/// Every non-white-space character of those pages is in at least one chunk.
pub fn chunk_pages(pages: &[ExtractedPage], size: ChunkSize, count: impl Fn(&str) -> usize) -> Vec<Chunk> {
    let text = RunningText::of(pages);
    let pieces = pieces(&text.text, size.tokens, &count);
    let mut covered = 0;
    ranges(&pieces, size)
        .into_iter()
        .filter_map(|range| {
            let header = pieces[range.start].header.clone();
            let range = text.trimmed(pieces[range.start].at.start..pieces[range.end - 1].at.end)?;
            Some((header.map(|header| header.at), range))
        })
        // A chunk that adds only white space to the previous one is redundant.
        .filter(|(_, range)| range.end > std::mem::replace(&mut covered, range.end))
        .zip(0..)
        .map(|((header, range), ordinal)| text.chunk(header, range, ordinal, &count))
        .collect()
}

/// The concatenated text of the pages, and where each page begins.
struct RunningText {
    text: String,
    pages: Vec<(u32, usize)>,
}

impl RunningText {
    fn of(pages: &[ExtractedPage]) -> Self {
        let mut running = Self { text: String::new(), pages: Vec::new() };
        for page in pages.iter().filter(|page| page.quality() == PageQuality::Text) {
            if !running.text.is_empty() {
                running.text.push('\n');
            }
            running.pages.push((page.number, running.text.len()));
            running.text.push_str(&page.text);
        }
        running
    }

    fn trimmed(&self, range: Range<usize>) -> Option<Range<usize>> {
        let text = &self.text[range.clone()];
        let start = range.start + (text.len() - text.trim_start().len());
        let end = range.start + text.trim_end().len();
        (start < end).then_some(start..end)
    }

    /// Returns the index of the page that contains a byte; the `\n` between two pages belongs to the first.
    fn page_of(&self, byte: usize) -> usize {
        self.pages.partition_point(|(_, start)| *start <= byte).saturating_sub(1)
    }

    fn position(&self, byte: usize, page: usize) -> Position {
        let (number, start) = self.pages[page];
        Position { page: number, offset: (byte - start) as u32 }
    }

    fn chunk(
        &self,
        header: Option<Range<usize>>,
        range: Range<usize>,
        ordinal: u32,
        count: impl Fn(&str) -> usize,
    ) -> Chunk {
        let (first, last) = (self.page_of(range.start), self.page_of(range.end - 1));
        let mut text = header.map_or_else(String::new, |header| self.text[header].to_owned());
        let pages = (first..=last)
            .map(|page| {
                let (number, start) = self.pages[page];
                let at = start.checked_sub(range.start).filter(|at| *at > 0);
                PageStart { page: number, at: at.map_or(0, |at| at + text.len()) as u32 }
            })
            .collect();
        text.push_str(&self.text[range.clone()]);
        let tokens = count(&text) as u32;
        let span = Span { start: self.position(range.start, first), end: self.position(range.end, last) };
        Chunk { ordinal, text, span, pages, tokens }
    }
}

/// How suitable the end of a piece is as a chunk boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Break {
    /// Within a sentence, at the end of a line or between words.
    Inside,
    Sentence,
    Paragraph,
}

/// A piece of text that is never split, with its trailing white space.
#[derive(Debug)]
struct Piece {
    at: Range<usize>,
    tokens: usize,
    end: Break,
    /// For a row of a table: the header to repeat before it.
    header: Option<Header>,
    /// For the first row of a table: the number of tokens and of pieces of the whole table.
    table: Option<(usize, usize)>,
}

impl Piece {
    fn new(at: Range<usize>, tokens: usize, end: Break) -> Self {
        Self { at, tokens, end, header: None, table: None }
    }

    /// Number of tokens to repeat before a chunk that begins with the piece.
    fn header_tokens(&self) -> usize {
        self.header.as_ref().map_or(0, |header| header.tokens)
    }
}

/// The first two lines of a table.
#[derive(Clone, Debug)]
struct Header {
    at: Range<usize>,
    tokens: usize,
}

fn pieces(text: &str, max_tokens: usize, count: &impl Fn(&str) -> usize) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut from = 0;
    for table in table::ranges(text) {
        text_pieces(text, from..table.start, max_tokens, count, &mut pieces);
        table_pieces(text, table.clone(), max_tokens, count, &mut pieces);
        from = table.end;
    }
    text_pieces(text, from..text.len(), max_tokens, count, &mut pieces);
    pieces
}

/// Adds the rows of a table.
fn table_pieces(
    text: &str,
    range: Range<usize>,
    max_tokens: usize,
    count: &impl Fn(&str) -> usize,
    pieces: &mut Vec<Piece>,
) {
    let first = pieces.len();
    let mut at = range.start;
    let mut header: Option<Header> = None;
    for (index, row) in text[range.clone()].split_inclusive('\n').enumerate() {
        let row_at = at..at + row.len();
        at = row_at.end;
        let tokens = count(row);
        match index {
            0 if tokens <= max_tokens / 2 => pieces.push(Piece::new(row_at, tokens, Break::Inside)),
            // The header is one piece. Half a page that is taken for a header is split like text.
            1 if pieces.len() == first + 1 => {
                let piece = &mut pieces[first];
                (piece.at.end, piece.tokens) = (row_at.end, piece.tokens + tokens);
                let repeated = Header { at: piece.at.clone(), tokens: piece.tokens };
                header = Some(repeated).filter(|header| header.tokens <= max_tokens / 4);
            }
            _ if tokens <= max_tokens / 2 => {
                let header = header.clone();
                pieces.push(Piece { header, ..Piece::new(row_at, tokens, Break::Inside) });
            }
            _ => split_long(row, row_at.start, max_tokens / 4, Break::Inside, count, pieces),
        }
    }
    let tokens = pieces[first..].iter().map(|piece| piece.tokens).sum();
    let rows = pieces.len() - first;
    pieces[first].table = Some((tokens, rows));
    if let Some(last) = pieces.last_mut() {
        last.end = Break::Paragraph;
    }
}

/// Adds the sentences and lines of running text.
fn text_pieces(
    text: &str,
    range: Range<usize>,
    max_tokens: usize,
    count: &impl Fn(&str) -> usize,
    pieces: &mut Vec<Piece>,
) {
    let offset = range.start;
    for (start, sentence) in text[range].split_sentence_bound_indices() {
        let start = offset + start;
        if sentence.trim().is_empty() {
            // An empty line ends a paragraph; it belongs to the previous piece.
            if let Some(last) = pieces.last_mut() {
                last.at.end = start + sentence.len();
                last.end = Break::Paragraph;
            }
            continue;
        }
        let tokens = count(sentence);
        let end = if ends_sentence(sentence) { Break::Sentence } else { Break::Inside };
        if tokens <= max_tokens / 4 {
            pieces.push(Piece::new(start..start + sentence.len(), tokens, end));
        } else {
            split_long(sentence, start, max_tokens / 4, end, count, pieces);
        }
    }
}

fn ends_sentence(sentence: &str) -> bool {
    let closers = |c: char| matches!(c, '"' | '\'' | ')' | ']' | '»' | '”' | '’');
    sentence
        .trim_end()
        .trim_end_matches(closers)
        .ends_with(['.', '!', '?', '…', '。', '！', '？', '؟', '۔', '।', ':', ';'])
}

/// Splits a long sentence between words into pieces of about `max` tokens at most. A longer "word", such as encoded
/// data, is split between characters.
fn split_long(
    sentence: &str,
    start: usize,
    max: usize,
    end: Break,
    count: &impl Fn(&str) -> usize,
    pieces: &mut Vec<Piece>,
) {
    let max = max.max(1);
    let mut from = 0;
    let mut tokens = 0;
    let mut push = |range: Range<usize>, tokens: usize| {
        if !range.is_empty() {
            pieces.push(Piece::new(start + range.start..start + range.end, tokens, Break::Inside));
        }
    };
    for (at, word) in sentence.split_word_bound_indices() {
        let word_tokens = if word.len() > max * 16 { word.len() } else { count(word) };
        if word_tokens > max {
            push(from..at, tokens);
            let mut cut = at;
            for (n, (offset, _)) in word.char_indices().enumerate() {
                if n > 0 && n % max == 0 {
                    push(cut..at + offset, max);
                    cut = at + offset;
                }
            }
            (from, tokens) = (cut, count(&sentence[cut..at + word.len()]));
            continue;
        }
        if tokens + word_tokens > max {
            push(from..at, tokens);
            (from, tokens) = (at, 0);
        }
        tokens += word_tokens;
    }
    push(from..sentence.len(), tokens);
    if let Some(last) = pieces.last_mut() {
        last.end = end;
    }
}

/// Packs pieces into ranges of pieces.
fn ranges(pieces: &[Piece], size: ChunkSize) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    while start < pieces.len() {
        let full = fill(pieces, start, size.tokens);
        // A remainder no longer than an overlap is appended instead of becoming a chunk of its own.
        let rest: usize = pieces[full..].iter().take(64).map(|piece| piece.tokens).sum();
        if full == pieces.len() || (pieces.len() - full <= 64 && rest <= size.overlap) {
            ranges.push(start..pieces.len());
            break;
        }
        let end = before_table(pieces, start, full, size.tokens)
            .unwrap_or_else(|| best_end(pieces, start, full, size.tokens));
        ranges.push(start..end);
        // A part of a table begins with its header instead of rows of the previous part.
        let is_in_table = pieces[end].header.is_some();
        start = if is_in_table { end } else { overlap_start(pieces, start, end, size.overlap) };
    }
    ranges
}

/// Returns the end of the longest range from `start` with at most `max` tokens and at least one piece.
fn fill(pieces: &[Piece], start: usize, max: usize) -> usize {
    let mut tokens = pieces[start].header_tokens();
    let mut end = start;
    while end < pieces.len() && (end == start || tokens + pieces[end].tokens <= max) {
        tokens += pieces[end].tokens;
        end += 1;
    }
    end
}

/// Returns the beginning of the table that `start..full` would cut, if the table fits into a chunk and enough text is
/// before it.
fn before_table(pieces: &[Piece], start: usize, full: usize, max: usize) -> Option<usize> {
    let cut = (start + 1..full).rev().find(|index| pieces[*index].table.is_some())?;
    let (tokens, rows) = pieces[cut].table?;
    let before: usize = pieces[start..cut].iter().map(|piece| piece.tokens).sum();
    (cut + rows > full && tokens <= max && before * 4 >= max).then_some(cut)
}

/// Returns the best boundary in the last quarter of `start..full`; the last one if several are equally good.
fn best_end(pieces: &[Piece], start: usize, full: usize, max: usize) -> usize {
    let mut tokens = 0;
    let mut best = (Break::Inside, full);
    for (index, piece) in pieces.iter().enumerate().take(full).skip(start) {
        tokens += piece.tokens;
        if tokens * 4 >= max * 3 && piece.end > Break::Inside && piece.end >= best.0 {
            best = (piece.end, index + 1);
        }
    }
    best.1
}

/// Returns where the chunk after `start..end` begins: up to `overlap` tokens before `end`, preferably at the
/// beginning of a sentence.
fn overlap_start(pieces: &[Piece], start: usize, end: usize, overlap: usize) -> usize {
    let mut tokens = 0;
    let mut first = end;
    let mut sentence = None;
    while first > start + 1 && tokens + pieces[first - 1].tokens <= overlap {
        first -= 1;
        tokens += pieces[first].tokens;
        if pieces[first - 1].end > Break::Inside {
            sentence = Some(first);
        }
    }
    sentence.unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::chunk::page_at;

    fn words(text: &str) -> usize {
        text.split_whitespace().count()
    }

    fn page(number: u32, text: impl Into<String>) -> ExtractedPage {
        ExtractedPage { number, text: text.into(), ..ExtractedPage::default() }
    }

    fn size(tokens: usize, overlap: usize) -> ChunkSize {
        ChunkSize { tokens, overlap }
    }

    /// Returns `n` numbered sentences of five words.
    fn sentences(n: usize) -> String {
        (0..n).map(|i| format!("Sentence number {i} is here. ")).collect()
    }

    /// Paragraphs of 20 to 160 words in sentences of 5 to 25, each different.
    fn paragraphs(n: usize) -> Vec<String> {
        let mut random = 1_u64;
        let mut below = |max: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % max
        };
        let mut paragraph = |number: usize| {
            let (mut text, mut left) = (String::new(), 20 + below(140));
            while left > 0 {
                let length = (5 + below(20)).min(left);
                let words: Vec<String> = (0..length).map(|_| format!("w{}", below(5000))).collect();
                text += &format!("P{number} {}. ", words.join(" "));
                left -= length;
            }
            text + "\n\n"
        };
        (0..n).map(&mut paragraph).collect()
    }

    /// Otherwise a small change of a file would embed all passages behind it again.
    #[test]
    fn insertion_changes_only_passages_near_it() {
        let paragraphs = paragraphs(400);
        let chunks = |inserted: &[(usize, String)]| {
            let mut text = String::new();
            for (n, paragraph) in paragraphs.iter().enumerate() {
                text.extend(inserted.iter().filter(|(at, _)| *at == n).map(|(_, new)| new.as_str()));
                text += paragraph;
            }
            chunk_pages(&[page(1, text)], size(512, 50), words)
        };
        let before = chunks(&[]);
        let known: std::collections::HashSet<&str> = before.iter().map(|chunk| chunk.text.as_str()).collect();
        let mut new = 0;
        for at in [40, 120, 200, 280] {
            let after =
                chunks(&[(at, format!("Inserted before paragraph {at}, a sentence of nine words.\n\n"))]);
            new += after.iter().filter(|chunk| !known.contains(chunk.text.as_str())).count();
        }
        assert!(
            before.len() > 80 && new <= 4 * 6,
            "{new} of {} chunks are new after 4 insertions",
            before.len()
        );
    }

    #[test]
    fn short_document_is_one_chunk() {
        let chunks = chunk_pages(&[page(1, " One two.\n"), page(2, "Three.\n")], size(512, 50), words);
        assert_eq!(chunks.len(), 1);
        let chunk = &chunks[0];
        assert_eq!(chunk.text, "One two.\n\nThree.");
        assert_eq!(chunk.span.start, Position { page: 1, offset: 1 });
        assert_eq!(chunk.span.end, Position { page: 2, offset: 6 });
        assert_eq!(chunk.pages, [PageStart { page: 1, at: 0 }, PageStart { page: 2, at: 10 }]);
        assert_eq!(chunk.tokens, 3);
    }

    #[test]
    fn chunks_overlap_and_end_at_sentences() {
        let chunks = chunk_pages(&[page(1, sentences(100))], size(52, 10), words);
        assert!(chunks.len() > 9);
        for pair in chunks.windows(2) {
            assert!(pair[0].text.ends_with("is here."), "{:?}", pair[0].text);
            assert!(pair[1].text.starts_with("Sentence number"));
            assert!(pair[1].span.start < pair[0].span.end, "they overlap");
            assert!(pair[0].tokens <= 52);
        }
    }

    #[test]
    fn paragraph_end_in_last_quarter_is_preferred() {
        let text = format!("{}\n\n{}", sentences(9), sentences(9));
        let chunks = chunk_pages(&[page(1, text)], size(52, 0), words);
        assert!(chunks[0].text.ends_with("Sentence number 8 is here."));
        assert!(chunks[1].text.starts_with("Sentence number 0"));
    }

    #[test]
    fn chunk_spanning_pages_records_page_starts() {
        let pages: Vec<_> = (1..=6).map(|n| page(n, sentences(4))).collect();
        let chunks = chunk_pages(&pages, size(50, 10), words);
        let first = &chunks[0];
        assert!(first.pages.len() > 1);
        for start in &first.pages {
            assert_eq!(page_at(&first.pages, start.at as usize), start.page);
        }
        let second = first.pages[1];
        assert!(first.text[second.at as usize..].starts_with("Sentence number 0"));
        assert_eq!(page_at(&first.pages, second.at as usize - 1), 1);
    }

    #[test]
    fn pages_without_reliable_text_are_skipped() {
        let bad = ExtractedPage { glyphs: 10, unmapped_glyphs: 5, ..page(2, "g@rb@ge") };
        let chunks = chunk_pages(&[page(1, "One."), bad, page(3, "Three.")], size(512, 50), words);
        assert_eq!(chunks[0].text, "One.\nThree.");
        assert_eq!(chunks[0].pages.iter().map(|start| start.page).collect::<Vec<_>>(), [1, 3]);
        assert!(chunk_pages(&[page(1, " \n ")], size(512, 50), words).is_empty());
    }

    #[test]
    fn text_without_breaks_is_split_completely() {
        let letters = |text: &str| text.len();
        for text in ["x".repeat(5000), "字".repeat(5000)] {
            let chunks = chunk_pages(&[page(1, text.clone())], size(100, 10), letters);
            let mut covered = 0;
            for chunk in &chunks {
                assert!(chunk.span.start.offset as usize <= covered, "no gap");
                covered = chunk.span.end.offset as usize;
            }
            assert_eq!(covered, text.len());
        }
    }

    /// A table with `rows` rows of seven words.
    fn table(rows: usize) -> String {
        let row = |n: usize| format!("| Row {n} | {n} |\n");
        "| Label | Value |\n|---|---|\n".to_owned() + &(0..rows).map(row).collect::<String>()
    }

    #[test]
    fn table_that_fits_is_kept_whole() {
        let text = format!("{}\n\n{}\n{}", sentences(6), table(5), sentences(20));
        let chunks = chunk_pages(&[page(1, text)], size(52, 10), words);
        assert!(chunks[0].text.ends_with("is here."), "{:?}", chunks[0].text);
        let with_table = chunks.iter().find(|chunk| chunk.text.contains("Row 0")).unwrap();
        assert!(with_table.text.contains("| Label | Value |\n|---|---|\n| Row 0 | 0 |"));
        assert!(with_table.text.contains("| Row 4 | 4 |"));
    }

    // Invariant: A part of a long table begins with the table's header, and no row is lost.
    #[test]
    fn parts_of_a_long_table_begin_with_its_header() {
        let pages = [page(1, table(20)), page(2, "After the table."), page(3, table(20))];
        let chunks = chunk_pages(&pages, size(60, 10), words);
        assert!(chunks.len() > 4);
        let header = "| Label | Value |\n|---|---|\n| Row";
        for chunk in &chunks {
            assert!(chunk.text.contains(header), "{:?}", chunk.text);
            assert!(chunk.tokens <= 60 + 10, "{}", chunk.tokens);
        }
        for n in 0..20 {
            let row = format!("| Row {n} | {n} |");
            assert_eq!(chunks.iter().filter(|chunk| chunk.text.contains(&row)).count(), 2, "{row}");
        }
        let second = &chunks[1];
        assert_eq!(second.pages[0], PageStart { page: 1, at: 0 });
        let last = &pages[0].text[second.span.start.offset as usize..];
        assert!(second.text["| Label | Value |\n|---|---|\n".len()..].starts_with(&last[..12]));
        // Where another page begins is counted with the repeated header.
        for chunk in chunks.iter().filter(|chunk| chunk.pages.len() > 1) {
            for start in &chunk.pages[1..] {
                let text = &pages[start.page as usize - 1].text;
                assert!(chunk.text[start.at as usize..].starts_with(&text[..10]), "{:?}", chunk);
            }
        }
    }

    #[test]
    fn long_row_of_a_table_is_split() {
        let text = format!("| A | B |\n|---|---|\n| x | {} |\n", sentences(60));
        let chunks = chunk_pages(&[page(1, text)], size(50, 5), words);
        assert!(chunks.len() > 4);
        assert!(chunks.iter().all(|chunk| chunk.tokens <= 62), "{chunks:?}");
    }

    #[test]
    fn long_header_of_a_table_is_split() {
        let text = format!("Contents\n\n| {} | B |\n|---|---|\n| x | y |\n\nAfter it.", sentences(60));
        let chunks = chunk_pages(&[page(1, text)], size(50, 5), words);
        assert!(chunks.iter().all(|chunk| chunk.tokens <= 62), "{chunks:?}");
        assert!(chunks[0].tokens > 30, "the text before the table has a chunk of its own: {chunks:?}");
    }

    #[test]
    fn white_space_creates_no_redundant_chunk() {
        let text = "Close the valve.".to_owned() + &"\t\n".repeat(40) + "Open it; then\t\t\t\t\twait.";
        for tokens in 1..40_usize {
            for overlap in 0..tokens.div_ceil(2) {
                let chunks = chunk_pages(&[page(1, text.clone())], size(tokens, overlap), str::len);
                for pair in chunks.windows(2) {
                    assert!(pair[0].span.end < pair[1].span.end, "{tokens} {overlap} {pair:?}");
                }
            }
        }
    }

    #[test]
    fn spans_match_chunk_text() {
        let pages: Vec<_> = (1..=9).map(|n| page(n, format!("  Página {n}. {}\n", sentences(7)))).collect();
        for chunk in chunk_pages(&pages, size(40, 8), words) {
            let Span { start, end } = chunk.span;
            if start.page == end.page {
                let text = &pages[start.page as usize - 1].text;
                assert_eq!(text[start.offset as usize..end.offset as usize], chunk.text);
            } else {
                let first = &pages[start.page as usize - 1].text[start.offset as usize..];
                assert!(chunk.text.starts_with(first));
            }
        }
    }
}
